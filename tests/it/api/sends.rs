//! Sends as their company sees and controls them.

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Reason, ReasonCode, Status};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::World;
use crate::harness::{Answer, Company, Service};
use crate::running::until;

const LATER: &str = "2090-01-31T09:00:00.007-03:00";

/// The id of a send of these fields, to one number if they name nobody.
async fn send(service: &Service, company: &Company, channel: Uuid, fields: Value) -> String {
    let mut body = json!({"type": "text", "message": "x", "phone_number": "5511988887777"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let answer = service.post(&World::send(channel), &company.key, body.to_string()).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

/// A moment an hour from now, as requests give it.
fn in_an_hour() -> String {
    Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string()
}

async fn shop(service: &Service, company: &Company) -> Uuid {
    service.channel(company, Kind::BusinessAccount, "shop", Status::Connected).await.id
}

fn ids(answer: &Answer) -> Vec<String> {
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    answer.json()["data"].as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn a_send_is_shown_with_where_its_messages_are_and_why_it_waits() {
    let world = World::new().await;
    let send_at = in_an_hour();
    let values = [json!({"type": "text", "text": "Ana"}), json!({"type": "text", "text": "7"})];
    let fields = json!({
        "type": "template", "template_id": world.approved, "send_at": send_at, "expires_at": LATER,
        "components": [{"type": "body", "parameters": &values}],
        "phone_number": ["5511988887777", "5511988887778", "12"],
    });
    let id = send(&world.service, &world.acme, world.connected, fields).await;
    let shown = world.service.get(&format!("/api/v1/sends/{id}"), &world.acme.key).await;
    let mut record = shown.json();
    assert!(Timestamp::parse(record["created_at"].take().as_str().unwrap()).is_ok());
    assert_eq!(
        record,
        json!({
            "id": id,
            "name": "shipped to 2 people",
            "channel_id": world.connected,
            "type": "template",
            "template": {"id": world.approved, "name": "shipped", "language": "pt_BR"},
            "state": "scheduled",
            "recipients_count": 2,
            "skipped_count": 1,
            "contact_tag_ids": [],
            "without_contact_tag_ids": [],
            "segment_ids": [],
            "retry_of": null,
            "retried_by": [],
            "template_instead_id": null,
            "counts": {
                "queued": 2, "sending": 0, "sent": 0, "delivered": 0, "read": 0, "failed": 0, "expired": 0,
                "canceled": 0, "suppressed": 0, "unknown": 0,
            },
            "answered_count": 0,
            "rate_per_second": null,
            "estimated_end": null,
            "waiting": {
                "reason": "scheduled",
                "sentence": "it is scheduled: nothing of it goes before its `send_at`",
                "until": send_at,
            },
            "send_at": send_at,
            "expires_at": "2090-01-31T12:00:00.007Z",
            "reference": null,
            "metadata": {},
            "content": {
                "type": "template", "template_id": world.approved, "language": "pt_BR",
                "components": [{"type": "body", "parameters": values}],
            },
            "created_at": null,
            "finished_at": null,
            "end_reason": null,
        })
    );
    let listed = world.service.get("/api/v1/sends", &world.acme.key).await;
    let mut without_content = shown.json();
    without_content.as_object_mut().unwrap().remove("content");
    assert_eq!(listed.json()["data"], json!([without_content]));
}

#[tokio::test]
async fn sends_are_listed_newest_first_by_state_and_channel() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let (shop, other, theirs) =
        (shop(&service, &acme).await, shop(&service, &acme).await, shop(&service, &globex).await);
    send(&service, &globex, theirs, json!({})).await;
    let scheduled = send(&service, &acme, shop, json!({"send_at": in_an_hour()})).await;
    let active = send(&service, &acme, other, json!({})).await;
    let past = send(&service, &acme, shop, json!({"send_at": "2020-01-01T00:00:00Z"})).await;
    let paused = send(&service, &acme, shop, json!({})).await;
    let canceled = send(&service, &acme, shop, json!({})).await;
    for (id, action) in [(&paused, "pause"), (&canceled, "cancel")] {
        service.post(&format!("/api/v1/sends/{id}/{action}"), &acme.key, "").await;
    }
    let all = [&canceled, &paused, &past, &active, &scheduled];
    let of_acme = shop.to_string();
    for (query, expected) in [
        (String::new(), &all[..]),
        ("state=&channel_id=".to_owned(), &all),
        ("limit=2".to_owned(), &all[..2]),
        ("limit=2&page=3".to_owned(), &all[4..]),
        ("page=2".to_owned(), &[]),
        ("state=scheduled".to_owned(), &[&scheduled]),
        ("state=active".to_owned(), &[&past, &active]),
        ("state=paused".to_owned(), &[&paused]),
        ("state=canceled".to_owned(), &[&canceled]),
        ("state=finished".to_owned(), &[]),
        ("state=expired".to_owned(), &[]),
        (format!("channel_id={of_acme}"), &[&canceled, &paused, &past, &scheduled]),
        (format!("state=active&channel_id={of_acme}"), &[&past]),
        (format!("channel_id={theirs}"), &[]),
        (format!("channel_id={}", Uuid::nil()), &[]),
    ] {
        let answer = service.get(&format!("/api/v1/sends?{query}"), &acme.key).await;
        let expected: Vec<_> = expected.iter().map(|id| (*id).clone()).collect();
        assert_eq!((answer.status, ids(&answer)), (200, expected), "{query}");
    }
    for query in ["state=Active", "state=done", "state=%ff", "channel_id=shop", "channel_id=%00"] {
        let answer = service.get(&format!("/api/v1/sends?{query}"), &acme.key).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{query}");
    }
}

#[tokio::test]
async fn a_send_is_paused_resumed_and_canceled_repeatedly_until_it_ends() {
    let service = Service::start().await;
    let acme = service.company("acme").await;
    let shop = shop(&service, &acme).await;
    let id = send(&service, &acme, shop, json!({"phone_number": ["5511988887777", "5511988887778"]})).await;
    for (action, status, state) in [
        ("resume", 200, "active"),
        ("pause", 200, "paused"),
        ("pause", 200, "paused"),
        ("resume", 200, "active"),
        ("pause", 200, "paused"),
        ("cancel", 200, "canceled"),
        ("cancel", 200, "canceled"),
        ("pause", 409, ""),
        ("resume", 409, ""),
    ] {
        let answer = service.post(&format!("/api/v1/sends/{id}/{action}"), &acme.key, "").await;
        assert_eq!(answer.status, status, "{action}: {}", answer.body);
        match status {
            200 => assert_eq!(answer.json()["state"], state, "{action}"),
            _ => assert_eq!(answer.code().as_deref(), Some("send_is_over"), "{action}"),
        }
    }
    let canceled = service.get(&format!("/api/v1/sends/{id}"), &acme.key).await.json();
    assert_eq!((&canceled["counts"]["canceled"], &canceled["waiting"]), (&json!(2), &Value::Null));
    assert!(canceled["finished_at"].is_string());
}

#[tokio::test]
async fn a_scheduled_send_is_moved_until_it_begins_or_is_over() {
    let service = Service::start().await;
    let (acme, globex) = (service.company("acme").await, service.company("globex").await);
    let shop = shop(&service, &acme).await;
    let hours = |hours: u64| Timestamp::now().plus(std::time::Duration::from_secs(hours * 3_600)).to_string();
    let (end, later) = (hours(9), hours(8));
    let id = send(&service, &acme, shop, json!({"send_at": in_an_hour(), "expires_at": end})).await;
    let change = async |id: &str, company: &Company, body: Value| {
        let request = service.request(Method::PATCH, &format!("/api/v1/sends/{id}"));
        Answer::to(request.bearer_auth(&company.key).body(body.to_string())).await
    };
    // The second request finds what the first one did.
    for _ in 0..2 {
        let moved = change(&id, &acme, json!({"send_at": later})).await;
        assert_eq!(moved.status, 200, "{}", moved.body);
        let record = moved.json();
        assert_eq!((&record["send_at"], &record["waiting"]["until"]), (&json!(later), &json!(later)));
        assert_eq!((&record["state"], &record["expires_at"]), (&json!("scheduled"), &json!(end)));
    }
    let operator = service.operator("bea", None).await;
    let changes = service.get(&format!("/operator/v1/changes?subject={id}"), &operator).await.json();
    let [change_made] = &changes["data"].as_array().unwrap()[..] else { panic!("{changes}") };
    assert_eq!(
        (&change_made["after"]["state"], &change_made["after"]["send_at"]),
        (&json!("moved"), &json!(later))
    );
    for (start, code) in [
        (json!("2020-01-01T00:00:00Z"), "invalid_schedule"),
        (json!("2090-01-01T00:00:00Z"), "invalid_schedule"),
        (json!(end), "invalid_schedule"),
        (json!("tomorrow"), "invalid_field"),
        (json!(7), "invalid_field"),
        (Value::Null, "invalid_field"),
    ] {
        let refused = change(&id, &acme, json!({"send_at": start})).await;
        assert_eq!(
            (refused.status, refused.code().as_deref()),
            (400, Some(code)),
            "{start}: {}",
            refused.body
        );
        assert_eq!(refused.json()["param"], "send_at", "{start}");
    }
    let theirs = change(&id, &globex, json!({"send_at": later})).await;
    assert_eq!((theirs.status, theirs.code().as_deref()), (404, Some("send_not_found")));
    assert_eq!(service.get(&format!("/api/v1/sends/{id}"), &acme.key).await.json()["send_at"], later);
    let begun = send(&service, &acme, shop, json!({})).await;
    service.post(&format!("/api/v1/sends/{id}/cancel"), &acme.key, "").await;
    for (id, code) in [(&begun, "send_has_begun"), (&id, "send_is_over")] {
        let refused = change(id, &acme, json!({"send_at": later})).await;
        assert_eq!((refused.status, refused.code().as_deref()), (409, Some(code)), "{}", refused.body);
    }
}

#[tokio::test]
async fn an_id_that_names_no_send_is_not_found_whatever_it_is() {
    let world = World::new().await;
    let nil = Uuid::nil().to_string();
    for id in ["x", "0", "%ff", "%00", "..%2f..", "a%20b", "💥", &nil, &world.foreign_send.to_string()] {
        let path = format!("/api/v1/sends/{id}");
        let mut answers = vec![world.service.get(&path, &world.acme.key).await];
        answers.push(world.service.get(&format!("{path}/messages"), &world.acme.key).await);
        for action in ["pause", "resume", "cancel"] {
            answers.push(world.service.post(&format!("{path}/{action}"), &world.acme.key, "").await);
        }
        for answer in answers {
            assert_eq!((answer.status, answer.code().as_deref()), (404, Some("send_not_found")), "{id}");
        }
    }
    let theirs = format!("/api/v1/sends/{}", world.foreign_send);
    assert_eq!(world.service.get(&theirs, &world.globex.key).await.json()["state"], "active");
}

#[tokio::test]
async fn a_send_says_what_holds_it() {
    let world = World::new().await;
    let values = [json!({"type": "text", "text": "Ana"}), json!({"type": "text", "text": "7"})];
    let fields = json!({
        "type": "template", "template_id": world.approved,
        "components": [{"type": "body", "parameters": values}],
    });
    let id = send(&world.service, &world.acme, world.connected, fields).await;
    let path = format!("/api/v1/sends/{id}");
    let waiting = async || world.service.get(&path, &world.acme.key).await.json()["waiting"].clone();

    world.service.templates(&world.acme, &[("shipped", "pt_BR", "PAUSED")]).await;
    let held = waiting().await;
    assert_eq!((&held["reason"], &held["until"]), (&json!("template_paused"), &Value::Null));
    assert!(held["sentence"].as_str().unwrap().contains("template shipped is PAUSED"), "{held}");

    let store = world.service.store();
    let channel = store.channels().find(world.connected).await.unwrap().unwrap();
    let reason = Reason {
        code: ReasonCode::CredentialsRefused.into(),
        sentence: "the provider refused the access token".to_owned(),
        provider_code: Some(190),
    };
    let refused =
        Connection { status: Status::Disconnected, reason: Some(reason), since: channel.created_at };
    store.channels().set_connection(channel.id, &channel.connection, &refused).await.unwrap().unwrap();
    until("the channel seen disconnected", async || waiting().await["reason"] == "disconnected").await;
    assert!(waiting().await["sentence"].as_str().unwrap().contains("refused the access token"));

    world.service.post(&format!("{path}/pause"), &world.acme.key, "").await;
    assert_eq!(waiting().await["reason"], "paused");
}
