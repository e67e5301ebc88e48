//! The filter of the contacts by tags, the bar of the selected ones, and the page of one contact.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::State as At;
use serde_json::{Value, json};

use super::browser::value_of;
use super::compose::shop;
use super::world::World;
use crate::api::past_send::{FIRST, Past};

const LIST: &str = "/console/contacts";
const CHANGE: &str = "/console/contacts/change";

async fn seed(world: &World, contacts: Value) -> Vec<String> {
    let body = json!({ "contacts": contacts }).to_string();
    let written = world.service.post("/api/v1/contacts/batch", &world.acme.key, body).await.json();
    let results = written["results"].as_array().unwrap();
    results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

async fn tag(world: &World, name: &str) -> String {
    world.service.store().of(world.acme.id).tags().ensure(name, None).await.unwrap().to_string()
}

/// Four people: two with both tags or one of them, one with the other, one whose name is a tag's.
async fn people(world: &World) -> (Vec<String>, String, String) {
    let contacts = json!([
        {"first_name": "Ana", "phone_number": "+34 612345678", "tags": ["vip"]},
        {"first_name": "Bia", "phone_number": "5511988880002", "tags": ["vip", "news"]},
        {"first_name": "Caio", "phone_number": "5511988880003", "tags": ["news"]},
        {"first_name": "Vip", "email": "vip@a.example"},
    ]);
    (seed(world, contacts).await, tag(world, "vip").await, tag(world, "news").await)
}

#[tokio::test]
async fn contacts_are_filtered_by_tags_that_they_have_and_lack() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let (_, vip, news) = people(&world).await;
    let shown = |page: &str| {
        let names = ["Ana", "Bia", "Caio", "Vip"].into_iter();
        names.filter(|name| page.contains(&format!("<bdi>{name}</bdi></a>"))).collect::<Vec<_>>().join(" ")
    };
    for (query, names) in [
        (String::new(), "Ana Bia Caio Vip"),
        (format!("?tag={vip}"), "Ana Bia"),
        (format!("?tag={vip}&tag={news}"), "Bia"),
        (format!("?search=&tag={vip}&not={news}"), "Ana"),
        (format!("?not={vip}&not={news}"), "Vip"),
        (format!("?search=vip&not={news}"), "Ana Vip"),
    ] {
        let page = viewer.page(&format!("{LIST}{query}")).await;
        assert_eq!(shown(&page), names, "{query}: {page}");
        let csv = viewer.page(&format!("{LIST}/export{query}")).await;
        assert_eq!(csv.lines().count(), 1 + names.split(' ').count(), "{query}: {csv}");
    }
    let page = viewer.page(&format!("{LIST}?tag={vip}&not={news}")).await;
    assert!(page.contains("With vip") && page.contains("Without news"), "{page}");
    assert!(page.contains(&format!("href=\"{LIST}?tag={vip}\"")), "a link takes the other tag away: {page}");
    assert!(page.contains("+34 612 34 56 78"), "{page}");
    let box_of = |name: &str, id: &str| format!("name=\"{name}\" value=\"{id}\" checked");
    assert!(page.contains(&box_of("tag", &vip)) && page.contains(&box_of("not", &news)), "{page}");
    let nobody = viewer.page(&format!("{LIST}?tag={vip}&not={vip}")).await;
    assert!(nobody.contains("No contact matches"), "{nobody}");
    for query in ["tag=x".to_owned(), format!("not={}", uuid::Uuid::now_v7())] {
        assert_eq!(viewer.get(&format!("{LIST}?{query}")).await.status, 404, "{query}");
    }
}

