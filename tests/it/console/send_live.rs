//! The page of a send that goes on while it is open, and of one whose messages are being counted.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::message::State as At;
use reqwest::Method;

use super::sends::shop;
use super::world::World;
use crate::api::past_send::Past;
use crate::running::until;

#[tokio::test]
async fn the_page_of_an_ended_send_follows_the_states_of_its_messages() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let channel = shop(&world).await;
    let past = || Past::text(&world.service, &world.acme, channel);
    let now = Timestamp::now();
    for (state, ended, is_live) in [
        (At::Sent, now, true),
        (At::Delivered, now, true),
        (At::Read, now, false),
        (At::Failed, now, false),
        (At::Sent, now.minus(Duration::from_secs(3_700)), false),
    ] {
        let id = past().that_ended(ended).with(&[(state, None)]).await;
        let page = viewer.page(&format!("/console/sends/{id}")).await;
        assert_eq!(page.contains("data-live="), is_live, "{state:?} {ended}: {page}");
    }
    let id = past().that_ended(now).with(&[(At::Sent, None)]).await;
    let mut stream = viewer.request(Method::GET, &format!("/console/sends/{id}/live")).send().await.unwrap();
    let mut told = String::new();
    part_says(&mut stream, &mut told, "rows", ">Sent<").await;
    past().set(id, At::Delivered).await;
    part_says(&mut stream, &mut told, "figures", ">Delivered<").await;
    part_says(&mut stream, &mut told, "rows", ">Delivered<").await;
    // A list that does not fit on one page follows, too. A filtered one would take a scan each time: it waits for a reload.
    let messages: Vec<_> = (0..60).map(|_| (At::Sent, None)).collect();
    let id = past().that_ended(now).with(&messages).await;
    let address = format!("/console/sends/{id}");
    let open = async |query: &str| {
        let page = viewer.page(&format!("{address}{query}")).await;
        let live = format!("{address}/live{query}");
        assert!(page.contains(&format!("data-live=\"{live}\"")), "{page}");
        (viewer.request(Method::GET, &live).send().await.unwrap(), String::new())
    };
    let ((mut first, mut of_first), (mut next, mut of_next)) = (open("").await, open("?from=50").await);
    let (mut filtered, mut of_filtered) = open("?state=delivered").await;
    past().set(id, At::Delivered).await;
    part_says(&mut first, &mut of_first, "rows", ">Delivered<").await;
    part_says(&mut next, &mut of_next, "rows", "/messages/59\"").await;
    part_says(&mut filtered, &mut of_filtered, "figures", ">Delivered<").await;
    assert!(!of_filtered.contains("id=\"rows\""), "{of_filtered}");
    let reloaded = viewer.page(&format!("{address}?state=delivered")).await;
    assert!(reloaded.contains(&format!("{address}/messages/0\"")), "{reloaded}");
}

/// Reads a stream until this part of the page has these words.
async fn part_says(stream: &mut reqwest::Response, told: &mut String, part: &str, words: &str) {
    let mark = format!("id=\"{part}\"");
    let says = |told: &str| {
        let fragment = told.rsplit_once(&mark).and_then(|(_, rest)| rest.split("\n\n").next());
        fragment.is_some_and(|fragment| fragment.contains(words))
    };
    while !says(told) {
        let piece = stream.chunk().await.unwrap().expect("the stream goes on");
        told.push_str(&String::from_utf8_lossy(&piece));
    }
}

#[tokio::test]
async fn the_page_of_a_large_send_waits_for_no_count() {
    const MESSAGES: u64 = 1_000_000;
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let past = Past::text(&world.service, &world.acme, shop(&world).await);
    let address = format!("/console/sends/{}", past.with_failures(MESSAGES).await);
    let page = viewer.page(&address).await;
    assert!(page.contains("1,000,000 people"), "{page}");
    assert!(page.contains("The messages are being counted.") && !page.contains("Send again"), "{page}");
    until("the send's figures", async || {
        let page = viewer.page(&address).await;
        page.contains("100,000") && page.contains("900,000 of 1,000,000 messages sent")
    })
    .await;
    // The list has the figures, too, and does not wait for them.
    let list = viewer.page("/console/sends").await;
    assert!(list.contains("Sent 900,000, Failed 100,000"), "{list}");
    // Few messages match, far from the beginning: the next page goes on after the last message that was read.
    let page = viewer.page(&format!("{address}?state=read")).await;
    assert!(
        page.contains("No message from no. 0 to 20,000 matches") && page.contains("Further messages"),
        "{page}"
    );
    let last = viewer.page(&format!("{address}?state=read&from=999999")).await;
    assert!(last.contains("No message matches.") && !last.contains("Further messages"), "{last}");
}
