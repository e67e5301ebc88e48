//! Requests with an `Idempotency-Key`: carried out once, no matter how often they are repeated.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::{Sent, World, messages, text};
use super::{JOAO, MARIA};
use crate::harness::Answer;
use crate::media::host::Host;

async fn post(world: &World, key: &str, body: &Value) -> Answer {
    let request =
        world.service.request(Method::POST, &messages(&world.own)).bearer_auth(&world.own.company.key);
    let request = request.header("idempotency-key", key).body(body.to_string());
    Answer::to(request).await
}

/// The first answer again, byte for byte.
fn same(again: &Answer, first: &Answer) {
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, "true"), "{}", again.body);
    assert_eq!((&again.body, again.header("content-type")), (&first.body, first.header("content-type")));
}

#[tokio::test]
async fn a_repeated_request_has_the_first_answer_and_sends_nothing() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let first = post(&world, "one", &text(MARIA, "oi")).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (200, ""), "{}", first.body);
    same(&post(&world, "one", &text(MARIA, "oi")).await, &first);
    let sent = Sent::new(first.json());
    let message = world.whatsapp.expect_message(&sent.id).await;
    maria.reads(&message);
    world.reaches(&sent.send, "read").await;
    same(&post(&world, "one", &text(MARIA, "oi")).await, &first);
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (1, 1));
}

#[tokio::test]
async fn a_repeated_file_has_the_first_answer_and_is_not_fetched_again() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let host = Host::body("", b"%PDF-1.7\n").await;
    let body = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "document", "link": host.link("/x.pdf"),
    });
    let first = post(&world, "one", &body).await;
    assert_eq!(first.status, 200, "{}", first.body);
    same(&post(&world, "one", &body).await, &first);
    world.whatsapp.expect_message(&Sent::new(first.json()).id).await;
    assert_eq!((host.connections(), world.whatsapp.messages().len()), (1, 1));
}

#[tokio::test]
async fn another_process_has_the_first_answer_too() {
    let mut world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let first = post(&world, "one", &text(MARIA, "oi")).await;
    world.whatsapp.expect_message(&Sent::new(first.json()).id).await;
    world.restart().await;
    same(&post(&world, "one", &text(MARIA, "oi")).await, &first);
    assert_eq!(world.whatsapp.messages().len(), 1);
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let first = post(&world, "one", &text(MARIA, "oi")).await;
    assert_eq!(first.status, 200);
    let other = post(&world, "one", &text(MARIA, "oi!")).await;
    assert_eq!((other.status, other.code().as_deref()), (422, Some("idempotency_key_reused")));
    let second = post(&world, "two", &text(MARIA, "oi")).await;
    assert_eq!((second.status, second.header("idempotency-replayed")), (200, ""));
    assert_ne!(second.body, first.body);
}

#[tokio::test]
async fn a_request_that_was_refused_may_be_repeated_under_its_key() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let missing = json!({"phone_number": MARIA, "recipient_type": "number", "type": "text"});
    assert_eq!(post(&world, "k", &missing).await.code().as_deref(), Some("missing_message"));
    assert_eq!(post(&world, "k", &text(JOAO, "oi")).await.code().as_deref(), Some("not_on_whatsapp"));
    let file = json!({
        "phone_number": MARIA, "recipient_type": "number", "type": "image", "link": "http://nobody.invalid/x",
    });
    assert_eq!(post(&world, "k", &file).await.code().as_deref(), Some("media_unavailable"));
    let accepted = post(&world, "k", &text(MARIA, "oi")).await;
    assert_eq!((accepted.status, accepted.header("idempotency-replayed")), (200, ""), "{}", accepted.body);
    world.whatsapp.expect_message(&Sent::new(accepted.json()).id).await;
    assert_eq!(world.whatsapp.messages().len(), 1);
}

#[tokio::test]
async fn only_one_of_many_simultaneous_requests_under_one_key_is_carried_out() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let body = text(MARIA, "oi");
    let answers = join_all((0..8).map(|_| post(&world, "k", &body))).await;
    let mut first = None;
    for answer in &answers {
        match (answer.status, answer.header("idempotency-replayed"), answer.code().as_deref()) {
            (200, "", None) => assert!(first.replace(answer).is_none(), "two were carried out"),
            (200, "true", None) | (409, "", Some("idempotency_in_progress")) => {}
            _ => panic!("{answer:?}"),
        }
    }
    let first = first.expect("one is carried out");
    same(&post(&world, "k", &body).await, first);
    world.whatsapp.expect_message(&Sent::new(first.json()).id).await;
    assert_eq!(world.whatsapp.messages().len(), 1);
}
