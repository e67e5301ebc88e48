//! Segments over HTTP: contacts by the outcome of a send and by own fields, filters under names, sends to them; and notes on
//! contacts.

use pombo::domain::message::State as At;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::{FIRST, Past};
use super::world::World;
use crate::harness::Answer;

const SEGMENTS: &str = "/api/v1/contacts/segments";

async fn ask(world: &World, method: Method, path: &str, body: Value) -> Answer {
    // A text is sent as it is, anything else as JSON.
    let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    let request = world.service.request(method, path).bearer_auth(&world.acme.key).body(body);
    Answer::to(request).await
}

/// Three contacts with the first numbers: with the tag `vip`, with `vip` and `news`, and without; the ids of the tags.
async fn people(world: &World) -> [String; 2] {
    let person = |place: u64, tags: Value| {
        let number = (FIRST + place).to_string();
        json!({"first_name": format!("P{place}"), "phone_number": number, "tags": tags})
    };
    let people = [person(0, json!(["vip"])), person(1, json!(["vip", "news"])), person(2, json!([]))];
    let written =
        ask(world, Method::POST, "/api/v1/contacts/batch", json!({"contacts": people})).await.json();
    assert_eq!(written["created"], 3, "{written}");
    let tags = world.service.get("/api/v1/contacts/tags", &world.acme.key).await.json();
    let id = |name: &str| {
        let all = tags["data"].as_array().unwrap();
        all.iter().find(|tag| tag["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    };
    ["vip", "news"].map(id)
}

#[tokio::test]
async fn contacts_are_listed_by_the_outcome_of_a_send() {
    let world = World::new().await;
    let [vip, _] = people(&world).await;
    let messages = [(At::Read, None), (At::Delivered, None), (At::Failed, Some(131_026))];
    let send = Past::text(&world.service, &world.acme, world.connected).with(&messages).await;
    let listed = async |query: &str| {
        let answer = ask(&world, Method::GET, &format!("/api/v1/contacts?{query}"), json!("")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let page = answer.json();
        let names = page["data"].as_array().unwrap().iter().map(|contact| contact["first_name"].clone());
        let names: Vec<Value> = names.collect();
        assert_eq!(page["totalRecords"], names.len(), "{query}");
        names
    };
    for (outcome, names) in [
        ("received", vec!["P1", "P0"]),
        ("not_received", vec!["P2"]),
        ("read", vec!["P0"]),
        ("not_read", vec!["P1"]),
    ] {
        assert_eq!(listed(&format!("send_id={send}&send_outcome={outcome}")).await, names, "{outcome}");
    }
    let both = format!("send_id={send}&send_outcome=received");
    assert_eq!(listed(&format!("{both}&contact_tag_id={vip}&search=p1")).await, ["P1"]);
    let lines = world.service.request(Method::GET, &format!("/api/v1/contacts?{both}"));
    let lines = lines.bearer_auth(&world.acme.key).header("accept", "application/x-ndjson");
    assert_eq!(Answer::to(lines).await.body.lines().count(), 2);
    for (query, param) in [
        (format!("send_id={send}"), "send_outcome"),
        ("send_outcome=read".to_owned(), "send_id"),
        (format!("send_id={send}&send_outcome=seen"), "send_outcome"),
        (format!("send_id={}&send_outcome=read", world.foreign_send), "send_id"),
        ("send_id=x&send_outcome=read".to_owned(), "send_id"),
    ] {
        let refused = ask(&world, Method::GET, &format!("/api/v1/contacts?{query}"), json!("")).await;
        let told = refused.json();
        assert_eq!(
            (refused.status, &told["code"], &told["param"]),
            (400, &json!("invalid_field"), &json!(param))
        );
    }
}

#[tokio::test]
async fn a_send_goes_to_those_whom_a_segment_selects_when_it_is_accepted() {
    let world = World::new().await;
    let [vip, news] = people(&world).await;
    let filter = json!({"contact_tag_id": [vip], "without_contact_tag_id": [news]});
    let saved = ask(&world, Method::POST, SEGMENTS, json!({"name": " VIPs  ", "filter": filter})).await;
    assert_eq!(saved.status, 201, "{}", saved.body);
    let segment = saved.json();
    assert_eq!((&segment["name"], &segment["lacks"]), (&json!("VIPs"), &Value::Null));
    assert_eq!(segment["filter"]["contact_tag_id"], json!([vip]));
    let one = format!("{SEGMENTS}/{}", segment["id"].as_str().unwrap());
    let send = |number: Value, segments: Value| json!({"type": "text", "message": "x", "phone_number": number, "segment_id": segments});
    let path = World::send(world.connected);
    let dry_path = format!("{path}?dry_run=true");
    let dry = ask(&world, Method::POST, &dry_path, send(json!(null), segment["id"].clone()));
    let dry = dry.await.json();
    assert_eq!(dry["recipients_count"], 1, "{dry}");
    // The person of the segment is named, too, and one segment is nobody's.
    let both = send(json!([FIRST.to_string(), (FIRST + 2).to_string()]), json!([segment["id"], Uuid::nil()]));
    let accepted = ask(&world, Method::POST, &path, both).await;
    let told = accepted.json();
    assert_eq!((accepted.status, &told["recipients_count"]), (202, &json!(2)), "{told}");
    assert_eq!(
        (&told["skipped_count"], &told["skipped"][0]["code"]),
        (&json!(1), &json!("segment_not_found"))
    );
    let record = format!("/api/v1/sends/{}", told["send_id"].as_str().unwrap());
    let record = ask(&world, Method::GET, &record, json!("")).await.json();
    assert_eq!((&record["segment_ids"], &record["name"]), (&json!([segment["id"]]), &json!("x to VIPs")));

    let renamed = ask(&world, Method::PATCH, &one, json!({"name": "Regulars"})).await.json();
    assert_eq!((&renamed["name"], &renamed["filter"]), (&json!("Regulars"), &segment["filter"]));
    let mistyped = ask(&world, Method::PATCH, &one, json!({"filter": {"serach": "ana"}})).await;
    assert_eq!((mistyped.status, mistyped.code().as_deref()), (400, Some("invalid_field")));
    // Without its tag, the filter would select other people.
    let deleted = ask(&world, Method::DELETE, &format!("/api/v1/contacts/tags/{news}"), json!("")).await;
    assert_eq!(deleted.status, 204);
    let outdated = ask(&world, Method::GET, &one, json!("")).await.json();
    assert_eq!((&outdated["lacks"], &outdated["filter"]), (&json!("tag_gone"), &Value::Null));
    let refused = ask(&world, Method::POST, &path, send(json!(null), segment["id"].clone())).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("no_valid_recipients")));
    assert_eq!(refused.json()["skipped"][0]["code"], "segment_outdated", "{}", refused.body);
    let many = send(json!(null), json!(vec![Uuid::nil(); 21]));
    assert_eq!(ask(&world, Method::POST, &path, many).await.json()["param"], "segment_id");
    let listed = ask(&world, Method::GET, SEGMENTS, json!("")).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(ask(&world, Method::DELETE, &one, json!("")).await.status, 204);
    assert_eq!(ask(&world, Method::GET, &one, json!("")).await.status, 404);
}

#[tokio::test]
async fn a_segment_by_a_send_and_own_fields_selects_nobody_when_a_field_is_gone() {
    let world = World::new().await;
    people(&world).await;
    let fields = "/api/v1/contacts/fields";
    let field = ask(&world, Method::POST, fields, json!({"name": "Age", "type": "number"})).await.json();
    let aged =
        |place: u64, age: u64| json!({"phone_number": (FIRST + place).to_string(), "fields": {"age": age}});
    let aged = json!({"contacts": [aged(0, 17), aged(1, 18)]});
    assert_eq!(ask(&world, Method::POST, "/api/v1/contacts/batch", aged).await.json()["updated"], 2);
    let messages = [(At::Read, None), (At::Read, None), (At::Delivered, None)];
    let read = Past::text(&world.service, &world.acme, world.connected).with(&messages).await;
    let listed = async |query: &str| {
        let path = format!("/api/v1/contacts?send_id={read}&send_outcome=read{query}");
        let page = ask(&world, Method::GET, &path, json!("")).await.json();
        let names = page["data"].as_array().unwrap().iter().map(|contact| contact["first_name"].clone());
        names.collect::<Vec<Value>>()
    };
    assert_eq!(listed("").await, ["P1", "P0"]);
    assert_eq!(listed("&field=age%3E%3D18").await, ["P1"]);
    assert_eq!(listed("&field=age%3E%3D18&search=p0").await, Vec::<Value>::new());

    for wrong in [json!(["age"]), json!(["town=Rio"]), json!(["age>=old"]), json!(vec!["age=*"; 11])] {
        let body = json!({"name": "x", "filter": {"fields": wrong}});
        let refused = ask(&world, Method::POST, SEGMENTS, body).await;
        let told = refused.json();
        assert_eq!(
            (refused.status, &told["code"], &told["param"]),
            (400, &json!("invalid_field"), &json!("fields")),
            "{told}"
        );
    }
    let filter = json!({"send_id": read, "send_outcome": "read", "fields": ["age>=18", "age!=30"]});
    let saved = ask(&world, Method::POST, SEGMENTS, json!({"name": "Grown", "filter": filter})).await;
    assert_eq!(saved.status, 201, "{}", saved.body);
    let segment = saved.json();
    assert_eq!(segment["filter"]["fields"], json!(["age>=18", "age!=30"]));
    let body = json!({"type": "text", "message": "x", "segment_id": segment["id"]});
    let dry = format!("{}?dry_run=true", World::send(world.connected));
    let planned = ask(&world, Method::POST, &dry, body.clone()).await.json();
    assert_eq!(planned["recipients_count"], 1, "{planned}");

    let field = format!("{fields}/{}", field["id"].as_str().unwrap());
    assert_eq!(ask(&world, Method::DELETE, &field, json!("")).await.status, 204);
    // Another field with this key has other values: they would select people who were never meant.
    let again = ask(&world, Method::POST, fields, json!({"name": "Age", "type": "text"})).await.json();
    assert_eq!(again["key"], "age");
    let one = format!("{SEGMENTS}/{}", segment["id"].as_str().unwrap());
    let outdated = ask(&world, Method::GET, &one, json!("")).await.json();
    assert_eq!((&outdated["lacks"], &outdated["filter"]), (&json!("field_gone"), &Value::Null));
    let refused = ask(&world, Method::POST, &World::send(world.connected), body).await.json();
    assert_eq!(refused["skipped"][0]["code"], "segment_outdated", "{refused}");
}

#[tokio::test]
async fn notes_on_a_contact_are_added_listed_and_deleted() {
    let world = World::new().await;
    people(&world).await;
    let found = world.service.get("/api/v1/contacts?search=p0", &world.acme.key).await.json();
    let notes = format!("/api/v1/contacts/{}/notes", found["data"][0]["id"].as_str().unwrap());
    for wrong in [json!({}), json!({"text": "  "}), json!({"text": "x".repeat(2_001)}), json!({"text": 7})] {
        let refused = ask(&world, Method::POST, &notes, wrong).await;
        assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")));
    }
    let added = ask(&world, Method::POST, &notes, json!({"text": " Calls back.\nOn Monday. "})).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let note = added.json();
    assert_eq!(note["text"], "Calls back.\nOn Monday.");
    let listed = ask(&world, Method::GET, &notes, json!("")).await.json();
    assert_eq!((&listed["totalRecords"], &listed["data"][0]), (&json!(1), &note));
    let foreign = world.service.get(&notes, &world.globex.key).await;
    assert_eq!((foreign.status, foreign.code().as_deref()), (404, Some("contact_not_found")));
    let one = format!("{notes}/{}", note["id"].as_str().unwrap());
    assert_eq!(ask(&world, Method::DELETE, &one, json!("")).await.status, 204);
    assert_eq!(ask(&world, Method::DELETE, &one, json!("")).await.code().as_deref(), Some("note_not_found"));
    assert_eq!(ask(&world, Method::GET, &notes, json!("")).await.json()["totalRecords"], 0);
}
