//! Contacts by a send, segments, notes, and typed numbers in the console.

use pombo::accounts::Role;
use serde_json::json;

use super::sends::{past, shop};
use super::world::World;
use crate::api::past_send::FIRST;

const LIST: &str = "/console/contacts";

/// A contact for each message of [`past`], the ids.
async fn people(world: &World) -> Vec<String> {
    let people: Vec<_> = (0..5)
        .map(|place| {
            let number = (FIRST + place).to_string();
            json!({"first_name": format!("P{place}"), "phone_number": number, "tags": ["vip"]})
        })
        .collect();
    let body = json!({ "contacts": people }).to_string();
    let written = world.service.post("/api/v1/contacts/batch", &world.acme.key, body).await.json();
    let results = written["results"].as_array().unwrap();
    results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

/// The first names on a page.
fn names(page: &str) -> Vec<usize> {
    (0..5).filter(|place| page.contains(&format!("<bdi>P{place}</bdi>"))).collect()
}

#[tokio::test]
async fn the_contacts_of_a_send_s_outcome_become_a_segment_that_is_sent_to() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    people(&world).await;
    let channel = shop(&world).await;
    let send = past(&world, channel).await;
    let page = member.page(&format!("/console/sends/{send}")).await;
    let link = format!("{LIST}?send={send}&amp;outcome=not_received");
    assert!(page.contains("Show these contacts:") && page.contains(&link), "{page}");
    let missed = format!("{LIST}?send={send}&outcome=not_received");
    let page = member.page(&missed).await;
    assert_eq!(names(&page), [1, 3, 4], "{page}");
    assert!(page.contains("Did not receive it: hi to 5 people") && page.contains("Save segment"), "{page}");
    assert!(page.contains(&format!("<option value=\"{send}\" selected>")), "{page}");
    let viewer = world.signed_in(Role::Viewer).await;
    assert!(!viewer.page(&missed).await.contains("Save segment"));

    let (send, text) = (send.to_string(), "segment_name");
    let list = [("send", send.as_str()), ("outcome", "not_received")];
    for (name, sentence) in [("", "Fill in this field"), (&"x".repeat(101), "100 characters")] {
        let refused = member.post("/console/contacts/segments", &[&list[..], &[(text, name)]].concat()).await;
        assert_eq!(refused.status, 422, "{name}");
        assert!(names(&refused.body) == [1, 3, 4], "{sentence}: {}", refused.body);
    }
    let everybody = member.post("/console/contacts/segments", &[(text, "All")]).await;
    assert!(everybody.status == 422 && everybody.body.contains("is not narrowed"), "{}", everybody.body);
    let saved =
        member.submit("/console/contacts/segments", &[&list[..], &[(text, "Missed it")]].concat()).await;
    assert!(saved.contains("The segment was saved.") && saved.contains("Missed it"), "{saved}");
    let again =
        member.post("/console/contacts/segments", &[&list[..], &[(text, "MISSED IT")]].concat()).await;
    assert!(again.body.contains("Another segment has this name."), "{}", again.body);
    let segments = world.service.store().of(world.acme.id).segments().all().await.unwrap();
    let id = segments[0].id.to_string();
    let (place, opened) = (format!("{LIST}/segments/{id}"), format!("{LIST}?segment={id}"));
    assert_eq!(names(&member.page(&opened).await), [1, 3, 4]);
    let chosen = [("segment", id.as_str()), ("scope", "all"), ("action", "send")];
    let to_them = member.post("/console/contacts/change", &chosen).await;
    assert_eq!(to_them.header("location"), format!("/console/sends/new?segment={id}"));

    let (shop, once) = (channel.to_string(), ("action", "check"));
    let form =
        [("channel", shop.as_str()), ("type", "text"), ("message", "again"), ("segment", id.as_str()), once];
    let checked = member.submit("/console/sends/new", &form).await;
    assert!(checked.contains("3 recipients") && checked.contains("Missed it"), "{checked}");

    let renamed = member.submit(&place, &[(text, "Missed the offer")]).await;
    assert!(
        renamed.contains("The segment was changed.") && renamed.contains("3 contacts are in"),
        "{renamed}"
    );
    let other = [("send", send.as_str()), ("outcome", "read"), ("action", "replace")];
    let replaced = member.submit(&place, &other).await;
    assert!(
        names(&replaced).is_empty() && replaced.contains("Missed the offer"),
        "nobody read it: {replaced}"
    );
    let outsider = world.outsider().await;
    for path in [&place, &opened] {
        assert_eq!(outsider.get(path).await.status, 404, "{path}");
    }
    assert_eq!(viewer.post(&format!("{place}/delete"), &[]).await.status, 403);
    let deleted = member.submit(&format!("{place}/delete"), &[]).await;
    assert!(
        deleted.contains("The segment was deleted.") && !deleted.contains("Missed the offer"),
        "{deleted}"
    );
}

