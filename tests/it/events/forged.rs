//! Somebody else with a user at the NATS server of a cluster: nothing that they publish is believed, and nothing that they
//! read can be understood.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use futures_util::{FutureExt as _, StreamExt as _};
use pombo::cluster::{Carrier as _, Incoming, NatsCarrier, NotCarried, Subscription};
use tokio::time::timeout;
use uuid::Uuid;

use super::carrier::{CHANNEL, node, nodes, owner};
use super::server::NatsServer;
use crate::running::until;

const LONG: Duration = Duration::from_secs(600);

fn subject(name: &str) -> String {
    format!("pombo.south.channel.{}.{name}", CHANNEL.as_simple())
}

/// Asks, and answers as the owner; returns the body that the owner got.
async fn asked(one: &NatsCarrier, owned: &mut Subscription, name: &str, is_done_once: bool) -> Vec<u8> {
    let (answer, body) =
        tokio::join!(one.request(CHANNEL, name, b"a private text".to_vec(), is_done_once, None), async {
            let Some(Incoming::Request(request)) = owned.next().await else { panic!("no request") };
            assert_eq!(request.name, name, "the owner heard something else first");
            request.answer.send(b"a private answer".to_vec()).unwrap();
            request.body
        });
    assert_eq!(answer, Ok(b"a private answer".to_vec()));
    body
}

