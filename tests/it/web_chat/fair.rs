//! Slow files of one company: other companies' files are still fetched, and files of messages that cannot go
//! are not.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{QUICK, World, messages, text, tier};
use super::{JOAO, MARIA, OTHER};
use crate::harness::Answer;
use crate::media::host::{Host, Step};
use crate::running::until;

/// A document behind this link, for Maria.
fn document(link: &str) -> Value {
    json!({"phone_number": MARIA, "recipient_type": "number", "type": "document", "link": link})
}

#[tokio::test]
async fn links_to_a_slow_host_leave_places_to_another_company() {
    let world = World::linked_with(|config| {
        config.media.concurrency = 4;
        config.media.stall_timeout = Duration::from_secs(2);
    })
    .await;
    world.whatsapp.contact(MARIA);
    let theirs = world.account("globex", OTHER, QUICK).await;
    let slow = Host::steps(vec![
        Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n".to_vec()),
        Step::Repeat(b"x".to_vec(), Duration::from_millis(100)),
    ])
    .await;
    let (path, key) = (messages(&world.own), world.own.company.key.clone());
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let request = world.service.request(reqwest::Method::POST, &path).bearer_auth(&key);
            tokio::spawn(Answer::to(request.body(document(&slow.link("/x")).to_string())))
        })
        .collect();
    // The company may use half of the places; further requests are refused.
    until("the company's own share to be used up", async || {
        waiting.iter().filter(|answer| answer.is_finished()).count() >= 4
    })
    .await;
    let fast = Host::body("", b"%PDF-1.7\n").await;
    let answer = world.post_by(&theirs, &document(&fast.link("/x.pdf"))).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(slow.connections(), 2);
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_message_that_would_go_too_late_is_refused_before_its_file_and_its_number_are_looked_up() {
    let world = World::linked_with(|config| config.web_session.patience = Duration::from_secs(3)).await;
    world.whatsapp.contact(MARIA);
    world.whatsapp.contact(JOAO);
    let host = Host::body("", b"%PDF-1.7\n").await;
    for (number, name, options, goes_first) in [
        ("5531966660001", "paced", json!({"messages_per_second": "2/h", "burst": 1}), false),
        ("5531966660002", "capped", json!({"daily_cap": 1}), true),
        ("5531966660003", "shy", json!({"cold_contacts": 1}), true),
    ] {
        tier(world.service.store(), name, options).await;
        let account = world.account(name, number, name).await;
        if goes_first {
            world.send_by(&account, &text(JOAO, "oi")).await;
        }
        let answer = world.post_by(&account, &document(&host.link("/x.pdf"))).await;
        let read = (answer.status, answer.code());
        assert_eq!(read, (429, Some("rate_limited".to_owned())), "{name}: {}", answer.body);
    }
    assert_eq!((host.connections(), world.whatsapp.lookups_of(MARIA)), (0, 0));
}

#[tokio::test]
async fn files_that_are_fetched_count_for_the_pace_and_give_their_place_back_when_they_fail() {
    let world = World::linked_with(|config| {
        config.media.stall_timeout = Duration::from_secs(30);
    })
    .await;
    world.whatsapp.contact(MARIA);
    tier(world.service.store(), "two", json!({"daily_cap": 2})).await;
    let account = world.account("globex", OTHER, "two").await;
    let slow = Host::steps(vec![Step::Hang]).await;
    let (path, key) = (messages(&account), account.company.key.clone());
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let request = world.service.request(reqwest::Method::POST, &path).bearer_auth(&key);
        let body = document(&slow.link("/x")).to_string();
        waiting.push(tokio::spawn(Answer::to(request.body(body))));
        slow.was_asked().await;
    }
    let beyond = world.post_by(&account, &document(&slow.link("/x"))).await;
    assert_eq!((beyond.status, slow.connections()), (429, 2), "{}", beyond.body);
    assert!(beyond.body.contains("daily_cap"), "{}", beyond.body);
    drop(slow);
    for answer in waiting {
        let answer = answer.await.unwrap();
        assert_eq!(answer.code().as_deref(), Some("media_unavailable"), "{}", answer.body);
    }
    for words in ["um", "dois"] {
        world.send_by(&account, &text(MARIA, words)).await;
    }
}
