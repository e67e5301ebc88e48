//! Contact fields in templates: each recipient gets the values of their own contact.

use std::collections::BTreeMap;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use pombo::domain::own_field::FieldKind;
use pombo::store::changes::Who;
use pombo::store::{ContactChange, NewField, Store};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::running::{NUMBER, Running, until};
use crate::scenarios::stage::{run_under, show, template};

stores!(
    three_contacts_and_a_stranger_get_texts_of_their_own,
    a_contact_without_a_field_fails_alone_and_gets_the_message_once_it_has_one,
    a_restart_in_mid_send_gives_each_recipient_their_own_text,
    a_retried_message_reads_its_recipient_again,
    braces_are_text_unless_the_request_says_otherwise,
    an_own_field_is_spelled_for_each_recipient_and_a_deleted_one_counts_as_missing,
);

/// The first number of the people here.
const FIRST: u64 = 5_511_900_000_000;
/// A number without a contact.
const STRANGER: u64 = 5_521_977_777_777;

fn person(number: u64, first_name: &str) -> Person {
    Person {
        first_name: first_name.to_owned(),
        last_name: "Souza".to_owned(),
        phone_number: format!("+{number}"),
        ..Person::default()
    }
}

/// Contacts with these first names and consecutive numbers, under a tag; its id.
async fn people(running: &Running, names: impl IntoIterator<Item = String>) -> Uuid {
    let tag = running.store.of(running.company).tags().ensure("everyone", None).await.unwrap();
    let named = names.into_iter().zip(FIRST..);
    let people: Vec<_> = named.map(|(name, number)| (Uuid::now_v7(), person(number, &name))).collect();
    running.store.of(running.company).contacts().add(&people, &[tag], Timestamp::now()).await.unwrap();
    tag
}

/// The values of `order_update`, with contact fields.
async fn order_update(running: &Running, name: &str, order: &str) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    json!({
        "type": "template",
        "template_id": template(running, "order_update").await,
        "components": [{ "type": "body", "parameters": [text(name), text(order)] }],
        "contact_fields": true,
    })
}

/// The values that the provider got, by recipient.
fn values(running: &Running) -> BTreeMap<u64, Vec<String>> {
    let messages = running.simulator.messages(0, 10_000);
    let values = messages.into_iter().filter_map(|message| {
        let body = message.body?;
        let parameters = body["template"]["components"][0]["parameters"].as_array().unwrap().clone();
        let texts = parameters.iter().map(|parameter| parameter["text"].as_str().unwrap().to_owned());
        Some((message.to.parse().unwrap(), texts.collect()))
    });
    values.collect()
}

