//! The names of sends in the console, the message on the page of a send, and its people by name.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use serde_json::json;
use uuid::Uuid;

use super::browser::value_of;
use super::compose::{NEW, sends, shop, with};
use super::world::World;
use crate::api::past_send::FIRST;

#[tokio::test]
async fn a_person_names_a_send_or_gets_a_name_for_it_and_finds_it_by_that() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let shop = shop(&world).await;
    let store = world.service.store();
    let vip = store.of(world.acme.id).tags().ensure("vip & friends", None).await.unwrap().to_string();
    let person = Person {
        first_name: "Ana".to_owned(),
        last_name: "Souza".to_owned(),
        phone_number: format!("+{FIRST}"),
        ..Person::default()
    };
    let people = [(Uuid::now_v7(), person)];
    store.of(world.acme.id).contacts().add(&people, &[vip.parse().unwrap()], Timestamp::now()).await.unwrap();
    let other = (FIRST + 1).to_string();
    let start = [
        ("channel", shop.as_str()),
        ("type", "text"),
        ("message", "Olá <b>Ana</b>\nall shoes are off"),
        ("tag", vip.as_str()),
        ("numbers", other.as_str()),
    ];
    let long = "x".repeat(101);
    let refused = member.check(NEW, &with(&start, &[("name", &long), ("action", "check")])).await;
    assert!(refused.body.contains("Give a name of at most 100 characters"), "{}", refused.body);
    // A day ahead in every zone, so that nothing goes during the test.
    let later = Timestamp::now().plus(Duration::from_secs(3 * 86_400)).to_string();
    for (given, name) in [
        ("Spring “Öffer”", "Spring “Öffer”"),
        ("", "Olá &lt;b&gt;Ana&lt;/b&gt; to vip &amp; friends, 1 number"),
    ] {
        let once = Uuid::now_v7().to_string();
        let fields = with(&start, &[("name", given), ("once", &once), ("send_at", &later[..16])]);
        let checked = member.check(NEW, &with(&fields, &[("action", "check")])).await;
        let digest = value_of(&checked.body, "checked").unwrap_or_else(|| panic!("{}", checked.body));
        assert_eq!(value_of(&checked.body, "name").unwrap_or_default(), given, "the field stays as it was");
        let page = member.submit(NEW, &with(&fields, &[("action", "send"), ("checked", &digest)])).await;
        assert!(page.contains(&format!("<h1>{name}</h1>")), "{page}");
        assert!(page.contains(&format!("<title>{name}")), "{page}");
        // Who made it, the tag by its name, the message, and the people by name.
        for part in [
            "member@acme.example",
            "<bdi>vip &amp; friends</bdi>",
            "<bdi>Ana Souza</bdi>",
            "all shoes are off",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
    let all = sends(&world).await;
    let ids: Vec<_> =
        all["data"].as_array().unwrap().iter().map(|send| send["id"].as_str().unwrap()).collect();
    assert_eq!(all["data"][0]["name"], "Olá <b>Ana</b> to vip & friends, 1 number");
    let listed = async |search: &str| {
        let page = member.page(&format!("/console/sends?search={search}")).await;
        let there = |id: &&str| page.contains(&format!("/console/sends/{id}\""));
        ids.iter().map(there).collect::<Vec<_>>()
    };
    assert_eq!(listed("offer").await, [false, true]);
    assert_eq!(listed("friends").await, [true, false]);
    assert_eq!(listed("").await, [true, true]);
    assert_eq!(listed("nothing").await, [false, false]);
    let list = member.page("/console/sends").await;
    assert!(list.contains("aria-label=\"Waiting 2\"") && list.contains("Spring “Öffer”"), "{list}");

    // What somebody did to it is in the record, with its name.
    let address = format!("/console/sends/{}", ids[1]);
    member.submit(&format!("{address}/pause"), &[]).await;
    let operator = world.operator().await;
    let changes = operator.page(&format!("/console/operator/changes?subject={}", ids[1])).await;
    assert!(changes.contains("Spring “Öffer”") && changes.contains("paused"), "{changes}");
}

#[tokio::test]
async fn the_page_of_a_program_s_send_shows_its_name_and_its_message() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let shop = shop(&world).await;
    let link = "https://a.example/menu.pdf";
    let body = json!({
        "type": "document", "link": link, "filename": "menu.pdf", "caption": "Our *new* menu",
        "phone_number": [FIRST, FIRST + 1], "name": "Menu",
    });
    let path = format!("/api/v1/chat/{shop}/messages");
    let accepted = world.service.post(&path, &world.acme.key, body.to_string()).await;
    assert_eq!(accepted.status, 202, "{}", accepted.body);
    let page = viewer.page(&format!("/console/sends/{}", accepted.json()["send_id"].as_str().unwrap())).await;
    for part in ["<h1>Menu</h1>", "menu.pdf", "Our <strong>new</strong> menu", "2 people", "program “"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
