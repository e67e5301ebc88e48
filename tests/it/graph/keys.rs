//! Keys at the door: every way of giving one, their scope, and their channels.

use std::time::Duration;

use pombo::api::Options;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::scope::{Scope, Scopes};
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::vault::api_key;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{Program, read, refused, with_fields};
use crate::harness::Service;

async fn start() -> Service {
    Service::start_changed(|config| {
        config.graph.enabled = true;
        // Nobody is there who could answer.
        config.graph.wait = Duration::ZERO;
    })
    .await
}

#[tokio::test]
async fn a_key_is_taken_wherever_programs_give_it_and_refused_as_meta_does() {
    let service = start().await;
    let acme = service.company("acme").await;
    let (url, key, client) = (format!("{}/v23.0/app", service.url()), acme.key.as_str(), Client::new());
    for request in [
        client.get(&url).header("Authorization", format!("Bearer {key}")),
        client.get(&url).header("Authorization", format!("OAuth {key}")),
        client.get(&url).header("X-API-Key", key),
        client.get(format!("{url}?access_token={key}")),
    ] {
        assert_eq!(read(request).await.0, 200);
    }
    let business = service.channel(&acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let path = format!("{}/v23.0/{}/messages", service.url(), business.phone_number_id.unwrap());
    let form =
        [("access_token", key), ("to", "5511900000001"), ("type", "text"), ("text", r#"{"body":"hi"}"#)];
    let answer = read(with_fields(client.post(&path), &form)).await;
    assert_eq!(answer.0, 200, "{}", answer.1);
    for request in [
        client.get(&url),
        client.get(&url).bearer_auth("pombo_none"),
        client.get(format!("{url}?access_token=")),
        with_fields(client.post(&path), &[("access_token", "pombo_none")]),
        client.post(&path).json(&json!({})),
    ] {
        assert_eq!(refused(&read(request).await), (401, 190, None));
    }
    let others: Scopes = Scope::ALL.into_iter().filter(|scope| *scope != Scope::Graph).collect();
    service.add_scoped_key(acme.id, "pombo_others", others).await;
    assert_eq!(refused(&read(client.get(&url).bearer_auth("pombo_others")).await), (403, 10, None));
    // A key of the door opens nothing else.
    service.add_scoped_key(acme.id, "pombo_door", Scopes::from_iter([Scope::Graph])).await;
    assert_eq!(read(client.get(&url).bearer_auth("pombo_door")).await.0, 200);
    assert_eq!(service.get("/api/v1/chat", "pombo_door").await.status, 403);
}

#[tokio::test]
async fn a_key_for_some_channels_sees_no_others() {
    let service = start().await;
    let acme = service.company("acme").await;
    let first = service.channel(&acme, Kind::BusinessAccount, "Shop", Status::Connected).await;
    let second = service.channel(&acme, Kind::BusinessAccount, "Bakery", Status::Connected).await;
    let session = service.channel(&acme, Kind::WebSession, "Counter", Status::Connected).await;
    let scopes = Scopes::from_iter([Scope::Graph]);
    let hash = api_key::hash("pombo_one");
    let new = NewKey { name: "one", prefix: "pombo_", hash, expires_at: None, scopes };
    let bound = [first.id];
    service.store().of(acme.id).keys().add_for(&Who::Pombo, new, Some(&bound)).await.unwrap();
    let program = Program::new(service.url(), "pombo_one");
    let own = first.phone_number_id.unwrap();
    let theirs = second.phone_number_id.unwrap();
    assert_eq!(program.get(&format!("/{own}")).await.0, 200);
    assert_eq!(refused(&program.get(&format!("/{theirs}")).await), (400, 100, Some(33)));
    let (_, accounts) = program.get("/me/whatsapp_business_accounts").await;
    let accounts = accounts["data"].as_array().unwrap().clone();
    assert_eq!(accounts.len(), 1, "the account of {} is not seen", session.name);
    let (_, numbers) = program.get(&format!("/{}/phone_numbers", accounts[0]["id"].as_str().unwrap())).await;
    assert_eq!(numbers["data"].as_array().map(Vec::len), Some(1), "{numbers}");
    let text = json!({ "to": "5511900000001", "text": { "body": "hi" } });
    assert_eq!(refused(&program.post(&format!("/{theirs}/messages"), &text).await), (400, 100, Some(33)));
    assert_eq!(program.post(&format!("/{own}/messages"), &text).await.0, 200);
    // What went through another channel is no message of this one.
    let all = Program::new(service.url(), &acme.key);
    let (status, sent) = all.post(&format!("/{theirs}/messages"), &text).await;
    assert_eq!(status, 200, "{sent}");
    let quoting = json!({ "to": "5511900000001", "text": { "body": "hi" },
        "context": { "message_id": sent["messages"][0]["id"] } });
    assert_eq!(refused(&program.post(&format!("/{own}/messages"), &quoting).await), (400, 131_009, None));
}

#[tokio::test]
async fn an_operator_binds_a_key_to_channels_of_its_company() {
    let service = Service::start_with(Options::default()).await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let operator = service.operator("ana", None).await;
    let own = service.channel(&acme, Kind::WebSession, "Counter", Status::Connected).await.id;
    let foreign = service.channel(&globex, Kind::WebSession, "Counter", Status::Connected).await.id;
    let path = format!("/operator/v1/companies/{}/keys", acme.id);
    let make = async |body: Value| service.post(&path, &operator, body.to_string()).await;
    let made = make(json!({ "name": "chatwoot", "channel_ids": [own] })).await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!((&made.json()["scopes"], &made.json()["channel_ids"]), (&json!(["graph"]), &json!([own])));
    for (scopes, channels) in [(json!(["graph"]), json!([foreign])), (json!(["graph", "send"]), json!([own]))]
    {
        let refused = make(json!({ "name": "no", "scopes": scopes, "channel_ids": channels })).await;
        assert_eq!(
            (refused.status, refused.code().as_deref()),
            (400, Some("invalid_field")),
            "{}",
            refused.body
        );
    }
    let listed = service.request(Method::GET, &path).bearer_auth(&operator).send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    assert_eq!(listed["data"][0]["channel_ids"], json!([own]));
    assert_eq!(listed["data"][1]["channel_ids"], Value::Null);
}