async fn dry_run(running: &Running, body: &Value) -> Value {
    let path = format!("/api/v1/chat/{}/messages?dry_run=true", running.channel);
    let answer = running.ask(Method::POST, &path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

async fn three_contacts_and_a_stranger_get_texts_of_their_own(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let tag = people(&running, ["Ana", "Bia", ""].map(str::to_owned)).await;
    // The oldest contact with the number gives the values.
    let double = (Uuid::now_v7(), person(FIRST, "Anita"));
    running.store.of(running.company).contacts().add(&[double], &[tag], Timestamp::now()).await.unwrap();
    let mut body =
        order_update(&running, "{{contact.first_name|friend}}", "A-1 of {{contact.name|you}}").await;
    body["contact_tag_id"] = json!(tag);
    body["phone_number"] = json!(STRANGER);
    let planned = dry_run(&running, &body).await;
    assert_eq!((&planned["recipients_count"], &planned["contact_fields"]), (&json!(4), &Value::Null));
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    running.settled(4).await;
    let expected = [
        (FIRST, ["Ana", "A-1 of Ana Souza"]),
        (FIRST + 1, ["Bia", "A-1 of Bia Souza"]),
        (FIRST + 2, ["friend", "A-1 of Souza"]),
        (STRANGER, ["friend", "A-1 of you"]),
    ];
    let expected = expected.map(|(number, texts)| (number, texts.map(str::to_owned).to_vec()));
    assert_eq!(values(&running), BTreeMap::from(expected));
    // A send to one recipient reads that recipient's contact as well.
    let mut single = order_update(&running, "{{contact.first_name}}", "A-2").await;
    single["phone_number"] = json!(FIRST + 1);
    assert_eq!(running.send(&single).await.0, 202);
    running.settled(5).await;
    assert_eq!(values(&running)[&(FIRST + 1)], ["Bia", "A-2"]);
    running.end().await;
}

async fn a_contact_without_a_field_fails_alone_and_gets_the_message_once_it_has_one(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let tag = people(&running, ["Ana", "", "Bia"].map(str::to_owned)).await;
    let mut body = order_update(&running, "{{contact.first_name}}", "A-1").await;
    body["contact_tag_id"] = json!(tag);
    body["phone_number"] = json!(STRANGER);
    let planned = dry_run(&running, &body).await;
    assert_eq!(planned["contact_fields"], json!({ "lacking_count": 2, "checked_count": 4 }));
    let (status, answer) = running.send(&body).await;
    assert_eq!(status, 202, "{answer}");
    let send = answer["send_id"].as_str().unwrap();
    running.settled(2).await;
    assert_eq!(values(&running).keys().copied().collect::<Vec<_>>(), [FIRST, FIRST + 2]);
    let shown = show(&running, send).await;
    assert_eq!((&shown["counts"]["failed"], &shown["counts"]["sent"]), (&json!(2), &json!(2)), "{shown}");
    let path = format!("/api/v1/sends/{send}/messages?error_code=-1");
    let failed = running.ask(Method::GET, &path, &Value::Null).await.json();
    assert_eq!(failed["totalRecords"], 2, "{failed}");
    let first = &failed["data"][0];
    assert_eq!((&first["recipient"], &first["attempts"]), (&json!(format!("+{}", FIRST + 1)), &json!(0)));
    let sentence = first["error"]["message"].as_str().unwrap();
    assert!(sentence.contains("{{contact.first_name}}"), "{sentence}");

    // With the value filled in, the contact gets the message by the send that repeats the failed messages;
    // the number without a contact fails again.
    name(&running.store, running.company, FIRST + 1, "Clara").await;
    let again =
        running.ask(Method::POST, &format!("/api/v1/sends/{send}/retry"), &json!({ "error_code": -1 })).await;
    assert_eq!((again.status, &again.json()["recipients_count"]), (202, &json!(2)), "{}", again.body);
    running.settled(3).await;
    assert_eq!(values(&running)[&(FIRST + 1)], ["Clara", "A-1"]);
    running.end().await;
}

/// Gives the contact with this number a first name.
async fn name(store: &Store, company: Uuid, number: u64, first_name: &str) {
    let found = store.of(company).contacts().after(None, 100).await.unwrap();
    let number = format!("+{number}");
    let contact = found.into_iter().find(|contact| contact.person.phone_number == number).unwrap();
    let change = ContactChange { first_name: Some(first_name.to_owned()), ..ContactChange::default() };
    store.of(company).contacts().change(&Who::Pombo, contact.id, &change, Timestamp::now()).await.unwrap();
}

async fn a_restart_in_mid_send_gives_each_recipient_their_own_text(universe: &Universe) {
    const PEOPLE: u64 = 1_500;
    let mut running = Running::start(universe, |config| config.engine.block_size = 700).await;
    run_under(&running, "even", json!({ "messages_per_second": "1000/s" })).await;
    let tag = people(&running, (0..PEOPLE).map(|number| format!("P{number}"))).await;
    let mut body = order_update(&running, "{{contact.first_name}}", "A-1").await;
    body["contact_tag_id"] = json!(tag);
    assert_eq!(running.send(&body).await.0, 202);
    until("some messages delivered", async || running.delivered().0 > 300).await;
    running.restart().await;
    assert!(running.delivered().0 < PEOPLE, "nothing was left to be sent after the restart");
    running.settled(PEOPLE).await;
    assert_eq!(running.delivered(), (PEOPLE, PEOPLE));
    for (number, texts) in values(&running) {
        assert_eq!(texts, [format!("P{}", number - FIRST), "A-1".to_owned()]);
    }
    running.end().await;
}

async fn a_retried_message_reads_its_recipient_again(universe: &Universe) {
    let running = Running::start(universe, |config| config.retry.first = Duration::from_secs(2)).await;
    let tag = people(&running, ["Ana", "Bia"].map(str::to_owned)).await;
    let script = json!([{ "match": { "to": FIRST.to_string() }, "times": 1, "outcome": { "error": { "code": 131_000 } } }]);
    running.simulator.script(&script).unwrap();
    let mut body = order_update(&running, "{{contact.first_name}}", "A-1").await;
    body["contact_tag_id"] = json!(tag);
    assert_eq!(running.send(&body).await.0, 202);
    until("both attempts", async || running.simulator.number(NUMBER).unwrap().arrivals >= 2).await;
    name(&running.store, running.company, FIRST, "Anita").await;
    running.settled(2).await;
    assert_eq!(values(&running)[&FIRST], ["Anita", "A-1"]);
    assert_eq!(values(&running)[&(FIRST + 1)], ["Bia", "A-1"]);
    running.end().await;
}

async fn braces_are_text_unless_the_request_says_otherwise(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    people(&running, ["Ana".to_owned()]).await;
    let mut body = order_update(&running, "{{contact.first_name}}", "{{1}}").await;
    body["phone_number"] = json!(FIRST);
    let refused = running.send(&body).await;
    assert_eq!((refused.0, refused.1["code"].as_str()), (400, Some("invalid_components")), "{}", refused.1);
    assert!(refused.1["error"].as_str().unwrap().contains("`{{1}}` is no contact field"), "{}", refused.1);
    body["contact_fields"] = json!("yes");
    assert_eq!(running.send(&body).await.1["code"], "invalid_field");
    body["contact_fields"] = Value::Null;
    assert_eq!(running.send(&body).await.0, 202);
    let text = json!({ "type": "text", "message": "hi", "phone_number": FIRST, "contact_fields": true });
    assert_eq!(running.send(&text).await.1["code"], "invalid_field");
    running.settled(1).await;
    assert_eq!(values(&running)[&FIRST], ["{{contact.first_name}}", "{{1}}"]);
    running.end().await;
}

async fn an_own_field_is_spelled_for_each_recipient_and_a_deleted_one_counts_as_missing(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let store = &running.store;
    let add = async |name: &str, kind| {
        let fields = store.of(running.company).fields();
        match fields.add(&Who::Pombo, name, kind, Timestamp::now()).await.unwrap() {
            NewField::Added(field) => field,
            other => panic!("{other:?}"),
        }
    };
    let (city, due) = (add("City", FieldKind::Text).await, add("Due", FieldKind::Date).await);
    let mut ana = person(FIRST, "Ana");
    ana.own.insert(city.key, city.kind.exact("Rio").unwrap().unwrap());
    ana.own.insert(due.key, due.kind.exact("2026-12-31").unwrap().unwrap());
    let people = [(Uuid::now_v7(), ana), (Uuid::now_v7(), person(FIRST + 1, "Bia"))];
    store.of(running.company).contacts().add(&people, &[], Timestamp::now()).await.unwrap();

    let mut body = order_update(&running, "{{contact.city|home}}", "{{contact.due|soon}}").await;
    body["phone_number"] = json!([FIRST, FIRST + 1]);
    assert_eq!(running.send(&body).await.0, 202);
    running.settled(2).await;
    // As people of the template's language write it.
    assert_eq!(values(&running)[&FIRST], ["Rio", "December 31, 2026"]);
    assert_eq!(values(&running)[&(FIRST + 1)], ["home", "soon"]);

    let mut needed = order_update(&running, "{{contact.city}}", "A-1").await;
    needed["phone_number"] = json!([FIRST, FIRST + 1]);
    let planned = dry_run(&running, &needed).await;
    assert_eq!(planned["contact_fields"], json!({ "lacking_count": 1, "checked_count": 2 }));

    assert!(store.of(running.company).fields().delete(&Who::Pombo, city.id).await.unwrap());
    let refused = running.send(&body).await;
    assert_eq!((refused.0, refused.1["code"].as_str()), (400, Some("invalid_components")), "{}", refused.1);
    assert!(refused.1["error"].as_str().unwrap().contains("`{{contact.city}}` is no contact field"));
    running.end().await;
}