#[tokio::test]
async fn a_segment_whose_tag_is_gone_says_so_and_has_nobody() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    people(&world).await;
    let store = world.service.store().of(world.acme.id);
    let vip = store.tags().ensure("vip", None).await.unwrap().to_string();
    let fields = [("not_tag", vip.as_str()), ("segment_name", "Others")];
    member.submit("/console/contacts/segments", &fields).await;
    member.submit(&format!("{LIST}/tags/{vip}/delete"), &[]).await;
    let id = store.segments().all().await.unwrap()[0].id;
    for path in [format!("{LIST}?segment={id}"), format!("{LIST}/segments/{id}")] {
        let page = member.page(&path).await;
        assert!(page.contains("This segment names a tag that was deleted."), "{page}");
        assert!(names(&page).is_empty() && !page.contains("/console/sends/new?segment="), "{page}");
    }
    let id = id.to_string();
    let all = [("segment", id.as_str()), ("scope", "all"), ("action", "delete"), ("sure", "yes")];
    let deleted = member.submit("/console/contacts/change", &all).await;
    assert!(deleted.contains("0 contacts were deleted."), "nobody is in it: {deleted}");
}

#[tokio::test]
async fn a_list_by_a_send_and_a_field_becomes_a_segment_that_says_when_the_field_is_gone() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    people(&world).await;
    let key = &world.acme.key;
    let field = json!({"name": "City", "type": "text"}).to_string();
    let field = world.service.post("/api/v1/contacts/fields", key, field).await.json();
    let lives = |place: u64| json!({"phone_number": (FIRST + place).to_string(), "fields": {"city": "Rio"}});
    let body = json!({"contacts": (0..4).map(lives).collect::<Vec<_>>()}).to_string();
    world.service.post("/api/v1/contacts/batch", key, body).await;
    let send = past(&world, shop(&world).await).await.to_string();
    let narrowed = format!("{LIST}?send={send}&outcome=not_received&on=city&test=is&value=rio");
    let listed = member.page(&narrowed).await;
    assert_eq!(names(&listed), [1, 3], "{listed}");
    for words in ["City is rio", "Did not receive it: hi to 5 people", "name=\"of_field\" value=\"city=rio\""]
    {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let list = [("send", send.as_str()), ("outcome", "not_received"), ("of_field", "city=rio")];
    let place = "/console/contacts/segments";
    let refused = member.post(place, &[&list[..], &[("segment_name", "")]].concat()).await;
    assert!(refused.status == 422 && names(&refused.body) == [1, 3], "{}", refused.body);
    let saved = member.submit(place, &[&list[..], &[("segment_name", "In Rio")]].concat()).await;
    assert!(saved.contains("The segment was saved.") && names(&saved) == [1, 3], "{saved}");
    assert!(saved.contains("City is rio"), "the segment's conditions are shown: {saved}");
    let id = world.service.store().of(world.acme.id).segments().all().await.unwrap()[0].id.to_string();
    let chosen = [&list[..], &[("segment", id.as_str()), ("scope", "all"), ("action", "send")]].concat();
    let to_them = member.post("/console/contacts/change", &chosen).await;
    assert_eq!(to_them.header("location"), format!("/console/sends/new?segment={id}"));
    // Another condition changes the list, and so whom the selection means.
    let other = [&chosen[..], &[("of_field", "city!=bahia")]].concat();
    assert_eq!(member.post("/console/contacts/change", &other).await.status, 422);

    let field = format!("/console/contacts/fields/{}", field["id"].as_str().unwrap());
    assert_eq!(member.post(&format!("{field}/delete"), &[]).await.status, 303);
    for path in [format!("{LIST}?segment={id}"), format!("{LIST}/segments/{id}")] {
        let page = member.page(&path).await;
        assert!(page.contains("This segment names a field of contacts that was deleted."), "{page}");
        assert!(names(&page).is_empty() && !page.contains("/console/sends/new?segment="), "{page}");
    }
}

