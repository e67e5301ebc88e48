//! The effect of a lookup of a number on the company's contacts.

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::{QUICK, World, text};
use super::{JOAO, MARIA, OTHER};
use crate::harness::Company;
use crate::running::until;

async fn add(world: &World, company: &Company, name: &str, number: &str) {
    let person = Person { first_name: name.to_owned(), phone_number: number.to_owned(), ..Person::default() };
    let people = [(Uuid::now_v7(), person)];
    world.service.store().of(company.id).contacts().add(&people, &[], Timestamp::now()).await.unwrap();
}

/// The company's contacts that a search finds.
async fn found(world: &World, company: &Company, search: &str) -> Vec<Value> {
    let answer = world.service.get(&format!("/api/v1/contacts?search={search}"), &company.key).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_contact_whose_number_was_checked_shows_its_hidden_address_and_is_found_by_it() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let theirs = world.account("globex", OTHER, QUICK).await;
    add(&world, &world.own.company, "Maria", "+55 (11) 98888-7777").await;
    add(&world, &world.own.company, "João", JOAO).await;
    add(&world, &theirs.company, "Maria", MARIA).await;
    let lid = maria.lid();
    assert!(found(&world, &world.own.company, &lid).await.is_empty());

    world.arrives(&text(MARIA, "oi")).await;
    until("the address to be shown", async || {
        let shown = found(&world, &world.own.company, "maria").await;
        assert_eq!(shown.len(), 1);
        shown[0]["phone_number_lid"] == lid.as_str()
    })
    .await;
    let shown = found(&world, &world.own.company, &lid).await;
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (shown[0]["first_name"].as_str(), shown[0]["phone_number"].as_str()),
        (Some("Maria"), Some("+55 (11) 98888-7777"))
    );
    let digits = lid.trim_end_matches("@lid");
    assert_eq!(found(&world, &world.own.company, &digits[2..]).await.len(), 1);
    assert_eq!(found(&world, &world.own.company, JOAO).await[0]["phone_number_lid"], Value::Null);
    assert_eq!(found(&world, &theirs.company, "maria").await[0]["phone_number_lid"], Value::Null);
}

#[tokio::test]
async fn a_picture_that_was_asked_for_is_shown_by_the_contact() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let own = &world.own;
    add(&world, &own.company, "Maria", MARIA).await;
    let path = format!("/api/v1/web-chat/{}/profile-picture", own.channel);
    let ask = async |number: &str| {
        let body = json!({ "phone_number": number }).to_string();
        world.service.post(&path, &own.company.key, body).await
    };
    let answer = ask(MARIA).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let picture = answer.json()["profile_picture"].clone();
    assert!(picture.as_str().unwrap().ends_with(MARIA), "{picture}");
    assert_eq!(found(&world, &own.company, "maria").await[0]["profile_picture"], picture);
    let nobody = ask(JOAO).await;
    assert_eq!((nobody.status, nobody.code().as_deref()), (422, Some("not_on_whatsapp")), "{}", nobody.body);
    assert_eq!(ask("").await.code().as_deref(), Some("missing_phone_number"));
}

#[tokio::test]
async fn a_message_to_a_number_without_a_contact_creates_none() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let (sent, _) = world.arrives(&text(MARIA, "oi")).await;
    world.reaches(&sent.send, "sent").await;
    let contacts = world.service.get("/api/v1/contacts", &world.own.company.key).await.json();
    assert_eq!(contacts["totalRecords"], 0);
}
