//! A send that is moved, copied, or replaced by another one.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use serde_json::{Value, json};

use super::browser::value_of;
use super::sends::{accepted, in_an_hour, shop};
use super::world::World;
use crate::api::past_send::FIRST;

/// A time of this many hours from now, as a field has it in a person's zone, which is UTC here.
fn field(hours: u64) -> String {
    let at = Timestamp::now().plus(Duration::from_secs(hours * 3_600)).to_string();
    at[..19].to_owned()
}

async fn record(world: &World, id: &str) -> Value {
    world.service.get(&format!("/api/v1/sends/{id}"), &world.acme.key).await.json()
}

#[tokio::test]
async fn a_scheduled_send_is_moved_by_permitted_people_until_it_begins() {
    let world = World::new().await;
    let (member, viewer) = (world.signed_in(Role::Member).await, world.signed_in(Role::Viewer).await);
    let shop = shop(&world).await;
    let id = accepted(&world, shop, json!({"send_at": in_an_hour()})).await;
    let (address, place) = (format!("/console/sends/{id}"), format!("/console/sends/{id}/start"));
    let page = member.page(&address).await;
    assert!(page.contains(&format!("href=\"{place}\"")), "{page}");
    assert!(!viewer.page(&address).await.contains(&place));
    assert_eq!((viewer.get(&place).await.status, viewer.post(&place, &[]).await.status), (403, 403));
    assert_eq!(world.outsider().await.post(&place, &[("send_at", &field(3))]).await.status, 404);

    let form = member.page(&place).await;
    assert_eq!(
        value_of(&form, "send_at"),
        Some(record(&world, &id).await["send_at"].as_str().unwrap()[..19].to_owned())
    );
    let start = field(3);
    let moved = member.submit(&place, &[("send_at", &start)]).await;
    assert!(moved.contains("Moved: nothing of this send goes before its new start."), "{moved}");
    assert!(moved.contains("<dt>Moved</dt>") && moved.contains("member@acme.example"), "{moved}");
    assert_eq!(record(&world, &id).await["send_at"], format!("{start}.000Z"));
    for (start, fault) in [
        ("2020-01-01T00:00", "This time has passed."),
        ("2090-01-01T00:00", "at most a year ahead"),
        ("soon", "This is not a date and time."),
    ] {
        let refused = member.post(&place, &[("send_at", start)]).await;
        assert_eq!(refused.status, 422, "{start}: {}", refused.body);
        assert!(refused.body.contains(fault), "{start}: {}", refused.body);
    }
    member.submit(&format!("{address}/cancel"), &[]).await;
    let over = member.post(&place, &[("send_at", &field(4))]).await;
    assert!(over.status == 422 && over.body.contains("The send is over"), "{}", over.body);
    let begun = accepted(&world, shop, json!({})).await;
    let refused = member.post(&format!("/console/sends/{begun}/start"), &[("send_at", &field(4))]).await;
    assert!(refused.status == 422 && refused.body.contains("The send has begun"), "{}", refused.body);
    assert!(!member.page(&format!("/console/sends/{begun}")).await.contains("/start\""));
}

#[tokio::test]
async fn editing_a_scheduled_send_cancels_it_and_opens_a_draft_with_everything_that_it_had() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let (starts, ends) = (in_an_hour(), field(9));
    let fields = json!({
        "name": "Spring", "message": "Olá\nyou", "send_at": starts, "expires_at": format!("{ends}Z"),
    });
    let id = accepted(&world, shop, fields).await;
    let page = member.page(&format!("/console/sends/{id}")).await;
    assert!(page.contains(&format!("action=\"/console/sends/{id}/edit\"")), "{page}");
    assert_eq!(world.outsider().await.post(&format!("/console/sends/{id}/edit"), &[]).await.status, 404);
    let draft = member.submit(&format!("/console/sends/{id}/edit"), &[]).await;
    assert_eq!(record(&world, &id).await["state"], "canceled");
    assert!(draft.contains(&format!("+{FIRST}\n+{}", FIRST + 1)), "{draft}");
    let values = ["name", "message", "send_at", "expires_at"].map(|name| value_of(&draft, name).unwrap());
    assert_eq!(values, ["Spring", "Olá\nyou", &starts[..19], ends.as_str()]);
    assert!(value_of(&draft, "draft").is_some(), "{draft}");
    // A second click opens the same draft. Somebody else finds a send that was canceled before it began, and gets another one.
    let edit = format!("/console/sends/{id}/edit");
    assert_eq!(value_of(&member.submit(&edit, &[]).await, "draft"), value_of(&draft, "draft"));
    let other =
        world.member_of(world.acme.id, Role::Member, "other@acme.example").await.submit(&edit, &[]).await;
    assert_ne!(value_of(&other, "draft"), value_of(&draft, "draft"));
    assert_eq!(value_of(&other, "send_at").as_deref(), Some(&starts[..19]), "it was not moved");
    // One that has begun stays as it is, also when it is over.
    let begun = accepted(&world, shop, json!({})).await;
    for state in ["active", "canceled"] {
        let refused = member.post(&format!("/console/sends/{begun}/edit"), &[]).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert_eq!(record(&world, &begun).await["state"], state);
        member.submit(&format!("/console/sends/{begun}/cancel"), &[]).await;
    }
}