#[tokio::test]
async fn notes_are_written_on_a_contact_and_changed_by_their_authors() {
    let world = World::new().await;
    let (owner, member) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Member).await);
    let place = format!("{LIST}/{}", people(&world).await[0]);
    let notes = format!("{place}/notes");
    let long = "x".repeat(2_001);
    for wrong in ["", long.as_str()] {
        let refused = member.post(&notes, &[("note", wrong)]).await;
        assert!(
            refused.status == 422 && refused.body.contains("id=\"field-note-fault\""),
            "{}",
            refused.body
        );
    }
    let added = member.submit(&notes, &[("note", "Calls <b>back</b>\r\non Monday")]).await;
    assert!(
        added.contains("The note was added.") && added.contains("Calls &lt;b&gt;back&lt;/b&gt;\non Monday")
    );
    assert!(added.contains("member@acme.example"), "{added}");
    let contact = place.rsplit('/').next().unwrap().parse().unwrap();
    let page = pombo::domain::page::PageRequest { page: 1, limit: 9 };
    let kept = world.service.store().of(world.acme.id).contact_notes().page(contact, page).await.unwrap();
    let note = format!("{notes}/{}", kept.records[0].id);
    let changed = member.submit(&note, &[("note", "Called")]).await;
    assert!(changed.contains("The note was changed.") && changed.contains("Called"), "{changed}");
    assert_eq!(owner.post(&note, &[("note", "Mine")]).await.status, 404, "it is somebody else's");
    let viewer = world.signed_in(Role::Viewer).await;
    let seen = viewer.page(&place).await;
    assert!(seen.contains("Called") && !seen.contains("Add note"), "{seen}");
    let export = member.get("/console/contacts/export").await;
    assert!(!export.body.contains("Called"), "{}", export.body);
    assert_eq!(world.outsider().await.post(&format!("{note}/delete"), &[]).await.status, 404);
    let deleted = owner.submit(&format!("{note}/delete"), &[]).await;
    assert!(deleted.contains("The note was deleted.") && deleted.contains("There is no note"), "{deleted}");
}

#[tokio::test]
async fn typed_numbers_are_shown_as_they_are_read() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    member.submit("/console/company/country", &[("country", "BR")]).await;
    let read = member.post("/console/contacts/number", &[("number", "+34612345678")]).await;
    assert!(
        read.body.contains("id=\"number-reading\"") && read.body.contains("+34 612 34 56 78"),
        "{}",
        read.body
    );
    let channel = shop(&world).await.to_string();
    let numbers =
        [("channel", channel.as_str()), ("type", "text"), ("numbers", "+5511988887777\n21 97100-0058")];
    let shown = member.post("/console/sends/reach", &numbers).await.body;
    for words in ["id=\"numbers-reading\"", "+55 11 98888 7777 (Brazil)", "+55 21 97100 0058"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Without script: with the form that comes back, and where people are picked.
    let refused = member.post("/console/suppressions", &[("number", "12"), ("scope", "x")]).await;
    assert!(refused.body.contains("id=\"number-reading\""), "{}", refused.body);
    let fields =
        [&numbers[..], &[("person", "5511988880001"), ("step", "who"), ("action", "count")]].concat();
    let picked = member.check("/console/sends/new", &fields).await.body;
    assert!(picked.contains("+55 11 98888 0001") && picked.contains("numbers-reading"), "{picked}");
}
