//! Tags that a company does not have: a send lists them as skipped, and is refused if nobody else is named.

use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use serde_json::{Value, json};
use uuid::Uuid;

use super::past_send::FIRST;
use super::world::World;

fn entry(input: &str, reason: &str) -> Value {
    json!({"input": input, "reason": reason, "code": "tag_not_found"})
}

#[tokio::test]
async fn tags_that_the_company_does_not_have_are_listed_as_skipped() {
    const UNKNOWN: &str = "is no tag of this company";
    const NO_ID: &str = "is not the id of a tag (a UUID)";
    let world = World::new().await;
    let (service, key) = (&world.service, &world.acme.key);
    let store = service.store().of(world.acme.id);
    let own = store.tags().ensure("everyone", None).await.unwrap();
    let person = Person { phone_number: FIRST.to_string(), ..Person::default() };
    store.contacts().add(&[(Uuid::now_v7(), person)], &[own], Timestamp::now()).await.unwrap();
    let path = World::send(world.connected);
    let ask = async |path: &str, phone_number: Value, tags: Value| {
        let body = json!({
            "type": "text", "message": "x", "phone_number": phone_number, "contact_tag_id": tags,
        });
        service.post(path, key, body.to_string()).await
    };
    let (nobody, foreign) = (Uuid::nil().to_string(), world.foreign_tag.to_string());
    for path in [path.clone(), format!("{path}?dry_run=true")] {
        for (number, tags, skipped) in [
            (json!("5511988887777"), json!(nobody), json!([entry(&nobody, UNKNOWN)])),
            (json!("5511988887777"), json!(foreign), json!([entry(&foreign, UNKNOWN)])),
            (
                json!("5511988887777"),
                json!(["vip", nobody]),
                json!([entry("vip", NO_ID), entry(&nobody, UNKNOWN)]),
            ),
            (Value::Null, json!([own, foreign]), json!([entry(&foreign, UNKNOWN)])),
        ] {
            let accepted = ask(&path, number, tags.clone()).await;
            let told = accepted.json();
            assert!(matches!(accepted.status, 200 | 202), "{tags}: {told}");
            assert_eq!((&told["recipients_count"], &told["skipped"]), (&json!(1), &skipped), "{told}");
            assert_eq!(told["skipped_count"], skipped.as_array().unwrap().len());
            if let Some(send) = told["send_id"].as_str() {
                let shown = service.get(&format!("/api/v1/sends/{send}"), key).await.json();
                let tags = if tags.to_string().contains(&own.to_string()) { json!([own]) } else { json!([]) };
                assert_eq!(
                    (&shown["contact_tag_ids"], &shown["skipped_count"]),
                    (&tags, &told["skipped_count"])
                );
            }
        }
        for (tags, sentence, skipped) in [
            (json!(foreign), "1 entry: is no tag of this company", json!([entry(&foreign, UNKNOWN)])),
            (json!("vip"), "1 entry: is not the id of a tag (a UUID)", json!([entry("vip", NO_ID)])),
        ] {
            let refused = ask(&path, Value::Null, tags).await;
            let told = refused.json();
            assert_eq!((refused.status, &told["code"]), (400, &json!("no_valid_recipients")), "{told}");
            assert_eq!(told["error"], format!("nobody is left to send to: {sentence}"));
            assert_eq!((&told["skipped_count"], &told["skipped"]), (&json!(1), &skipped), "{told}");
        }
    }
}