#[tokio::test]
async fn those_on_the_page_or_in_a_filter_are_changed_saved_and_written_to() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (ids, vip, news) = people(&world).await;
    let page = member.page(&format!("{LIST}?tag={vip}&not={news}")).await;
    let shown = value_of(&page, "shown").unwrap();
    assert_eq!(shown, ids[0], "{page}");
    assert!(page.contains("The one on this page") && page.contains("The one that was found"), "{page}");
    let of_filter = [("of_tag", vip.as_str()), ("not_tag", news.as_str())];
    let with = |fields: &[(&'static str, &'static str)]| {
        let mut all: Vec<(&str, &str)> = of_filter.to_vec();
        all.push(("shown", &shown));
        all.extend_from_slice(fields);
        all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    for (scope, sentence) in [("page", "1 contact got the tag."), ("all", "0 contacts got the tag.")] {
        let fields = with(&[("action", "tag"), ("tag", "first"), ("scope", scope)]);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let done = member.submit(CHANGE, &fields).await;
        assert!(done.contains(sentence) && done.contains("Without news"), "{scope}: {done}");
    }
    // A file of the selected ones.
    let export = format!("{LIST}/export");
    let two = [("scope", "picked"), ("contact", ids[1].as_str()), ("contact", ids[2].as_str())];
    let csv = member.post(&export, &two).await;
    assert_eq!((csv.status, csv.body.lines().count()), (200, 3), "{}", csv.body);
    assert!(csv.body.contains("Bia") && csv.body.contains("Caio"), "{}", csv.body);
    let all = [("scope", "all"), ("of_tag", news.as_str()), ("not_tag", vip.as_str())];
    assert!(member.post(&export, &all).await.body.lines().last().unwrap().starts_with("Caio"));
    let none = member.submit(&export, &[("scope", "picked")]).await;
    assert!(none.contains("Select at least one contact"), "{none}");
    assert_eq!(world.outsider().await.post(&export, &two).await.body.lines().count(), 1);
    // A new send to them.
    let one_tag = [("action", "send"), ("scope", "all"), ("of_tag", vip.as_str())];
    let sent = member.post(CHANGE, &one_tag).await;
    assert_eq!(sent.header("location"), format!("/console/sends/new?tag={vip}"));
    let narrower = [&one_tag[..], &[("search", "ana")]].concat();
    let refused = member.post(CHANGE, &narrower).await;
    assert!(
        refused.status == 422
            && refused.body.contains("Save this list as a segment first, or give these contacts a tag"),
        "{}",
        refused.body
    );
    let both = [("action", "send"), ("contact", ids[0].as_str()), ("contact", ids[3].as_str())];
    let sent = member.post(CHANGE, &both).await;
    assert_eq!(sent.header("location"), format!("/console/sends/new?contact={}&contact={}", ids[0], ids[3]));
    let shop = shop(&world).await;
    let compose = member.page(&format!("{}&channel={shop}", sent.header("location"))).await;
    assert!(compose.contains("name=\"person\" value=\"+34 612345678\" checked"), "{compose}");
}

#[tokio::test]
async fn a_contact_is_opted_out_and_in_again_on_its_page() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let (ids, ..) = people(&world).await;
    let place = format!("{LIST}/{}", ids[0]);
    let page = member.page(&place).await;
    assert!(page.contains("Gets all messages") && page.contains("No message has been sent"), "{page}");
    let (out, back) = (format!("{place}/opt-out"), format!("{place}/opt-in"));
    assert_eq!(member.post(&out, &[("opt_out", "x")]).await.status, 400);
    let page = member.submit(&out, &[("opt_out", "everything")]).await;
    assert!(
        page.contains("+34 612 34 56 78 is skipped from now on.") && page.contains("Does not get"),
        "{page}"
    );
    assert!(page.contains("Every message") && page.contains("Somebody added it"), "{page}");
    assert!(!page.contains(&format!("action=\"{out}\"")), "{page}");
    let listed = member.page("/console/suppressions").await;
    assert!(listed.contains("+34 612 34 56 78"), "{listed}");
    let (viewer, outsider) = (world.signed_in(Role::Viewer).await, world.outsider().await);
    let seen = viewer.page(&place).await;
    assert!(seen.contains("Does not get") && !seen.contains("Opt in again"), "{seen}");
    for path in [&out, &back] {
        assert_eq!(outsider.post(path, &[("opt_out", "everything")]).await.status, 404);
        assert_eq!(viewer.post(path, &[("opt_out", "everything")]).await.status, 403);
    }
    let page = member.submit(&back, &[]).await;
    assert!(page.contains("gets messages again.") && page.contains("Gets all messages"), "{page}");
    // Without a number there is nothing to opt out.
    let nowhere = member.page(&format!("{LIST}/{}", ids[3])).await;
    assert!(nowhere.contains("no phone number that messages can go to") && !nowhere.contains("/opt-out"));
    assert_eq!(member.post(&format!("{LIST}/{}/opt-in", ids[3]), &[]).await.status, 404);
}