/// Everything that passed so far.
async fn recorded(stranger: &Client, all: &mut Subscriber) -> Vec<Message> {
    // What passed before this message is in front of it.
    stranger.publish("end", Vec::new().into()).await.unwrap();
    let mut recorded = Vec::new();
    loop {
        let message = all.next().await.unwrap();
        if message.subject.as_str() == "end" {
            return recorded;
        }
        recorded.push(message);
    }
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn nothing_that_passes_between_nodes_can_be_read_by_others() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut all = stranger.subscribe(">").await.unwrap();
    stranger.flush().await.unwrap();
    let mut owned = owner(&other).await;
    for is_done_once in [false, true] {
        assert_eq!(asked(&one, &mut owned, "send", is_done_once).await, b"a private text");
    }
    let passed = recorded(&stranger, &mut all).await;
    assert!(passed.len() >= 8, "two questions and answers, and the epochs before them: {}", passed.len());
    for message in passed {
        let payload = String::from_utf8_lossy(&message.payload);
        assert!(!payload.contains("private"), "{}: {payload}", message.subject);
    }
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn an_owner_hears_nobody_without_the_key_of_the_cluster() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let mut owned = owner(&other).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut answers = stranger.subscribe("pombo.south.answer.stranger").await.unwrap();
    for payload in [&b"{}"[..], b"", &[3; 60], &[0; 500_000]] {
        for name in ["limits", "unlink", "wake"] {
            for reply in ["pombo.south.answer.stranger", "elsewhere"] {
                stranger.publish_with_reply(subject(name), reply, payload.to_vec().into()).await.unwrap();
            }
            stranger.publish(subject(name), payload.to_vec().into()).await.unwrap();
        }
    }
    stranger.flush().await.unwrap();
    // A node of another installation has the format and no key.
    let foreign = node(&server, Duration::from_millis(100), &[2]).await;
    foreign.wake(CHANNEL);
    let ignored = foreign.request(CHANNEL, "limits", b"{}".to_vec(), false, None).await;
    assert_eq!(ignored, Err(NotCarried::NoOwner), "no owner told it an epoch");
    // The owner hears a node next, and nothing before it.
    asked(&one, &mut owned, "limits", false).await;
    assert!(answers.next().now_or_never().is_none(), "a stranger was answered");
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn an_answer_of_somebody_else_is_passed_over_and_that_of_the_owner_counts() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let mut owned = owner(&other).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut questions = stranger.subscribe("pombo.south.channel.>").await.unwrap();
    stranger.flush().await.unwrap();
    let forged = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&forged);
    // Everybody sees where the answer goes, and is quicker than the owner.
    actix_web::rt::spawn(async move {
        while let Some(question) = questions.next().await {
            let Some(reply) = question.reply else { continue };
            let mut failed = async_nats::HeaderMap::new();
            failed.insert("Pombo-Failed", "1");
            stranger.publish(reply.clone(), (&b"{\"answer\":{}}"[..]).into()).await.unwrap();
            stranger.publish(reply.clone(), question.payload).await.unwrap();
            stranger.publish_with_headers(reply, failed, Vec::new().into()).await.unwrap();
            stranger.flush().await.unwrap();
            // Before it, the asking node may ask for the owner's epoch.
            count.fetch_add(usize::from(question.subject.ends_with(".pairing")), Ordering::SeqCst);
        }
    });
    let (answer, ()) = tokio::join!(one.request(CHANNEL, "pairing", Vec::new(), false, None), async {
        let Some(Incoming::Request(request)) = owned.next().await else { panic!("no request") };
        until("forged answers", async || forged.load(Ordering::SeqCst) > 0).await;
        request.answer.send(b"true".to_vec()).unwrap();
    });
    assert_eq!(answer, Ok(b"true".to_vec()));
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_forged_report_that_nobody_heard_does_not_make_a_message_go_twice() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let mut owned = owner(&other).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut questions = stranger.subscribe(subject("send")).await.unwrap();
    stranger.flush().await.unwrap();
    // The library sends no status, so this speaks to the server itself.
    let mut raw = TcpStream::connect(server.address()).unwrap();
    BufReader::new(raw.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
    raw.write_all(b"CONNECT {\"verbose\":false,\"headers\":true}\r\n").unwrap();
    let (answer, _held) = tokio::join!(one.request(CHANNEL, "send", b"{}".to_vec(), true, None), async {
        // The owner has the question, and has not answered it.
        let Some(Incoming::Request(request)) = owned.next().await else { panic!("no request") };
        questions.next().await.unwrap();
        let reply = questions.next().await.unwrap().reply.unwrap();
        let status = "NATS/1.0 503\r\n\r\n";
        write!(raw, "HPUB {reply} {0} {0}\r\n{status}\r\n", status.len()).unwrap();
        request
    });
    assert_eq!(answer, Err(NotCarried::Unanswered), "it may have been done, so nobody repeats it");
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_recorded_message_counts_once_and_never_for_another_owner() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let mut owned = owner(&other).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut all = stranger.subscribe("pombo.south.channel.>").await.unwrap();
    let mut end = stranger.subscribe("end").await.unwrap();
    stranger.flush().await.unwrap();
    for is_done_once in [false, true] {
        asked(&one, &mut owned, "send", is_done_once).await;
    }
    one.wake(CHANNEL);
    assert!(matches!(owned.next().await, Some(Incoming::Wake)));
    stranger.publish("end", Vec::new().into()).await.unwrap();
    end.next().await.unwrap();
    let mut passed = Vec::new();
    while let Some(Some(message)) = all.next().now_or_never() {
        passed.push(message);
    }
    assert!(passed.len() >= 4, "questions and a wake-up: {}", passed.len());
    let repeat = async || {
        for message in &passed {
            let (subject, payload) = (message.subject.clone(), message.payload.clone());
            match &message.reply {
                Some(reply) => {
                    stranger.publish_with_reply(subject, reply.clone(), payload).await.unwrap();
                }
                None => stranger.publish(subject, payload).await.unwrap(),
            }
        }
        stranger.flush().await.unwrap();
    };
    repeat().await;
    asked(&one, &mut owned, "limits", false).await;

    // The shard moves to the other node, which cannot know what the former owner heard.
    drop(owned);
    // While the stranger listens, the server finds a receiver for every question. The former owner may take one with it,
    // whose asker waits.
    all.unsubscribe().await.unwrap();
    stranger.flush().await.unwrap();
    until("no owner", async || {
        let asked = one.request(CHANNEL, "limits", Vec::new(), false, None);
        matches!(timeout(Duration::from_secs(1), asked).await, Ok(Err(NotCarried::NoOwner)))
    })
    .await;
    let mut owned = owner(&one).await;
    repeat().await;
    let (answer, name) = tokio::join!(other.request(CHANNEL, "limits", Vec::new(), false, None), async {
        loop {
            // A recorded wake-up costs a look at most, once for each owner.
            if let Some(Incoming::Request(request)) = owned.next().await {
                request.answer.send(Vec::new()).unwrap();
                return request.name;
            }
        }
    });
    assert_eq!((answer, name.as_str()), (Ok(Vec::new()), "limits"));
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_message_to_one_shard_does_not_count_for_another() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, LONG).await;
    let mut owned = owner(&other).await;
    let elsewhere = Uuid::from_u128(8);
    let mut moved = other.subscribe(elsewhere).await.unwrap();
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let mut all = stranger.subscribe("pombo.south.channel.>").await.unwrap();
    stranger.flush().await.unwrap();
    asked(&one, &mut owned, "limits", false).await;
    one.wake(CHANNEL);
    assert!(matches!(owned.next().await, Some(Incoming::Wake)));
    for _ in 0..3 {
        let message = all.next().await.unwrap();
        for name in ["limits", "unlink", "wake"] {
            let subject = format!("pombo.south.channel.{}.{name}", elsewhere.as_simple());
            match &message.reply {
                Some(reply) => {
                    let sent = stranger.publish_with_reply(subject, reply.clone(), message.payload.clone());
                    sent.await.unwrap();
                }
                None => stranger.publish(subject, message.payload.clone()).await.unwrap(),
            }
        }
    }
    stranger.flush().await.unwrap();
    let (answer, ()) = tokio::join!(one.request(elsewhere, "outlook", Vec::new(), false, None), async {
        let Some(Incoming::Request(request)) = moved.next().await else { panic!("no request") };
        assert_eq!(request.name, "outlook");
        request.answer.send(Vec::new()).unwrap();
    });
    assert_eq!(answer, Ok(Vec::new()));
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn nodes_understand_each_other_at_every_step_of_a_rotation() {
    let server = NatsServer::start().await;
    // Old key; old key with the new one known; new key with the old one known; new key.
    let steps: [&[u8]; 4] = [&[1], &[1, 2], &[2, 1], &[2]];
    let mut nodes = Vec::new();
    for keys in steps {
        nodes.push(node(&server, LONG, keys).await);
    }
    for pair in nodes.windows(2) {
        for [one, other] in [[&pair[0], &pair[1]], [&pair[1], &pair[0]]] {
            let mut owned = owner(other).await;
            for is_done_once in [false, true] {
                asked(one, &mut owned, "limits", is_done_once).await;
            }
            drop(owned);
            until("no owner", async || {
                one.request(CHANNEL, "limits", Vec::new(), false, None).await == Err(NotCarried::NoOwner)
            })
            .await;
        }
    }
    let mut owned = owner(&nodes[0]).await;
    let removed = node(&server, Duration::from_millis(100), &[2]).await;
    let ignored = removed.request(CHANNEL, "limits", Vec::new(), false, None).await;
    assert_eq!(ignored, Err(NotCarried::NoOwner), "no owner told it an epoch");
    asked(&nodes[1], &mut owned, "speed", false).await;
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_shard_without_an_owner_is_reported_although_somebody_listens_to_everything() {
    let server = NatsServer::start().await;
    let [one, _] = nodes(&server, LONG).await;
    let stranger = async_nats::connect(server.url()).await.unwrap();
    let _all = stranger.subscribe(">").await.unwrap();
    stranger.flush().await.unwrap();
    let asked = one.request(CHANNEL, "limits", Vec::new(), false, None).await;
    assert_eq!(asked, Err(NotCarried::NoOwner));
}
