//! The caller's own words on a send: `name`, `reference` and `metadata`, and the address of its record.

use std::collections::BTreeMap;
use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use crate::harness::Answer;

fn body(fields: &Value) -> Value {
    let mut body = json!({"type": "text", "message": "Olá", "phone_number": "5511988887777"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

async fn post(world: &World, fields: &Value) -> Answer {
    world.service.post(&World::send(world.connected), &world.acme.key, body(fields).to_string()).await
}

async fn get(world: &World, path: &str) -> Value {
    let answer = world.service.get(path, &world.acme.key).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

#[tokio::test]
async fn a_send_keeps_its_reference_and_metadata_and_is_found_by_them() {
    let world = World::new().await;
    let metadata = json!({"campaign": "spring", "note \u{0} \"ü\" 💚": ""});
    let send_at = Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
    let label = json!({"reference": " order-7 ", "metadata": metadata, "send_at": send_at});
    let accepted = post(&world, &label).await;
    assert_eq!((accepted.status, accepted.json().get("ignored")), (202, None), "{}", accepted.body);
    let address = accepted.header("location").to_owned();
    assert_eq!(address, format!("/api/v1/sends/{}", accepted.json()["send_id"].as_str().unwrap()));
    let plain = post(&world, &json!({"reference": null, "metadata": {}})).await;

    let record = get(&world, &address).await;
    assert_eq!((&record["reference"], &record["metadata"]), (&json!("order-7"), &metadata));
    assert_eq!(record["content"], json!({"type": "text", "message": "Olá"}));
    let other = get(&world, plain.header("location")).await;
    assert_eq!((&other["reference"], &other["metadata"]), (&Value::Null, &json!({})));
    for (query, ids) in
        [("order-7", vec![&record["id"]]), ("%20order-7", vec![&record["id"]]), ("order", vec![])]
    {
        let page = get(&world, &format!("/api/v1/sends?reference={query}")).await;
        let found: Vec<_> = page["data"].as_array().unwrap().iter().map(|send| &send["id"]).collect();
        assert_eq!((found, page["totalRecords"].as_u64()), (ids.clone(), Some(ids.len() as u64)), "{query}");
    }
    let foreign = world.service.get("/api/v1/sends?reference=order-7", &world.globex.key).await;
    assert_eq!(foreign.json()["totalRecords"], 0);

    // A retry has the words of the send that it retries.
    world.service.post(&format!("{address}/cancel"), &world.acme.key, "").await;
    let retry = json!({"state": ["canceled"]}).to_string();
    let retry = world.service.post(&format!("{address}/retry"), &world.acme.key, retry).await;
    assert_eq!(retry.status, 202, "{}", retry.body);
    let retried = get(&world, retry.header("location")).await;
    assert_eq!((&retried["reference"], &retried["metadata"]), (&json!("order-7"), &metadata));
}

#[tokio::test]
async fn a_send_has_the_name_that_it_was_given_or_one_that_says_what_goes_to_whom() {
    let world = World::new().await;
    let send_at = Timestamp::now().plus(Duration::from_secs(3_600)).to_string();
    let store = world.service.store();
    let vip = store.of(world.acme.id).tags().ensure("vip", None).await.unwrap();
    let person = Person { phone_number: "5511988887776".to_owned(), ..Person::default() };
    let people = [(Uuid::now_v7(), person)];
    store.of(world.acme.id).contacts().add(&people, &[vip], Timestamp::now()).await.unwrap();
    let mut named = Vec::new();
    for (mut fields, name) in [
        (json!({"name": "  Spring “Öffer” 50%  "}), "Spring “Öffer” 50%"),
        (json!({"name": " "}), "Olá to 1 person"),
        (json!({"phone_number": ["5511988887777", "5511988887778"]}), "Olá to 2 people"),
        (json!({"contact_tag_id": vip}), "Olá to vip"),
        (json!({"type": "image", "link": "https://a.example/a.png"}), "image to 1 person"),
    ] {
        fields["send_at"] = json!(send_at);
        let accepted = post(&world, &fields).await;
        assert_eq!(accepted.status, 202, "{}", accepted.body);
        let record = get(&world, accepted.header("location")).await;
        assert_eq!(record["name"], name, "{record}");
        named.push(record["id"].clone());
    }
    // Searches find given names: in any case, without accents, `%` being plain.
    for (search, ids) in [("offer", &named[..1]), ("50%25", &named[..1]), ("0%25o", &[]), ("person", &[])] {
        let page = get(&world, &format!("/api/v1/sends?search={search}")).await;
        let found: Vec<_> = page["data"].as_array().unwrap().iter().map(|send| send["id"].clone()).collect();
        assert_eq!((&found[..], page["totalRecords"].as_u64()), (ids, Some(ids.len() as u64)), "{search}");
    }
    let foreign = world.service.get("/api/v1/sends?search=offer", &world.globex.key).await;
    assert_eq!(foreign.json()["totalRecords"], 0);
    // Fields that other programs have beside these are not taken for a name.
    let others = post(&world, &json!({"date": "x", "note": "y"})).await;
    assert_eq!(
        (others.status, &others.json()["ignored"]),
        (202, &json!(["date", "note"])),
        "{}",
        others.body
    );

    // A retry has the name of the send that it retries.
    let first = format!("/api/v1/sends/{}", named[0].as_str().unwrap());
    world.service.post(&format!("{first}/cancel"), &world.acme.key, "").await;
    let retry = json!({"state": ["canceled"]}).to_string();
    let retry = world.service.post(&format!("{first}/retry"), &world.acme.key, retry).await;
    assert_eq!(get(&world, retry.header("location")).await["name"], "Spring “Öffer” 50%");
}

#[tokio::test]
async fn words_beyond_their_bounds_are_refused() {
    let world = World::new().await;
    let many = |count: usize| -> BTreeMap<String, &str> {
        (0..count).map(|number| (number.to_string(), "x")).collect()
    };
    let (long, longest) = ("é".repeat(129), "é".repeat(128));
    let largest = json!({"reference": longest, "metadata": many(16)});
    assert_eq!(post(&world, &largest).await.status, 202);
    let entry = json!({"metadata": {("k".repeat(40)): "💚".repeat(256)}});
    assert_eq!(post(&world, &entry).await.status, 202);
    let named = json!({"name": "é".repeat(100)});
    assert_eq!(post(&world, &named).await.status, 202);
    for wrong in [
        json!({"name": "é".repeat(101)}),
        json!({"name": 7}),
        json!({"name": "two\nlines"}),
        json!({"reference": long}),
        json!({"reference": 7}),
        json!({"reference": "two\nlines"}),
        json!({"metadata": "x"}),
        json!({"metadata": []}),
        json!({"metadata": [1]}),
        json!({"metadata": {"a": 1}}),
        json!({"metadata": {"a": null}}),
        json!({"metadata": {"a": {"b": "c"}}}),
        json!({"metadata": {"": "x"}}),
        json!({"metadata": many(17)}),
        json!({"metadata": {("k".repeat(41)): "x"}}),
        json!({"metadata": {"a": "x".repeat(257)}}),
    ] {
        let answer = post(&world, &wrong).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{wrong}");
        let sentence = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(sentence.starts_with('`'), "{sentence}");
    }
}

#[tokio::test]
async fn a_repeated_request_is_told_the_address_again() {
    let world = World::new().await;
    let ask = async || {
        let request = world.service.request(Method::POST, &World::send(world.connected));
        let request = request.bearer_auth(&world.acme.key).header("idempotency-key", "k");
        Answer::to(request.body(body(&json!({"reference": "r"})).to_string())).await
    };
    let (first, again) = (ask().await, ask().await);
    assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"));
    assert_eq!(again.header("location"), first.header("location"));
    assert!(first.header("location").starts_with("/api/v1/sends/"));
}

#[tokio::test]
async fn a_record_shows_what_was_asked_for() {
    let world = World::new().await;
    let link = "https://example.com/a.pdf";
    let buttons = json!({
        "type": "button", "body": {"text": "Ready?"},
        "action": {"buttons": [{"type": "reply", "reply": {"id": "yes", "title": "Yes"}}]},
    });
    for content in [
        json!({"type": "text", "message": "a https://example.com", "preview_url": false}),
        json!({"type": "image", "link": link, "caption": "c"}),
        json!({"type": "video", "link": link}),
        json!({"type": "audio", "link": link, "voice": true}),
        json!({"type": "document", "link": link, "filename": "b.pdf", "caption": "c"}),
        json!({"type": "interactive", "interactive": buttons}),
        json!({
            "type": "template", "template_id": world.approved, "language": "pt_BR", "contact_fields": true,
            "components": [{"type": "body", "parameters": [
                {"type": "text", "text": "{{contact.first_name|friend}}"}, {"type": "text", "text": "7"},
            ]}],
        }),
    ] {
        let mut request = content.clone();
        request["phone_number"] = json!("5511988887777");
        let path = World::send(world.connected);
        let accepted = world.service.post(&path, &world.acme.key, request.to_string()).await;
        assert_eq!(accepted.status, 202, "{}", accepted.body);
        let address = accepted.header("location").to_owned();
        assert_eq!(get(&world, &address).await["content"], content);
        let paused = world.service.post(&format!("{address}/pause"), &world.acme.key, "").await;
        assert!(paused.status != 200 || paused.json()["content"] == content);
    }
}
