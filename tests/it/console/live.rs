//! Live parts: the events of a stream, and that no stream stays open.

use std::time::Duration;

use pombo::accounts::Role;
use reqwest::Method;

use super::world::World;
use crate::running::until;

/// The address of the overview's live parts.
const LIVE: &str = "/console/live";

#[tokio::test]
async fn a_stream_begins_with_a_snapshot_and_gives_its_place_back() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    assert!(owner.page("/console").await.contains(&format!("data-live=\"{LIVE}\"")));
    let mut stream = owner.request(Method::GET, LIVE).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert_eq!(stream.headers()["cache-control"], "no-store");
    let first =
        tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await.unwrap().unwrap().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    assert!(first.starts_with("retry: ") && first.contains("event: fragment\ndata: <"), "{first}");
    assert_eq!(world.service.open_streams(), 1);
    drop(stream);
    until("the place of a reader that left", async || world.service.open_streams() == 0).await;
}

#[tokio::test]
async fn streams_end_when_the_service_stops() {
    let mut world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(owner.request(Method::GET, LIVE).send().await.unwrap());
    }
    assert_eq!(world.service.open_streams(), 3);
    drop(owner);
    tokio::time::timeout(Duration::from_secs(20), world.service.stop())
        .await
        .expect("streams held up the stop");
    assert_eq!(world.service.open_streams(), 0);
}
