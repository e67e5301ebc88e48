//! Removal from the outbox: published events, and the oldest of too many events.

use pombo::store::outbox::Pending;

use super::*;

stores! {
    a_full_outbox_loses_the_oldest_and_says_how_many,
    an_event_that_is_removed_is_not_read_again,
}

async fn a_full_outbox_loses_the_oldest_and_says_how_many(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let other = NewSend { company_id: Uuid::from_u128(2), ..send(11, Recipients::Blocks(2)) };
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(40)), other])).await;
    commit(&store, &lease, mark(10, 40, State::Active)).await;
    let mut foreign = outcome(11, 0, At::Sent);
    foreign.company_id = Uuid::from_u128(2);
    commit(&store, &lease, outcomes(vec![foreign])).await;
    let write = async |from: u64| {
        commit(&store, &lease, outcomes((from..from + 10).map(|at| outcome(10, at, At::Sent)).collect()))
            .await;
    };
    write(0).await;
    assert_eq!(store.outbox().drop_oldest(100).await.unwrap(), 0);
    assert_eq!(store.outbox().extent().await.unwrap().rows, 11);
    write(10).await;
    // 21 waited: the other company's and the first ten go.
    assert_eq!(store.outbox().drop_oldest(10).await.unwrap(), 11);
    write(20).await;
    assert_eq!(store.outbox().drop_oldest(10).await.unwrap(), 10);
    assert_eq!(store.outbox().drop_oldest(10).await.unwrap(), 0);
    let events = pending(&store).await;
    let mut losses: Vec<_> = events
        .iter()
        .filter(|event| event.r#type == "outbox.lost")
        .map(|event| {
            (event.company_id, serde_json::to_value(&event.data).unwrap()["count"].as_u64().unwrap())
        })
        .collect();
    losses.sort_unstable();
    assert_eq!(losses, [(ACME, 20), (Uuid::from_u128(2), 1)]);
    // The event of the loss comes before the remaining events.
    assert!(events[..2].iter().all(|event| event.r#type == "outbox.lost" && event.channel_id.is_none()));
    let kept = types(&(20..30).map(|ordinal| ("message.sent", ordinal)).collect::<Vec<_>>());
    assert_eq!(told(&store).await[2..], kept);
}

async fn an_event_that_is_removed_is_not_read_again(universe: &Universe) {
    let (store, lease) = open(universe).await;
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(5))])).await;
    commit(&store, &lease, mark(10, 5, State::Active)).await;
    commit(&store, &lease, outcomes((0..5).map(|at| outcome(10, at, At::Sent)).collect())).await;
    // The publisher is told, also when it was not waiting.
    tokio::time::timeout(Duration::from_secs(30), store.outbox().written()).await.unwrap();
    let first = store.outbox().pending(2).await.unwrap();
    let numbers: Vec<_> = first.iter().map(|Pending { seq, .. }| *seq).collect();
    store.outbox().remove(&numbers).await.unwrap();
    store.outbox().remove(&[]).await.unwrap();
    let left: Vec<_> = (2..5).map(|ordinal| ("message.sent", ordinal)).collect();
    assert_eq!(told(&store).await, types(&left));
    let extent = store.outbox().extent().await.unwrap();
    assert_eq!((extent.rows, extent.oldest), (3, Some(NOW)));
}
