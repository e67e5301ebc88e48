//! Sends with values of each recipient in their body: problems, counts, references and limits.

use pombo::api::Options;
use pombo::domain::channel::{Kind, Status};
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::{Answer, Company, Service};

const ANA: u64 = 5_511_900_000_001;

/// A service, a company, and the path of its sends.
async fn shop(options: Options) -> (Service, Company, String) {
    let service = Service::start_with(options).await;
    let acme = service.company("acme").await;
    let shop = service.channel(&acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    (service, acme, World::send(shop))
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn text(recipients: Value) -> Value {
    json!({"type": "text", "message": "{{value.name|you}}: {{value.order}}", "recipients": recipients})
}

#[tokio::test]
async fn problems_are_named_counted_and_listed_and_unused_values_are_ignored() {
    let (service, acme, path) = shop(Options::default()).await;
    let mut body = text(json!([
        {"phone_number": ANA, "values": {"order": "A-1", "colour": "red"}, "reference": "crm-1"},
        {"phone_number": "12", "values": {"order": "A-2"}},
        {"phone_number": ANA + 2, "values": {"name": "Eva"}},
        {"phone_number": ANA + 3, "values": {"order": 7}},
    ]));
    let refused = {
        body["on_skipped"] = json!("refuse");
        service.post(&path, &acme.key, body.to_string()).await
    };
    let counts = json!({"invalid_number": 1, "value_missing": 1});
    assert_eq!(
        (refused.status, refused.code().as_deref()),
        (422, Some("recipients_skipped")),
        "{}",
        refused.body
    );
    assert_eq!((&refused.json()["skipped_count"], &refused.json()["skipped_counts"]), (&json!(2), &counts));
    assert_eq!(service.get("/api/v1/sends", &acme.key).await.json()["totalRecords"], 0);

    body["on_skipped"] = json!("send");
    body["values"] = json!({"shop": "Acme"});
    let dry = service.post(&format!("{path}?dry_run=true"), &acme.key, body.to_string()).await.json();
    let example = |of: u64, text: &str| json!({"recipient": format!("+{of}"), "content": {"type": "text", "message": text}});
    assert_eq!(dry["examples"], json!([example(ANA, "you: A-1"), example(ANA + 3, "you: 7")]), "{dry}");
    assert_eq!((&dry["recipients_count"], &dry["skipped_counts"]), (&json!(2), &counts));

    let post = async |body: &Value| {
        let request =
            service.request(Method::POST, &path).bearer_auth(&acme.key).header("idempotency-key", "k");
        Answer::to(request.body(body.to_string())).await
    };
    let sent = post(&body).await;
    let told = sent.json();
    assert_eq!((sent.status, &told["recipients_count"], &told["skipped_counts"]), (202, &json!(2), &counts));
    assert_eq!(told["ignored"], json!(["values.colour", "values.shop"]), "{told}");
    let again = post(&body).await;
    assert_eq!((again.header("idempotency-replayed"), &again.body), ("true", &sent.body));

    let send = format!("/api/v1/sends/{}", told["send_id"].as_str().unwrap());
    let skipped = service.get(&format!("{send}/skipped"), &acme.key).await.json();
    let entry = |at: usize| {
        let entry = &skipped["data"][at];
        (entry["index"].clone(), entry["code"].clone(), entry["field"].clone(), entry["input"].clone())
    };
    assert_eq!(entry(0), (json!(1), json!("invalid_number"), json!("phone_number"), json!("12")));
    let missing = (json!(2), json!("value_missing"), json!("values.order"), json!(format!("+{}", ANA + 2)));
    assert_eq!((entry(1), &skipped["totalRecords"]), (missing, &json!(2)));
}

#[tokio::test]
async fn a_reference_is_shown_with_its_message_and_finds_it() {
    let (service, acme, path) = shop(Options::default()).await;
    let globex = service.company("globex").await;
    let of = |number: u64, reference: &str| json!({"phone_number": number, "values": {"order": "A"}, "reference": reference});
    let body = text(
        json!([of(ANA + 1, "=crm"), {"phone_number": ANA, "values": {"order": "B"}}, of(ANA + 2, "crm-2")]),
    );
    let sent = service.post(&path, &acme.key, body.to_string()).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    let send = sent.json()["send_id"].as_str().unwrap().to_owned();
    let messages = format!("/api/v1/sends/{send}/messages");
    let listed = service.get(&messages, &acme.key).await.json()["data"].clone();
    let names = |records: &[Value]| -> Vec<Value> {
        records.iter().map(|record| record["message_reference"].clone()).collect()
    };
    let expected = [Value::Null, json!("=crm"), json!("crm-2")];
    assert_eq!(names(listed.as_array().unwrap()), expected);
    let whole = async |kind: &str| {
        let request = service.request(Method::GET, &messages).bearer_auth(&acme.key).header("accept", kind);
        Answer::to(request).await.body
    };
    let lines: Vec<Value> =
        whole("application/x-ndjson").await.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(names(&lines), expected);
    let table = whole("text/csv").await;
    let last = |line: &str| line.rsplit(',').next().unwrap().to_owned();
    assert_eq!(table.lines().map(last).collect::<Vec<_>>(), ["message_reference", "", "'=crm", "crm-2"]);
    let one = service.get(&format!("{messages}/2"), &acme.key).await.json();
    assert_eq!(one["message"]["message_reference"], "crm-2", "{one}");

    let find = async |query: &str, key: &str| {
        let found = service.get(&format!("/api/v1/messages?{query}"), key).await;
        assert_eq!(found.status, 200, "{}", found.body);
        found.json()
    };
    let found = find("message_reference=crm-2", &acme.key).await;
    assert_eq!((&found["totalRecords"], &found["data"][0]["send_id"]), (&json!(1), &json!(send)), "{found}");
    assert_eq!(found["data"][0]["recipient"], format!("+{}", ANA + 2));
    let other = format!("message_reference=crm-2&recipient={ANA}");
    for (query, key) in [(other.as_str(), &acme.key), ("message_reference=crm-2", &globex.key)] {
        assert_eq!(find(query, key).await["totalRecords"], 0, "{query}");
    }
    let person = find(&format!("recipient={}", ANA + 1), &acme.key).await;
    assert_eq!(person["data"][0]["message_reference"], "=crm", "{person}");
    let skipped = service.get(&format!("/api/v1/sends/{send}/skipped"), &globex.key).await;
    assert_eq!((skipped.status, skipped.code().as_deref()), (404, Some("send_not_found")));
}

#[tokio::test]
async fn only_a_body_with_recipients_may_be_larger_than_others() {
    let (service, acme, path) =
        shop(Options { body_bytes: 2_048, values_body_bytes: 32_768, ..Options::default() }).await;
    let recipient = |of: u64| json!({"phone_number": ANA + of, "values": {"order": format!("A-{of}")}});
    let mut body = text((0..100).map(recipient).collect());
    let sent = service.post(&path, &acme.key, body.to_string()).await;
    assert_eq!((sent.status, &sent.json()["recipients_count"]), (202, &json!(100)), "{}", sent.body);
    body["recipients"] = (0..1_000).map(recipient).collect();
    let numbers: Vec<u64> = (0..200).map(|of| ANA + of).collect();
    let plain = json!({"type": "text", "message": "x", "phone_number": numbers});
    for too_large in [body, plain] {
        let refused = service.post(&path, &acme.key, too_large.to_string()).await;
        assert_eq!((refused.status, refused.code().as_deref()), (413, Some("body_too_large")));
    }
}
