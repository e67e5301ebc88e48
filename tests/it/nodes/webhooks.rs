//! Webhooks to companies when the node that delivers them is killed: another node goes on.

use pombo::connector::webhook::SigningKey;
use pombo::domain::secret::Secret;

use super::*;
use crate::events::server::NatsServer;
use crate::webhooks::logged::{LoggedEvents, TYPES};
use crate::webhooks::receiver::Receiver;

const PEOPLE: u64 = 300;
/// The requests that the receiver answers before it holds its answers back.
const ANSWERED: usize = 60;
/// The most requests at the same time.
const IN_FLIGHT: usize = 4;

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn no_event_is_lost_when_the_node_that_delivers_webhooks_is_killed() {
    let (server, receiver) = (NatsServer::start_with(&[]).await, Receiver::start().await);
    let nats = server.url();
    let options = [
        ("POMBO__NATS__URL", nats.as_str()),
        ("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8"),
        ("POMBO__WEBHOOKS__ALLOW_HTTP", "true"),
        // The longest one: no answer is to be late that is held back until the node is killed.
        ("POMBO__WEBHOOKS__TIMEOUT", "15s"),
    ];
    let mut stage = Stage::with(PEOPLE, &[], "unlimited", &options).await;
    let line =
        format!("webhook add {} --company Acme --types {TYPES} --max-in-flight {IN_FLIGHT}", receiver.url());
    let secret = stage.serving.place.json(&line)["secret"].as_str().unwrap().to_owned();
    for name in ["a", "b"] {
        stage.start(name).await;
    }
    stage.is_connected().await;
    let mut keeper = stage.take_housekeeper().await;
    let short = Duration::from_millis(50);
    let receipts = ReceiptOptions {
        delivered_after: short,
        read_after: short,
        read_probability: 1.0,
        ..stage.serving.receipts(&stage.nodes[0].url)
    };
    stage.serving.simulator.aim_receipts(Some(receipts)).unwrap();
    slow_down(&stage);
    let mut log = LoggedEvents::from_now(&stage.nodes[0].url, &stage.serving.key).await;

    receiver.hold_after(ANSWERED);
    assert_eq!(stage.serving.send(&stage.nodes[0].url).await.status, 202);
    // So many requests in all mean that those before were answered.
    until("requests that wait for their answers", async || receiver.got().len() == ANSWERED + IN_FLIGHT)
        .await;
    keeper.child.crash();
    let unanswered = receiver.unanswered();
    assert_eq!(unanswered.len(), IN_FLIGHT);
    receiver.answer_all();
    until("another node to deliver", async || {
        stage.housekeeper().await.as_deref() == Some(stage.nodes[0].name)
    })
    .await;
    stage.all_heard_once(PEOPLE).await;
    until("every event of the log at the receiver", async || {
        log.read_on(&stage.nodes[0].url).await;
        log.is_complete(PEOPLE) && log.has_arrived(&receiver)
    })
    .await;

    log.assert_arrived(&receiver);
    let key = SigningKey::parse(&Secret::new(secret)).unwrap();
    let got = receiver.got();
    assert!(got.iter().all(|got| got.is_signed_with(&key)));
    for id in unanswered {
        let times = got.iter().filter(|got| got.header("webhook-id") == id).count();
        assert!(times > 1, "{id} was not repeated although its answer was lost");
    }
    stage.end().await;
}