#[tokio::test]
async fn a_copy_has_the_content_of_every_kind_and_the_audience() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    world.service.templates(&world.acme, &[("shipped", "pt_BR", "APPROVED")]).await;
    let template = world.service.template_id(&world.acme, "shipped", "pt_BR").await;
    let outsider = world.outsider().await;
    let link = "https://a.example/a.png";
    let menu = json!({
        "type": "list", "body": {"text": "Choose"}, "header": {"type": "text", "text": "Ice"},
        "action": {"button": "Menu", "sections": [
            {"title": "Fruit", "rows": [{"id": "1", "title": "Lemon", "description": "sour"}, {"id": "2", "title": "Fig"}]},
            {"title": "Nuts", "rows": [{"id": "3", "title": "Almond"}]},
        ]},
    });
    let buttons = json!({
        "type": "button", "body": {"text": "Come?"}, "footer": {"text": "Acme"},
        "header": {"type": "image", "image": {"link": link}},
        "action": {"buttons": [
            {"type": "reply", "reply": {"id": "y", "title": "Yes"}}, {"type": "reply", "reply": {"id": "n", "title": "No"}},
        ]},
    });
    let texts = |values: [&str; 2]| values.map(|text| json!({"type": "text", "text": text}));
    for (fields, copied) in [
        (json!({"message": "Dear \"you\""}), vec![("message", "Dear \"you\"")]),
        (json!({"type": "image", "link": link, "caption": "Sun"}), vec![("link", link), ("caption", "Sun")]),
        (
            json!({"type": "template", "template_id": template, "components": [
                {"type": "body", "parameters": texts(["Ana", "A-7"])},
            ]}),
            vec![("body_1", "Ana"), ("body_2", "A-7")],
        ),
        (
            json!({"type": "interactive", "interactive": menu}),
            vec![("rows", "Fruit:\nLemon | sour\nFig\nNuts:\nAlmond"), ("menu", "Menu"), ("header", "Ice")],
        ),
        (
            json!({"type": "interactive", "interactive": buttons}),
            vec![("buttons", "Yes\nNo"), ("footer", "Acme"), ("header_type", "image"), ("header", link)],
        ),
    ] {
        let id = accepted(&world, shop, fields).await;
        let page = member.page(&format!("/console/sends/{id}")).await;
        let place = format!("/console/sends/new?copy={id}");
        assert!(page.contains(&format!("href=\"{place}\"")), "{page}");
        let copy = member.page(&place).await;
        let numbers = format!("\n+{FIRST}\n+{}</textarea>", FIRST + 1);
        for shown in [numbers.as_str(), "(copy)\""] {
            assert!(copy.contains(shown), "{shown}: {copy}");
        }
        for (name, value) in copied {
            assert_eq!(value_of(&copy, name).as_deref(), Some(value), "{name}: {copy}");
        }
        assert_eq!(outsider.get(&place).await.status, 404);
    }
    // What the page cannot write is not offered.
    let place = json!({"type": "location", "location": {"latitude": 1.5, "longitude": 2.5}});
    let id = accepted(&world, shop, place).await;
    assert!(!member.page(&format!("/console/sends/{id}")).await.contains("?copy="));
    assert_eq!(member.get(&format!("/console/sends/new?copy={id}")).await.status, 404);
    // Tags are copied by their ids, and so that is said of numbers that stood beside them.
    let store = world.service.store();
    let tag = store.of(world.acme.id).tags().ensure("vip", None).await.unwrap();
    let id = accepted(&world, shop, json!({"contact_tag_id": tag})).await;
    let copy = member.page(&format!("/console/sends/new?copy={id}")).await;
    assert!(copy.contains(&format!("name=\"tag\" value=\"{tag}\" checked")), "{copy}");
    assert!(copy.contains("The tags are copied."), "{copy}");
}
