//! Nodes that leave: gracefully, killed, paused, or cut off from the database.

use pombo::clock::Timestamp;
use url::Url;

use super::*;
use crate::proxy::Proxy;
use crate::running::NUMBER;

const PEOPLE: u64 = 600;

/// Sends to everybody through the owner of the channel, and returns the owner once some messages have arrived.
async fn under_way(stage: &mut Stage) -> Node {
    slow_down(stage);
    let owner = stage.take_owner().await;
    // Webhooks go to a node that stays.
    stage.aim(&stage.nodes[0]);
    assert_eq!(stage.serving.send(&owner.url).await.status, 202);
    until("the send under way", async || stage.serving.figures().0 > PEOPLE / 10).await;
    owner
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn the_channels_of_a_node_that_is_killed_send_again_soon_and_nothing_is_lost_or_repeated() {
    let mut stage = Stage::new(PEOPLE, &["a", "b", "c"]).await;
    let mut owner = under_way(&mut stage).await;
    owner.child.crash();
    let before = stage.serving.figures().0;
    // Messages accepted meanwhile go as well.
    stage.send(&stage.nodes[0], SINGLE).await;
    until("another owner", async || stage.has_other_owner(&owner).await).await;
    until("messages again", async || stage.serving.figures().0 > before + crate::serving::IN_FLIGHT).await;
    stage.all_heard_once(PEOPLE + 1).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_is_stopped_hands_its_channels_over_at_once() {
    let mut stage = Stage::new(PEOPLE, &["a", "b"]).await;
    let owner = under_way(&mut stage).await;
    let stopped = owner.name;
    owner.stop().await;
    let nodes = stage.universe.store.nodes().all().await.unwrap();
    let left = nodes.iter().all(|node| node.name != stopped || !node.is_alive());
    assert!(left, "the node leaves before it ends, so that no node waits for its lease");
    let name = &stage.nodes[0].name;
    until("another owner", async || stage.owner().await.as_deref() == Some(*name)).await;
    stage.all_heard_once(PEOPLE).await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_slept_through_its_lease_sends_nothing_more_and_ends() {
    let mut stage = Stage::new(PEOPLE, &["a", "b"]).await;
    let owner = under_way(&mut stage).await;
    owner.signal("-STOP");
    until("another owner", async || stage.has_other_owner(&owner).await).await;
    owner.signal("-CONT");
    assert!(!owner.ended().await.success(), "the node's status says that it was taken over");
    stage.all_heard_once(PEOPLE).await;
    stage.end().await;
}

/// A proxy of the database, and the database's address through it.
fn line(stage: &Stage) -> (Proxy, String) {
    let mut url = Url::parse(&stage.universe.url).unwrap();
    let proxy = Proxy::to(format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432)));
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(proxy.address.port())).unwrap();
    (proxy, url.into())
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_is_cut_off_from_the_database_begins_nothing_after_its_trust() {
    let mut stage = Stage::new(PEOPLE, &[]).await;
    let lines = [line(&stage), line(&stage)];
    for (name, (_, url)) in ["a", "b"].into_iter().zip(&lines) {
        stage.start_on(name, url).await;
    }
    stage.is_connected().await;
    let owner = under_way(&mut stage).await;
    let proxy = &lines[usize::from(owner.name == "b")].0;
    let cut = Timestamp::now();
    proxy.cut();
    until("another owner", async || stage.has_other_owner(&owner).await).await;
    assert_eq!(owner.is_ready().await.status, 503);
    stage.all_heard_once(PEOPLE).await;
    // The node trusts its lease for 4.5 s; requests that began then are answered soon after.
    let quiet_from = cut.plus(Duration::from_millis(5_500));
    let moved_at = stage.moved_at().await;
    let messages = stage.serving.simulator.messages(0, 100_000);
    let begun: Vec<_> =
        messages.iter().map(|message| message.at).filter(|at| *at > quiet_from && *at < moved_at).collect();
    assert!(begun.is_empty(), "{begun:?}");
    // When the database is back, the node finds out that another node took over.
    proxy.mend();
    assert!(!owner.ended().await.success());
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_was_cut_off_for_a_moment_goes_on() {
    let mut stage = Stage::new(0, &[]).await;
    let (proxy, url) = line(&stage);
    stage.start_on("alone", &url).await;
    stage.is_connected().await;
    let node = stage.take_owner().await;
    proxy.cut();
    until("the node to notice", async || node.is_ready().await.body.contains("lease")).await;
    proxy.mend();
    until("the node ready again", async || node.is_ready().await.status == 200).await;
    stage.send(&node, SINGLE).await;
    stage.all_heard_once(1).await;
    assert_eq!(stage.owner().await.as_deref(), Some("alone"), "nobody took over");
    stage.nodes.push(node);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_drains_gives_its_channels_away_and_is_not_ready() {
    let mut stage = Stage::new(PEOPLE, &["a", "b"]).await;
    let owner = under_way(&mut stage).await;
    let drained = stage.serving.place.json(&format!("cluster drain {}", owner.name));
    assert_eq!(drained["state"], "draining");
    until("another owner", async || stage.has_other_owner(&owner).await).await;
    until("the node not ready", async || {
        let ready = owner.is_ready().await;
        ready.status == 503 && ready.body.contains("draining")
    })
    .await;
    // It still accepts messages until it is stopped.
    stage.send(&owner, SINGLE).await;
    stage.all_heard_once(PEOPLE + 1).await;
    owner.stop().await;
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_that_is_stopped_while_it_drains_waits_for_the_answers_of_the_provider() {
    const MESSAGES: u64 = 48;
    // Every answer of the provider comes long after the order to stop.
    let answers = json!({ "match": {}, "outcome": { "hang_then_accept": "4s" } });
    let mut stage = Stage::new(MESSAGES, &["a", "b"]).await;
    let owner = stage.take_owner().await;
    stage.serving.simulator.script(&answers).unwrap();
    assert_eq!(stage.serving.send(&owner.url).await.status, 202);
    let arrived = || stage.serving.simulator.number(NUMBER).unwrap().arrivals;
    until("messages under way", async || arrived() > MESSAGES / 10).await;
    stage.serving.place.json(&format!("cluster drain {}", owner.name));
    until("the node draining", async || owner.is_ready().await.body.contains("draining")).await;
    owner.signal("-TERM");
    assert!(owner.ended().await.success());
    stage.all_heard_once(MESSAGES).await;
    assert_eq!(stage.serving.simulator.number(NUMBER).unwrap().arrivals, MESSAGES, "nothing was tried twice");
    stage.end().await;
}
