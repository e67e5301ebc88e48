//! Reports to one node that another node needs.

use reqwest::Method;

use super::*;
use crate::events::server::NatsServer;

/// Longer than any wait of a test.
const LONG: (&str, &str) = ("POMBO__RETRY__UNKNOWN_GRACE", "1h");

/// A channel of another account that another node owns, and its number.
async fn channel_elsewhere(stage: &Stage, owner: &Node) -> (String, String) {
    for place in 0..64 {
        let (account, number) = (format!("{}", 300_000 + place), format!("1065403522{}", 50_000 + place));
        let seeded = simulator::Account {
            waba_id: account.clone(),
            tokens: vec!["EAAG-good".to_owned()],
            numbers: vec![simulator::Number::new(&number, format!("+1 555 079 {:04}", 1_000 + place))],
            templates: simulator::default_templates(),
        };
        stage.serving.simulator.add(simulator::Seed { accounts: vec![seeded] }).unwrap();
        let channel = stage.serving.add_channel_of(&account, &number, "unlimited");
        let mut name = None;
        until("an owner of the other channel", async || {
            name = stage.owner_of(&channel).await;
            name.is_some()
        })
        .await;
        if name.as_deref() != Some(owner.name) {
            return (channel, number);
        }
    }
    panic!("one node owns all channels");
}

/// The reason why the channel sends nothing now, by the node that owns it.
async fn waits_for(stage: &Stage, node: &Node, channel: &str) -> Value {
    let path = format!("/api/v1/chat/{channel}/limits");
    stage.ask(node, Method::GET, &path, &Value::Null).await.json()["waiting"]["reason"].clone()
}

/// The provider refuses one node because of the app: a channel of the same app on another node waits without
/// an attempt.
async fn an_app_is_throttled_at_one_node(options: &[(&str, &str)]) {
    let mut stage = Stage::with(0, &["a", "b"], "unlimited", options).await;
    let owner = stage.take_owner().await;
    let (channel, number) = channel_elsewhere(&stage, &owner).await;
    let other = &stage.nodes[0];
    let state = async || {
        let found = stage.universe.store.channels().find(channel.parse().unwrap()).await.unwrap();
        found.unwrap().connection.status.to_string()
    };
    until("the other channel connected", async || state().await == "connected").await;
    assert!(waits_for(&stage, other, &channel).await.is_null());
    stage.serving.simulator.script(&json!({ "app": { "throttled_for": "1h" } })).unwrap();
    stage.send(&owner, SINGLE).await;
    until("the owner to wait", async || {
        waits_for(&stage, &owner, &stage.serving.channel).await == "app_throttled"
    })
    .await;
    until("the other node to wait", async || waits_for(&stage, other, &channel).await == "app_throttled")
        .await;
    let figures = stage.serving.simulator.number(&number).unwrap();
    assert_eq!(figures.arrivals, 0, "the other channel was refused itself");
    // Both channels go on when the app may send again.
    stage.serving.simulator.script(&json!({ "app": { "throttled_for": "0s" } })).unwrap();
    let body = json!({ "type": "text", "message": "hi", "phone_number": SINGLE + 1 });
    assert_eq!(stage.serving.send_through(&channel, &other.url, &body).await.status, 202);
    stage.nodes.push(owner);
    stage.all_heard_once(2).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_app_that_is_throttled_at_one_node_waits_at_the_others_without_nats() {
    an_app_is_throttled_at_one_node(&[]).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn an_app_that_is_throttled_at_one_node_waits_at_the_others_with_nats() {
    let server = NatsServer::start_with(&[]).await;
    let url = server.url();
    an_app_is_throttled_at_one_node(&[("POMBO__NATS__URL", url.as_str())]).await;
}

/// The answer to a message gets lost, and a receipt of it comes to another node than the owner: the owner need not wait.
async fn a_receipt_comes_to_another_node(mut stage: Stage) {
    let owner = stage.take_owner().await;
    // The owner has read the ledger by then.
    let late = Duration::from_secs(3);
    let receipts = stage.serving.receipts(&stage.nodes[0].url);
    let receipts = ReceiptOptions { sent_after: late, delivered_after: late, read_after: late, ..receipts };
    stage.serving.simulator.aim_receipts(Some(receipts)).unwrap();
    let lost = json!({ "match": {}, "times": 1, "outcome": { "drop_reply": true } });
    stage.serving.simulator.script(&lost).unwrap();
    stage.send(&owner, SINGLE).await;
    stage.nodes.push(owner);
    stage.all_heard_once(1).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_receipt_that_another_node_hears_reaches_the_owner_in_a_cluster_without_nats() {
    a_receipt_comes_to_another_node(Stage::with(0, &["a", "b"], "unlimited", &[LONG]).await).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_receipt_that_another_node_hears_reaches_the_owner_while_nats_is_down() {
    let mut server = NatsServer::start_with(&[]).await;
    let url = server.url();
    let options = [LONG, ("POMBO__NATS__URL", url.as_str())];
    let stage = Stage::with(0, &["a", "b"], "unlimited", &options).await;
    server.stop();
    a_receipt_comes_to_another_node(stage).await;
}
