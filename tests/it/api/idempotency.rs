//! Requests with an `Idempotency-Key`: carried out once, even if they are repeated or come at the same time.

use std::pin::pin;

use futures_util::future::join_all;
use futures_util::poll;
use pombo::domain::request::{BusinessRequest, Limits};
use pombo::engine::{Claim, Error, Turn};
use pombo::error::Code;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::database::{Universe, stores};
use crate::harness::{Answer, Company};
use crate::running::{Running, until};

stores!(a_request_repeated_after_a_restart_has_the_first_answer);

fn text(message: &str) -> String {
    json!({"type": "text", "message": message, "phone_number": ["5511988887777", "12"]}).to_string()
}

async fn post(world: &World, company: &Company, path: &str, key: &[u8], body: String) -> Answer {
    let request = world.service.request(Method::POST, path).bearer_auth(&company.key).body(body);
    let key = reqwest::header::HeaderValue::from_bytes(key).unwrap();
    Answer::to(request.header("idempotency-key", key)).await
}

async fn sends(world: &World, company: &Company) -> Value {
    world.service.get("/api/v1/sends", &company.key).await.json()["totalRecords"].clone()
}

#[tokio::test]
async fn a_repeated_request_has_the_first_answer_byte_for_byte() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let expires = json!({"type": "text", "message": "x", "phone_number": "5511988887777", "expires_at": "2090-01-01T00:00:00Z"});
    for (key, body) in [("one", text("x")), ("two", expires.to_string())] {
        let first = post(&world, &world.acme, &path, key.as_bytes(), body.clone()).await;
        assert_eq!((first.status, first.header("idempotency-replayed")), (202, ""));
        for _ in 0..2 {
            let again = post(&world, &world.acme, &path, key.as_bytes(), body.clone()).await;
            assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"));
            assert_eq!(again.body, first.body);
            assert_eq!(again.header("content-type"), first.header("content-type"));
        }
    }
    assert_eq!(sends(&world, &world.acme).await, 2);
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_company() {
    let world = World::new().await;
    let path = World::send(world.connected);
    assert_eq!(post(&world, &world.acme, &path, b"k", text("x")).await.status, 202);
    for (path, body) in [
        (path.clone(), text("y")),
        (path.clone(), "not even JSON".to_owned()),
        (format!("{path}?dry_run=true"), text("x")),
        (World::send(world.disconnected), text("x")),
        (World::web_send(world.web), text("x")),
    ] {
        let answer = post(&world, &world.acme, &path, b"k", body).await;
        assert_eq!(
            (answer.status, answer.code().as_deref()),
            (422, Some("idempotency_key_reused")),
            "{path}"
        );
    }
    let theirs = post(&world, &world.globex, &World::send(world.foreign), b"k", text("y")).await;
    assert_eq!((theirs.status, theirs.header("idempotency-replayed")), (202, ""));
}

#[tokio::test]
async fn a_refused_or_dry_run_request_may_be_corrected_under_its_key() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let refused = post(&world, &world.acme, &path, b"k", text(" ")).await;
    assert_eq!(refused.code().as_deref(), Some("missing_message"));
    let nobody = json!({"type": "text", "message": "x", "phone_number": "12"}).to_string();
    let refused = post(&world, &world.acme, &path, b"k", nobody).await;
    assert_eq!(refused.code().as_deref(), Some("no_valid_recipients"));
    let dry_run = post(&world, &world.acme, &format!("{path}?dry_run=true"), b"k", text("x")).await;
    assert_eq!(dry_run.status, 200);
    let web = post(&world, &world.acme, &World::web_send(world.web), b"k", "{}".to_owned()).await;
    assert_eq!(web.code().as_deref(), Some("missing_type"));
    let accepted = post(&world, &world.acme, &path, b"k", text("x")).await;
    assert_eq!((accepted.status, accepted.header("idempotency-replayed")), (202, ""));
}

#[tokio::test]
async fn only_one_of_many_simultaneous_requests_under_one_key_is_carried_out() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let at_once = (0..8).map(|_| post(&world, &world.acme, &path, b"k", text("x")));
    let (mut carried_out, mut told) = (Vec::new(), Vec::new());
    for answer in join_all(at_once).await {
        match (answer.status, answer.header("idempotency-replayed")) {
            (202, "") => carried_out.push(answer.body),
            (202, "true") => told.push(answer.body),
            _ => assert_eq!(
                (answer.status, answer.code().as_deref(), answer.header("retry-after")),
                (409, Some("idempotency_in_progress"), "1")
            ),
        }
    }
    assert_eq!(carried_out.len(), 1);
    assert!(told.iter().all(|body| *body == carried_out[0]));
    assert_eq!(sends(&world, &world.acme).await, 1);
    let after = post(&world, &world.acme, &path, b"k", text("x")).await;
    assert_eq!((after.header("idempotency-replayed"), &after.body), ("true", &carried_out[0]));
}

