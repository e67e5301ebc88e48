//! What people wrote to one node while the node is killed that would fetch their files, or the one that would answer them:
//! another node does both.

use super::*;
use crate::heard::Heard;

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn what_a_killed_node_would_have_fetched_and_confirmed_another_one_does_once() {
    let mut stage = Stage::new(0, &["a", "b", "c"]).await;
    let mut heard = Heard::new(&stage.universe, &stage.serving).await;
    slow_down(&stage);
    let mut owner = stage.take_owner().await;
    stage.aim(&stage.nodes[0]);
    heard.write(&stage.serving).await;
    heard.accepted().await;
    owner.child.crash();
    heard.let_go().await;
    let mut keeper = stage.take_housekeeper().await;
    stage.aim(&stage.nodes[0]);
    heard.write(&stage.serving).await;
    heard.accepted().await;
    keeper.child.crash();
    heard.let_go().await;
    heard.each_once(&stage.serving).await;
    drop((owner, keeper));
    stage.end().await;
}
