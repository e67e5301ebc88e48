//! NATS is unreachable, or its answers are lost: events wait, and arrive once.

use std::time::Duration;

use pombo::connector::nats::{Nats, Unready};
use pombo::store::event_log::LogBounds;

use super::server::{NatsServer, options};
use super::{FIRST, by_type, events, publish_to, published, publishing, silent, waiting, with_nats};
use crate::database::Universe;
use crate::proxy::{Held, Proxy};
use crate::running::until;

with_nats! {
    events_wait_while_nats_is_away_and_all_arrive_once,
    events_whose_acknowledgement_is_lost_are_not_in_the_stream_twice,
    what_the_log_lost_before_it_was_published_is_told,
}

async fn events_wait_while_nats_is_away_and_all_arrive_once(universe: &Universe) {
    let mut server = NatsServer::start().await;
    let running = publishing(universe, &server).await;
    let tag = running.tag("everyone", FIRST, 100).await;
    running.send_to_tag(tag, 100).await;
    running.settled(100).await;
    published(&running.store).await;
    for round in 1..3 {
        server.stop();
        // Dispatching goes on.
        running.send_to_tag(tag, 100).await;
        running.settled(100 * (round + 1)).await;
        assert!(waiting(&running.store).await >= 101, "the events do not wait");
        server.start_again().await;
        published(&running.store).await;
    }
    let stored = server.stored().await;
    let counted = by_type(&stored);
    assert_eq!((counted["message.sent"], counted["send.finished"]), (300, 3), "{counted:?}");
    assert_eq!(counted.get("outbox.lost"), None);
    running.end().await;
}

async fn events_whose_acknowledgement_is_lost_are_not_in_the_stream_twice(universe: &Universe) {
    let server = NatsServer::start().await;
    let proxy = Proxy::to(server.address());
    let running = silent(universe, |_| {}).await;
    proxy.hold(Held::Answer, b"Nats-Msg-Id");
    publish_to(&running, &format!("nats://{}", proxy.address)).await;
    let tag = running.tag("everyone", FIRST, 50).await;
    running.send_to_tag(tag, 50).await;
    running.settled(50).await;
    until("an event in the stream that is not acknowledged", async || {
        proxy.holds() && server.count().await > 0
    })
    .await;
    assert_ne!(waiting(&running.store).await, 0);
    // The acknowledgement never comes, and the events are published again.
    proxy.cut();
    proxy.let_go();
    proxy.mend();
    published(&running.store).await;
    let stored = server.stored().await;
    let counted = by_type(&stored);
    assert_eq!((counted["message.sent"], counted["send.finished"]), (50, 1), "{counted:?}");
    running.end().await;
}

async fn what_the_log_lost_before_it_was_published_is_told(universe: &Universe) {
    let mut server = NatsServer::start().await;
    let running = silent(universe, |_| {}).await;
    server.stop();
    publish_to(&running, &server.url()).await;
    let tag = running.tag("everyone", FIRST, 150).await;
    running.send_to_tag(tag, 150).await;
    running.settled(150).await;
    let log = running.store.event_log();
    let (waiting, all) = (waiting(&running.store).await, log.bytes().await.unwrap());
    let lost = log.trim(LogBounds { before: None, bytes: all / 2 }).await.unwrap();
    assert!(lost > 0 && lost < waiting, "{lost} of {waiting}");
    server.start_again().await;
    published(&running.store).await;
    let stored = server.stored().await;
    assert_eq!(stored[0].kind(), "outbox.lost", "the loss is told where the events were");
    assert_eq!(stored[0].subject, format!("pombo.events.{}.outbox.lost", running.company));
    assert_eq!(stored[0].body["data"]["count"], lost);
    assert_eq!(stored.len() as u64, 1 + waiting - lost, "{:?}", by_type(&stored));
    running.end().await;
}

#[actix_web::test]
#[ignore = "needs nats-server: run scripts/test"]
async fn a_server_that_comes_late_is_found() {
    let mut server = NatsServer::start().await;
    server.stop();
    let nats = Nats::connect(&options(&server.url()), None).await.unwrap().unwrap();
    let stream = nats.events(&events());
    assert!(!nats.is_connected());
    assert_eq!(stream.prepare().await, Err(Unready::NotConnected));
    server.start_again().await;
    until("the connection", async || nats.is_connected()).await;
    until("the stream", async || stream.prepare().await.is_ok()).await;
    server.stop();
    until("the connection gone", async || !nats.is_connected()).await;
    let asked = tokio::time::Instant::now();
    assert_eq!(stream.prepare().await, Err(Unready::NotConnected));
    assert!(asked.elapsed() < Duration::from_secs(20), "a call waits for a connection");
}