#[tokio::test]
async fn a_contact_s_page_shows_the_last_messages_with_their_sends() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let ids = seed(&world, json!([{"first_name": "Ana", "phone_number": FIRST.to_string()}])).await;
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Disconnected).await.id;
    let past = || Past::text(&world.service, &world.acme, channel);
    let (read, failed) =
        (past().with(&[(At::Read, None)]).await, past().with(&[(At::Failed, Some(131_026))]).await);
    let page = member.page(&format!("{LIST}/{}", ids[0])).await;
    for (send, class) in [(read, "badge o-read"), (failed, "badge o-failed")] {
        assert!(page.contains(&format!("href=\"/console/sends/{send}\"")), "{page}");
        assert!(page.contains(&format!("href=\"/console/sends/{send}/messages/0\"")), "{page}");
        assert!(page.contains(class), "{class}: {page}");
    }
}

#[tokio::test]
async fn of_two_people_who_edit_a_contact_the_second_sees_what_the_first_saved() {
    let world = World::new().await;
    let (member, owner) = (world.signed_in(Role::Member).await, world.signed_in(Role::Owner).await);
    let (ids, ..) = people(&world).await;
    let place = format!("{LIST}/{}", ids[1]);
    let known = value_of(&member.page(&place).await, "known").unwrap();
    let fields = |name: &'static str, known: &str| {
        let fields = [
            ("first_name", name),
            ("phone_number", "5511988880002"),
            ("tags", "vip; news"),
            ("known", known),
        ];
        fields.map(|(name, value)| (name, value.to_owned()))
    };
    let save = async |browser: &super::browser::Browser<'_>, name, known: &str| {
        let fields = fields(name, known);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.post(&place, &fields).await
    };
    assert_eq!(save(&owner, "Beatriz", &known).await.status, 303);
    let refused = save(&member, "Bea", &known).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("Somebody else changed this contact"), "{}", refused.body);
    assert!(refused.body.contains("First name: <bdi>Beatriz</bdi>"), "{}", refused.body);
    assert_eq!(value_of(&refused.body, "first_name").unwrap(), "Bea", "what was typed is kept");
    assert!(member.page(&place).await.contains("<h1>Beatriz</h1>"));
    // Saved once more, it replaces what the person has seen.
    let newer = value_of(&refused.body, "known").unwrap();
    assert_ne!(newer, known);
    assert_eq!(save(&member, "Bea", &newer).await.status, 303);
    assert!(member.page(&place).await.contains("<h1>Bea</h1>"));
}

