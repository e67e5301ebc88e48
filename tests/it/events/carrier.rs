//! Requests and wake-ups between nodes, on a real NATS server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pombo::cluster::{Carrier as _, Incoming, NatsCarrier, NotCarried, Subscription};
use pombo::config::Secrets;
use pombo::connector::nats::Nats;
use pombo::domain::secret::SealingKey;
use pombo::vault::Vault;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::server::{NatsServer, options};
use crate::running::until;

pub(super) const CHANNEL: Uuid = Uuid::from_u128(7);

/// A node of the cluster `south` whose first sealing key is the current one.
pub(super) async fn node(server: &NatsServer, patience: Duration, keys: &[u8]) -> NatsCarrier {
    let options = pombo::config::Nats { request_timeout: patience, ..options(&server.url()) };
    let nats = Nats::connect(&options, Some("south")).await.unwrap().unwrap();
    until("a connection", async || nats.is_connected()).await;
    let mut keys = keys.iter().map(|byte| SealingKey::new([*byte; 32]));
    let secrets = Secrets { key: keys.next(), previous_keys: keys.collect(), key_file: None };
    NatsCarrier::new(nats, Arc::new(Vault::open(&secrets, Path::new("/nowhere")).unwrap().0))
}

/// Two nodes of one cluster.
pub(super) async fn nodes(server: &NatsServer, patience: Duration) -> [NatsCarrier; 2] {
    [node(server, patience, &[1]).await, node(server, patience, &[1]).await]
}

/// A subscription that the server has registered, so that requests reach it.
pub(super) async fn owner(node: &NatsCarrier) -> Subscription {
    let mut subscription = node.subscribe(CHANNEL).await.unwrap();
    let (asked, ()) = tokio::join!(node.request(CHANNEL, "ready", Vec::new(), false, None), async {
        let Some(Incoming::Request(request)) = subscription.next().await else { panic!("no request") };
        request.answer.send(Vec::new()).unwrap();
    });
    asked.unwrap();
    subscription
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_request_reaches_the_owner_and_its_answer_comes_back() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, Duration::from_secs(30)).await;
    let link = one.link().unwrap();
    assert!(link.is_connected && link.version.is_some_and(|version| version.contains('.')));
    let mut owned = owner(&other).await;
    let (answer, ()) =
        tokio::join!(one.request(CHANNEL, "limits", b"{\"a\":1}".to_vec(), false, None), async {
            let Some(Incoming::Request(request)) = owned.next().await else { panic!("no request") };
            assert_eq!((request.name.as_str(), request.body.as_slice()), ("limits", &b"{\"a\":1}"[..]));
            request.answer.send(b"{\"b\":2}".to_vec()).unwrap();
        });
    assert_eq!(answer, Ok(b"{\"b\":2}".to_vec()));
    // No node owns the other channel.
    assert_eq!(
        one.request(Uuid::from_u128(8), "limits", Vec::new(), false, None).await,
        Err(NotCarried::NoOwner)
    );
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_missing_owner_is_reported_at_once_and_a_silent_one_after_the_timeout() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, Duration::from_millis(700)).await;
    let asked = Instant::now();
    assert_eq!(one.request(CHANNEL, "limits", Vec::new(), false, None).await, Err(NotCarried::NoOwner));
    assert!(asked.elapsed() < Duration::from_millis(700), "the server says so itself");
    let mut owned = owner(&other).await;
    // The request is received and not answered.
    let (silent, held) = tokio::join!(one.request(CHANNEL, "limits", Vec::new(), false, None), owned.next());
    assert_eq!(silent, Err(NotCarried::Unanswered));
    drop(held);
    drop(owned);
    until("the subscription gone", async || {
        one.request(CHANNEL, "limits", Vec::new(), false, None).await == Err(NotCarried::NoOwner)
    })
    .await;
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_request_that_the_owner_drops_fails_before_its_timeout() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, Duration::from_secs(600)).await;
    let mut owned = owner(&other).await;
    let asking = async {
        tokio::join!(one.request(CHANNEL, "limits", Vec::new(), false, None), async {
            drop(owned.next().await);
        })
    };
    let (answer, ()) =
        timeout(Duration::from_secs(30), asking).await.expect("the other node is told at once");
    assert_eq!(answer, Err(NotCarried::Unanswered));
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_busy_owner_refuses_excess_requests() {
    let server = NatsServer::start().await;
    let [one, other] = nodes(&server, Duration::from_secs(600)).await;
    let owned = owner(&other).await;
    // The waiting requests use all places; the owner receives none.
    let asked = (0..65).map(|_| one.request(CHANNEL, "limits", Vec::new(), false, None));
    let (first, _, rest) = futures_util::future::select_all(asked.map(Box::pin)).await;
    assert_eq!((first, rest.len()), (Err(NotCarried::Unanswered), 64));
    drop(owned);
    for answer in futures_util::future::join_all(rest).await {
        assert_eq!(answer, Err(NotCarried::Unanswered));
    }
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn wake_ups_arrive_and_a_broken_connection_is_restored_with_its_subscriptions() {
    let mut server = NatsServer::start().await;
    let [one, other] = nodes(&server, Duration::from_secs(30)).await;
    let mut owned = owner(&other).await;
    one.wake(CHANNEL);
    assert!(matches!(owned.next().await, Some(Incoming::Wake)));
    server.stop();
    until("the connection gone", async || {
        one.request(CHANNEL, "limits", Vec::new(), false, None).await == Err(NotCarried::Unreachable)
    })
    .await;
    // Nothing waits for a server.
    one.wake(CHANNEL);
    server.start_again().await;
    until("the owner found again", async || {
        one.wake(CHANNEL);
        timeout(Duration::from_millis(50), owned.next()).await.is_ok_and(|heard| heard.is_some())
    })
    .await;
}
