//! Dry runs: all checks of a real message, without a send.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::samples;
use super::world::{Account, Sent, World, messages, text, tier};
use super::{GROUP, JOAO, MARIA, OTHER};
use crate::harness::Answer;
use crate::media::host::{Host, bare};

/// The answer to a dry run of this body.
async fn tried(world: &World, account: &Account, body: &Value, key: Option<&str>) -> Answer {
    let request = world.service.request(Method::POST, &format!("{}?dry_run=true", messages(account)));
    let request = request.bearer_auth(&account.company.key).body(body.to_string());
    Answer::to(match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    })
    .await
}

/// The answer to a dry run that would send, without its times.
fn would_send(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mut body = answer.json();
    let words = body["message"].take();
    assert!(words.as_str().is_some_and(|words| words.contains("dry run")), "{words}");
    assert!(body["estimated_seconds"].take().is_u64(), "{}", answer.body);
    assert!(body["estimated_end"].take().is_string(), "{}", answer.body);
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

fn media(kind: &str, link: &str) -> Value {
    json!({"phone_number": MARIA, "recipient_type": "number", "type": kind, "link": link, "caption": "olha"})
}

async fn nothing_was_sent(world: &World) {
    assert_eq!((world.sends().await, world.whatsapp.messages().len()), (0, 0));
}

#[tokio::test]
async fn a_text_is_looked_at_and_not_sent() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let answer = tried(&world, &world.own, &text(MARIA, "oi"), None).await;
    let expected =
        json!({"dry_run": true, "recipients_count": 1, "remoteJid": format!("{MARIA}@s.whatsapp.net")});
    assert_eq!(would_send(&answer), expected);
    let group = json!({"phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "oi"});
    let answer = tried(&world, &world.own, &group, None).await;
    assert_eq!(would_send(&answer)["remoteJid"], format!("{GROUP}@g.us"));
    assert_eq!(world.whatsapp.lookups_of(MARIA), 1);
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn a_file_is_fetched_and_described_and_not_sent() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    let song = Host::body("", &samples::song()).await;
    let answer = tried(&world, &world.own, &media("audio", &song.link("/song.mp3")), None).await;
    let length = samples::song().len().to_string();
    let expected = json!({"mimetype": "audio/mpeg", "fileLength": length, "seconds": 4, "ptt": false});
    assert_eq!(would_send(&answer)["file"], expected);
    let paper = Host::body("", b"%PDF-1.7\n").await;
    let answer = tried(&world, &world.own, &media("document", &paper.link("/a.pdf")), None).await;
    let expected = json!({"mimetype": "application/pdf", "fileLength": "9", "fileName": "a.pdf"});
    assert_eq!(would_send(&answer)["file"], expected);
    assert_eq!((song.connections(), paper.connections()), (1, 1));
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn a_dry_run_is_refused_like_the_message_that_it_stands_for() {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(3)).await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "slow", json!({"messages_per_second": "2/h", "burst": 1})).await;
    let slow = world.account("globex", OTHER, "slow").await;
    let gone = Host::steps(bare(404, "")).await;
    for (account, body, status, code) in [
        (&world.own, json!({}), 400, "missing_type"),
        (&world.own, media("image", &gone.link("/")), 400, "media_unavailable"),
        (&world.own, media("image", "http://10.1.2.3/"), 400, "link_not_allowed"),
        (&world.own, text(JOAO, "oi"), 422, "not_on_whatsapp"),
        (&slow, text(MARIA, "oi"), 429, "rate_limited"),
    ] {
        let answer = tried(&world, account, &body, None).await;
        assert_eq!((answer.status, answer.code().as_deref()), (status, Some(code)), "{}", answer.body);
        assert_eq!(world.post_by(account, &body).await.status, status);
    }
    let path = format!("{}?dry_run=maybe", messages(&world.own));
    let answer = world.service.post(&path, &world.own.company.key, text(MARIA, "oi").to_string()).await;
    assert_eq!((answer.status, answer.code().as_deref()), (400, Some("invalid_field")), "{}", answer.body);
    world.unlink(&world.own).await;
    let answer = tried(&world, &world.own, &text(MARIA, "oi"), None).await;
    assert_eq!((answer.status, answer.code().as_deref()), (409, Some("session_disconnected")));
    nothing_was_sent(&world).await;
}

#[tokio::test]
async fn a_dry_run_uses_up_no_limit() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "one", json!({"daily_cap": 1, "cold_contacts": 1})).await;
    let account = world.account("globex", OTHER, "one").await;
    for _ in 0..3 {
        would_send(&tried(&world, &account, &text(MARIA, "oi"), None).await);
    }
    let sent = world.send_by(&account, &text(MARIA, "oi")).await;
    world.whatsapp.expect_message(&sent.id).await;
    let answer = tried(&world, &account, &text(MARIA, "oi"), None).await;
    assert_eq!(answer.status, 429, "{}", answer.body);
    assert!(answer.body.contains("daily_cap"), "{}", answer.body);
}

#[tokio::test]
async fn a_message_within_its_recipient_s_pair_interval_is_refused_with_that_reason() {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(3)).await;
    world.whatsapp.contact(MARIA);
    world.whatsapp.contact(JOAO);
    tier(world.service.store(), "pairs", json!({"pair_interval": "1h", "pair_burst": 1})).await;
    let account = world.account("globex", OTHER, "pairs").await;
    let sent = world.send_by(&account, &text(MARIA, "oi")).await;
    world.whatsapp.expect_message(&sent.id).await;
    let answer = tried(&world, &account, &text(MARIA, "de novo"), None).await;
    assert_eq!((answer.status, answer.code().as_deref()), (429, Some("rate_limited")), "{}", answer.body);
    assert!(answer.body.contains("pair_interval"), "{}", answer.body);
    would_send(&tried(&world, &account, &text(JOAO, "oi"), None).await);
}

#[tokio::test]
async fn a_key_of_a_dry_run_is_still_free() {
    let world = World::linked().await;
    world.whatsapp.contact(MARIA);
    for _ in 0..2 {
        let answer = tried(&world, &world.own, &text(MARIA, "oi"), Some("k")).await;
        assert_eq!(answer.header("idempotency-replayed"), "");
        would_send(&answer);
    }
    nothing_was_sent(&world).await;
    let meant = world.service.request(Method::POST, &messages(&world.own));
    let meant = meant.bearer_auth(&world.own.company.key).header("idempotency-key", "k");
    let answer = Answer::to(meant.body(text(MARIA, "oi").to_string())).await;
    assert_eq!((answer.status, answer.header("idempotency-replayed")), (200, ""), "{}", answer.body);
    // The answer comes when the message is handed over, and the message arrives after that.
    world.whatsapp.expect_message(&Sent::new(answer.json()).id).await;
    // From here on, the key belongs to the real request.
    let answer = tried(&world, &world.own, &text(MARIA, "oi"), Some("k")).await;
    assert_eq!(answer.code().as_deref(), Some("idempotency_key_reused"), "{}", answer.body);
    assert_eq!(world.whatsapp.messages().len(), 1);
}