#[tokio::test]
async fn a_tag_that_was_renamed_or_deleted_meanwhile_does_not_come_back_with_a_saved_contact() {
    let world = World::new().await;
    let (member, owner) = (world.signed_in(Role::Member).await, world.signed_in(Role::Owner).await);
    let (ids, vip, news) = people(&world).await;
    let (place, tags) = (format!("{LIST}/{}", ids[1]), format!("{LIST}/tags"));
    let save = async |page: &str, names: &str| {
        let seen = ["known", "known_tags"].map(|name| value_of(page, name).unwrap());
        let fields = [
            ("first_name", "Bea"),
            ("phone_number", "5511988880002"),
            ("tags", names),
            ("known", seen[0].as_str()),
            ("known_tags", seen[1].as_str()),
        ];
        member.post(&place, &fields).await
    };
    let before = member.page(&place).await;
    owner.submit(&format!("{tags}/{vip}"), &[("name", "gold"), ("color", "#112233")]).await;
    let refused = save(&before, "news; vip").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("Somebody else changed this contact"), "{}", refused.body);
    assert!(refused.body.contains("Tags: <bdi>gold; news</bdi>"), "{}", refused.body);
    assert_eq!(save(&refused.body, "gold; news").await.status, 303);

    let before = member.page(&place).await;
    owner.submit(&format!("{tags}/{news}/delete"), &[]).await;
    let refused = save(&before, "gold; news").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("Tags: <bdi>gold</bdi>"), "{}", refused.body);
    assert_eq!(save(&refused.body, "gold").await.status, 303);
    let kept = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let names: Vec<_> = kept["data"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    assert_eq!(names, ["gold"]);
}

#[tokio::test]
async fn a_refused_change_of_all_on_a_page_is_about_the_same_page_again() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let contacts: Value =
        (0..70).map(|nth| json!({"phone_number": format!("55119888800{nth:02}")})).collect();
    seed(&world, contacts).await;
    let second = member.page(&format!("{LIST}?page=2")).await;
    let [shown, page] = ["shown", "page"].map(|name| value_of(&second, name).unwrap());
    assert_eq!(page, "2");
    let fields = [("action", "tag"), ("scope", "page"), ("shown", shown.as_str()), ("page", page.as_str())];
    let refused = member.post(CHANGE, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("value=\"page\" checked"), "{}", refused.body);
    let again = ["shown", "page"].map(|name| value_of(&refused.body, name).unwrap());
    assert_eq!(again, [shown, page]);
}

#[tokio::test]
async fn a_filter_has_at_most_ten_tags_and_offers_no_more() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    seed(&world, json!([{"phone_number": "5511988880001"}])).await;
    let mut tags = Vec::new();
    for nth in 0..11 {
        tags.push(tag(&world, &format!("tag {nth}")).await);
    }
    let query = |name: &str, count: usize| {
        let chosen: Vec<_> = tags[..count].iter().map(|tag| format!("{name}={tag}")).collect();
        format!("{LIST}?{}", chosen.join("&"))
    };
    let offered = format!("tag={}\"", tags[10]);
    for (count, is_offered) in [(9, true), (10, false)] {
        let page = viewer.page(&query("tag", count)).await;
        assert_eq!(page.contains(&offered), is_offered, "{count}: {page}");
    }
    for name in ["tag", "not"] {
        assert_eq!(viewer.get(&query(name, 10)).await.status, 200, "{name}");
        assert_eq!(viewer.get(&query(name, 11)).await.status, 400, "{name}");
    }
}

#[tokio::test]
async fn a_number_is_shown_as_it_is_read_while_it_is_typed() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let place = "/console/contacts/number";
    let read = member.post(place, &[("phone_number", "+55 (11) 98888-7777"), ("first_name", "x")]).await;
    assert!(read.status == 200 && read.body.starts_with("<p class=\"hint reading\""), "{}", read.body);
    assert!(read.body.contains("Read as +55 11 98888 7777 (Brazil)"), "{}", read.body);
    let stored = [("phone_number", "5511988880002"), ("stored_number", "5511988880002")];
    assert!(member.post(place, &stored).await.body.contains("Read as +55 11 98888 0002"));
    assert!(member.post(place, &[("phone_number", "a phone")]).await.body.ends_with("></p>"));
    // Without script the page shows it, too.
    let (ids, ..) = people(&world).await;
    let page = member.page(&format!("{LIST}/{}", ids[0])).await;
    assert!(page.contains("Read as +34 612 34 56 78 (Spain)"), "{page}");
    assert_eq!(world.signed_in(Role::Viewer).await.post(place, &[]).await.status, 403);
}
