//! The options of a business send: its time, and the dry run.

use std::time::Duration;

use pombo::clock::Timestamp;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::Answer;

const NUMBER: &str = "5511988887777";

async fn post(world: &World, query: &str, fields: Value) -> Answer {
    let mut body = json!({"type": "text", "message": "x", "phone_number": NUMBER});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let path = format!("{}{query}", World::send(world.connected));
    world.service.post(&path, &world.acme.key, body.to_string()).await
}

async fn sends(world: &World) -> Value {
    world.service.get("/api/v1/sends", &world.acme.key).await.json()["totalRecords"].clone()
}

#[tokio::test]
async fn a_schedule_is_answered_in_utc_and_only_when_it_was_given() {
    let world = World::new().await;
    let soon = Timestamp::now().plus(Duration::from_secs(90_000)).to_string();
    let fields = json!({"send_at": "2020-02-29T23:59:59-03:00", "expires_at": format!(" {soon} ")});
    let answer = post(&world, "", fields).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    assert_eq!(answer.json()["send_at"], "2020-03-01T02:59:59.000Z", "passed, which means at once");
    assert_eq!(answer.json()["expires_at"], soon);
    for absent in [json!({}), json!({"send_at": null, "expires_at": ""})] {
        let answer = post(&world, "", absent).await.json();
        assert_eq!((answer.get("send_at"), answer.get("expires_at")), (None, None));
    }
}

#[tokio::test]
async fn a_schedule_that_cannot_be_kept_is_refused_after_the_content_and_before_the_template() {
    let world = World::new().await;
    let hour = Duration::from_secs(3_600);
    let (now, next) = (Timestamp::now(), Timestamp::now().plus(hour).to_string());
    let (last, year) = (now.minus(hour).to_string(), now.plus(hour * 24 * 367).to_string());
    for (fields, code) in [
        (json!({"send_at": 7}), "invalid_field"),
        (json!({"send_at": {}}), "invalid_field"),
        (json!({"expires_at": true}), "invalid_field"),
        (json!({"send_at": "tomorrow"}), "invalid_field"),
        (json!({"expires_at": "2090-01-31T09:00:00"}), "invalid_field"),
        (json!({"send_at": "2090-02-30T09:00:00Z"}), "invalid_field"),
        (
            json!({"send_at": "tomorrow", "phone_number": [NUMBER, NUMBER, NUMBER, NUMBER]}),
            "too_many_recipients",
        ),
        (json!({"send_at": "tomorrow", "message": " "}), "missing_message"),
        (json!({"expires_at": last}), "invalid_schedule"),
        (json!({"send_at": next, "expires_at": next}), "invalid_schedule"),
        (json!({"send_at": year}), "invalid_schedule"),
        (
            json!({"expires_at": last, "type": "template", "template_id": 999_999, "components": []}),
            "invalid_schedule",
        ),
        (json!({"expires_at": last, "phone_number": "12"}), "invalid_schedule"),
    ] {
        let answer = post(&world, "", fields.clone()).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some(code)), "{fields}");
        let named = fields.as_object().unwrap().keys().find(|name| name.ends_with("_at")).unwrap();
        if code.starts_with("invalid") {
            assert!(answer.json()["error"].as_str().unwrap().contains(named), "{fields}: {}", answer.body);
        }
    }
    assert_eq!(sends(&world).await, 0);
}

#[tokio::test]
async fn a_dry_run_says_what_a_send_would_be_and_queues_nothing() {
    let world = World::new().await;
    let fields = json!({"phone_number": [NUMBER, "+55 11 98888-7777", "12"]});
    let answer = post(&world, "?dry_run=true", fields.clone()).await;
    assert_eq!(answer.status, 200);
    let mut dry_run = answer.json();
    assert!(
        Timestamp::parse(dry_run["estimated_end"].take().as_str().unwrap()).unwrap()
            > Timestamp::now().minus(Duration::from_secs(60))
    );
    let cost = dry_run.as_object_mut().unwrap().remove("cost").unwrap();
    assert_eq!(
        (&cost["category"], &cost["countries"][0]["messages"]),
        (&json!("service"), &json!(1)),
        "{cost}"
    );
    assert_eq!(
        dry_run,
        json!({
            "message": "Nothing was queued: this was a dry run",
            "dry_run": true,
            "recipients_count": 1,
            "skipped_count": 1,
            "skipped": [{"input": "12", "reason": "has fewer than 7 digits", "code": "invalid_number"}],
            "estimated_seconds": 1,
            "estimated_end": null,
            "binding": "messages_per_second",
        })
    );
    assert_eq!(sends(&world).await, 0);
    let start = Timestamp::now().plus(Duration::from_secs(7_200));
    let later = post(&world, "?dry_run=true", json!({"send_at": start.to_string()})).await.json();
    let end = Timestamp::parse(later["estimated_end"].as_str().unwrap()).unwrap();
    assert!(end > start && end < start.plus(Duration::from_secs(5)), "{later}");

    for meant in ["", "?dry_run=false"] {
        assert_eq!(post(&world, meant, json!({})).await.status, 202, "{meant}");
    }
    assert_eq!(sends(&world).await, 2);
    for unclear in ["", "1", "yes", "TRUE", "%ff", "true+x"] {
        let answer = post(&world, &format!("?dry_run={unclear}"), fields.clone()).await;
        assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{unclear}");
    }
}

#[tokio::test]
async fn a_dry_run_is_refused_like_the_send_that_it_stands_for() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let refused = [
        (path.as_str(), json!([])),
        (&path, json!({"type": "fax"})),
        (
            &path,
            json!({"type": "text", "message": "x", "phone_number": NUMBER, "expires_at": "2020-01-01T00:00:00Z"}),
        ),
        (&path, json!({"type": "template", "template_id": 999_999, "components": [], "phone_number": "12"})),
        (&path, json!({"type": "text", "message": "x", "phone_number": "12"})),
        (&path, json!({"type": "text", "message": "x", "contact_tag_id": ["a", "b"]})),
        (&World::send(world.disconnected), json!({"type": "text", "message": "x", "phone_number": "12"})),
        (&World::send(world.foreign), json!({})),
    ];
    for (path, body) in refused {
        let meant = world.service.post(path, &world.acme.key, body.to_string()).await;
        let dry_run =
            world.service.post(&format!("{path}?dry_run=true"), &world.acme.key, body.to_string()).await;
        assert!(meant.status >= 400, "{body}");
        let said = |answer: &Answer| {
            let mut said = answer.json();
            assert!(said.as_object_mut().unwrap().remove("request_id").is_some(), "{said}");
            (answer.status, said)
        };
        assert_eq!(said(&dry_run), said(&meant), "{body}");
    }
}
