//! Sends that leave out people with a tag, however the request names them.

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::FIRST;
use super::world::World;

/// Two forms of one person's number.
const LONG: u64 = 5_564_988_887_777;
const SHORT: u64 = 556_488_887_777;

#[tokio::test]
async fn people_with_a_tag_to_leave_out_get_nothing_and_are_named() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let store = service.store().of(world.acme.id);
    let tag = async |name: &str| store.tags().ensure(name, None).await.unwrap();
    let (all, staff, press) = (tag("all").await, tag("staff").await, tag("press").await);
    for (number, tags) in [
        (FIRST, vec![all]),
        (FIRST + 1, vec![all, staff]),
        (FIRST + 2, vec![all, press]),
        (FIRST + 3, vec![staff]),
        (LONG, vec![press]),
    ] {
        let person = Person { phone_number: number.to_string(), ..Person::default() };
        store.contacts().add(&[(Uuid::now_v7(), person)], &tags, Timestamp::now()).await.unwrap();
    }
    let path = World::send(world.connected);
    let body = |more: Value| {
        let mut body = json!({"type": "text", "message": "x", "without_contact_tag_id": [staff, press]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body.to_string()
    };
    let wide = body(json!({"contact_tag_id": all, "phone_number": [FIRST + 3, FIRST + 4, SHORT]}));
    for path in [format!("{path}?dry_run=true"), path.clone()] {
        let told = service.post(&path, key, wide.clone()).await.json();
        assert_eq!((&told["recipients_count"], &told["skipped_count"]), (&json!(2), &json!(4)), "{told}");
        let skipped = told["skipped"].as_array().unwrap();
        let mut numbers: Vec<_> = skipped.iter().map(|entry| entry["input"].as_str().unwrap()).collect();
        numbers.sort_unstable();
        let mut left_out = [FIRST + 1, FIRST + 2, FIRST + 3, SHORT].map(|number| format!("+{number}"));
        left_out.sort_unstable();
        assert_eq!(numbers, left_out, "{told}");
        assert!(skipped.iter().all(|entry| entry["code"] == "left_out"), "{told}");
        assert!(
            skipped.iter().all(|entry| entry["reason"] == "has a tag that the send leaves out"),
            "{told}"
        );
    }
    // What was left out stays so, whatever the tags do later.
    let record = service.get("/api/v1/sends?limit=1", key).await.json()["data"][0].clone();
    let mut without: Vec<Uuid> = serde_json::from_value(record["without_contact_tag_ids"].clone()).unwrap();
    let mut named = vec![staff, press];
    without.sort_unstable();
    named.sort_unstable();
    assert_eq!((without, &record["contact_tag_ids"]), (named, &json!([all])), "{record}");
    assert_eq!((&record["recipients_count"], &record["name"]), (&json!(2), &json!("x to all")), "{record}");
    let by_tag = service.get(&format!("/api/v1/sends?contact_tag_id={staff}"), key).await.json();
    assert_eq!(by_tag["totalRecords"], 0, "it does not go to the tag: {by_tag}");

    let one = service.post(&path, key, body(json!({"phone_number": FIRST + 3}))).await;
    let told = one.json();
    assert_eq!((one.status, &told["code"]), (400, &json!("no_valid_recipients")), "{told}");
    assert_eq!(told["skipped"][0]["code"], "left_out", "{told}");
}

#[tokio::test]
async fn a_tag_to_leave_out_that_is_none_is_refused() {
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let path = World::send(world.connected);
    for (without, code) in [
        (json!("vip"), "invalid_field"),
        (json!(7), "invalid_field"),
        (json!(Uuid::nil()), "invalid_field"),
        (json!(world.foreign_tag), "invalid_field"),
        (json!(vec![Uuid::nil(); 101]), "too_many_tags"),
    ] {
        let body = json!({
            "type": "text", "message": "x", "phone_number": FIRST.to_string(), "without_contact_tag_id": without,
        });
        for path in [path.clone(), format!("{path}?dry_run=true")] {
            let refused = service.post(&path, key, body.to_string()).await;
            let told = refused.json();
            assert_eq!((refused.status, &told["code"]), (400, &json!(code)), "{without}: {told}");
            assert_eq!(told["param"], "without_contact_tag_id", "{without}: {told}");
        }
    }
    assert_eq!(service.get("/api/v1/sends", key).await.json()["totalRecords"], 0);
}
