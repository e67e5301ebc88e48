//! The service is killed between publishing an event and noting that it did.

use super::server::NatsServer;
use super::{by_type, recipients, with_nats};
use crate::database::Universe;
use crate::proxy::{Held, Proxy};
use crate::running::until;
use crate::serving::Serving;

with_nats! { a_service_killed_before_its_events_are_acknowledged_publishes_none_twice }

/// The value of a metric, with its labels as they are written.
pub(crate) async fn metric(url: &str, name: &str) -> Option<f64> {
    let text = reqwest::get(format!("{url}/metrics")).await.unwrap().text().await.unwrap();
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(value)
}

async fn a_service_killed_before_its_events_are_acknowledged_publishes_none_twice(universe: &Universe) {
    const CONTACTS: u64 = 60;
    let server = NatsServer::start().await;
    let proxy = Proxy::to(server.address());
    let url = format!("nats://{}", proxy.address);
    let options = [("POMBO__NATS__URL", url.as_str()), ("POMBO__EVENTS__ENABLED", "true")];
    let mut serving = Serving::new_with(universe, CONTACTS, "unlimited", &options).await;
    let (mut child, url) = serving.serve().await;
    until("a connection", async || metric(&url, "pombo_nats_connected").await == Some(1.0)).await;
    proxy.hold(Held::Answer, b"Nats-Msg-Id");
    assert_eq!(serving.send(&url).await.status, 202);
    until("an event in the stream that is not acknowledged", async || {
        proxy.holds() && server.count().await > 0
    })
    .await;
    until("every message sent", async || serving.figures().1 == CONTACTS).await;
    child.crash();
    proxy.let_go();

    let (mut child, url) = serving.serve().await;
    until("everything published", async || {
        let stored = server.stored().await;
        by_type(&stored).get("send.finished") == Some(&1)
            && metric(&url, "pombo_events_waiting").await == Some(0.0)
    })
    .await;
    let stored = server.stored().await;
    by_type(&stored);
    let mut sent = recipients(&stored, "message.sent");
    let all = sent.len() as u64;
    sent.sort_unstable();
    sent.dedup();
    assert_eq!((all, sent.len() as u64), (CONTACTS, CONTACTS), "each message is told once");
    let published = metric(&url, r#"pombo_events_total{result="published"}"#).await.unwrap();
    assert!(published >= 1.0);
    child.crash();
    serving.simulator.stop().await;
}