#[tokio::test]
async fn repeats_of_a_finished_request_at_the_same_moment_all_have_its_answer() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let first = post(&world, &world.acme, &path, b"k", text("x")).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (202, ""));
    for _ in 0..5 {
        let at_once = (0..40).map(|_| post(&world, &world.acme, &path, b"k", text("x")));
        for again in join_all(at_once).await {
            assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"), "{}", again.body);
            assert_eq!(again.body, first.body);
        }
    }
    let another = (0..40).map(|_| post(&world, &world.acme, &path, b"k", text("y")));
    for another in join_all(another).await {
        assert_eq!((another.status, another.code().as_deref()), (422, Some("idempotency_key_reused")));
    }
    assert_eq!(sends(&world, &world.acme).await, 1);
}

#[tokio::test]
async fn a_key_that_is_no_key_is_refused_after_the_channel_and_before_the_body_is_parsed() {
    let world = World::new().await;
    let path = World::send(world.connected);
    let too_long = "k".repeat(256);
    for hostile in [b"" as &[u8], b"two words", b"a\tb", b"caf\xc3\xa9", b"\xff\xfe", too_long.as_bytes()] {
        for path in [&path, &World::web_send(world.web)] {
            let answer = post(&world, &world.acme, path, hostile, "{".to_owned()).await;
            assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_idempotency_key")));
        }
        let unknown = post(&world, &world.acme, &World::send("x"), hostile, "{".to_owned()).await;
        assert_eq!(unknown.code().as_deref(), Some("channel_not_found"));
        let large = post(&world, &world.acme, &path, hostile, " ".repeat(17 * 1024)).await;
        assert_eq!(large.code().as_deref(), Some("body_too_large"));
    }
    let twice = world.service.request(Method::POST, &path).bearer_auth(&world.acme.key).body("{");
    let twice = twice.header("idempotency-key", "a").header("idempotency-key", "a");
    assert_eq!(Answer::to(twice).await.code().as_deref(), Some("invalid_idempotency_key"));
    for strange in [r#""quoted""#, r#"'";--\{}[]$1%_"#, "k".repeat(255).as_str()] {
        let first = post(&world, &world.acme, &path, strange.as_bytes(), text("x")).await;
        let again = post(&world, &world.acme, &path, strange.as_bytes(), text("x")).await;
        assert_eq!((first.status, again.body), (202, first.body), "{strange}");
    }
}

#[actix_web::test]
async fn a_client_that_disconnects_before_the_answer_gets_it_on_its_retry() {
    let world = World::new().await;
    let (engine, company) = (world.service.engine(), world.acme.id);
    let claim = || Claim { key: "k".to_owned(), fingerprint: [7; 32] };
    let Ok(Turn::First(held)) = engine.claim(company, claim()).await else { panic!("not the first") };
    let channel = engine.channel(world.connected).await.unwrap().unwrap();
    let request = BusinessRequest::parse(text("x").as_bytes(), &Limits::default()).unwrap();
    {
        let mut sending = pin!(engine.send(&channel, request, Some(held)));
        assert!(poll!(&mut sending).is_pending());
    }
    let mut told = None;
    until("the answer kept", async || match engine.claim(company, claim()).await {
        Ok(Turn::Repeated(accepted)) => {
            told = Some(accepted);
            true
        }
        Ok(Turn::First(_) | Turn::Told(_)) => panic!("the key was given back before the send was over"),
        Err(Error::Refused(refusal)) => {
            assert_eq!(refusal.code, Code::IdempotencyInProgress);
            false
        }
        Err(error) => panic!("{error}"),
    })
    .await;
    let told = told.unwrap();
    assert_eq!((told.recipients, told.skipped.count), (1, 1));
    let shown = world.service.get(&format!("/api/v1/sends/{}", told.send_id), &world.acme.key).await;
    assert_eq!((shown.status, sends(&world, &world.acme).await), (200, json!(1)));
}

async fn a_request_repeated_after_a_restart_has_the_first_answer(universe: &Universe) {
    let mut running = Running::start(universe, |_| {}).await;
    let tag = running.tag("everyone", 5_511_900_000_000, 60_000).await;
    let path = format!("/api/v1/chat/{}/messages", running.channel);
    // More recipients than are written in one step.
    let bodies = [
        json!({"type": "text", "message": "x", "phone_number": "5511988887777"}),
        json!({"type": "text", "message": "x", "contact_tag_id": tag, "send_at": "2020-01-01T00:00:00Z"}),
    ];
    let mut first = Vec::new();
    for (key, body) in ["one", "many"].iter().zip(&bodies) {
        first.push(running.ask_once(&path, key, body).await);
    }
    running.restart().await;
    for ((key, body), first) in ["one", "many"].iter().zip(&bodies).zip(first) {
        assert_eq!((first.status, first.header("idempotency-replayed")), (202, ""), "{}", first.body);
        let again = running.ask_once(&path, key, body).await;
        assert_eq!((again.status, again.header("idempotency-replayed")), (202, "true"));
        assert_eq!(again.body, first.body);
    }
    running.end().await;
}
