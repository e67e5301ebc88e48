//! How far endpoints are behind the log.

use pombo::store::event_log::LogBounds;
use pombo::store::webhooks::EndpointLag;

use super::*;

stores! {
    an_endpoint_says_what_it_has_not_got,
    an_endpoint_says_what_the_log_no_longer_had_for_it,
}

async fn an_endpoint_says_what_it_has_not_got(universe: &Universe) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let acme = company(store, "Acme").await;
    let (first, second) = (add(store, acme).await.id, add(store, acme).await.id);
    let lag = async |id: Uuid| store.of(acme).webhooks().lags().await.unwrap().remove(&id).unwrap();
    assert_eq!(lag(first).await, EndpointLag::default());
    for identity in ["a", "b"] {
        inbound(store, &lease, acme, identity).await;
    }
    let through = store.event_log().settle().await.unwrap().through;
    let all = lag(first).await;
    assert!(all.retries == 0 && all.waiting_since.is_some(), "{all:?}");

    // One of the two blocks, and then both.
    let to = |block: i64, put: Vec<StoredRetry>| Write {
        cursor: Some(Sequence::end_of(block)),
        put,
        ..Write::default()
    };
    assert!(store.webhooks().write(first, &to(through - 1, Vec::new())).await.unwrap());
    assert!(lag(first).await.waiting_since.is_some());
    assert!(store.webhooks().write(first, &to(through, vec![retry(through, 1)])).await.unwrap());
    assert_eq!(lag(first).await, EndpointLag { retries: 1, ..EndpointLag::default() });
    assert_eq!(lag(second).await, all);
    let other = company(store, "Globex").await;
    assert!(store.of(other).webhooks().lags().await.unwrap().is_empty());
}

async fn an_endpoint_says_what_the_log_no_longer_had_for_it(universe: &Universe) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let acme = company(store, "Acme").await;
    let (late, on_time) = (add(store, acme).await.id, add(store, acme).await.id);
    for identity in ["a", "b", "c"] {
        inbound(store, &lease, acme, identity).await;
    }
    let through = store.event_log().settle().await.unwrap().through;
    for (id, block) in [(late, through - 2), (on_time, through)] {
        let write = Write { cursor: Some(Sequence::end_of(block)), ..Write::default() };
        assert!(store.webhooks().write(id, &write).await.unwrap());
    }
    let bounds = LogBounds { before: Some(Timestamp::now().plus(Duration::from_secs(60))), bytes: u64::MAX };
    store.event_log().trim(bounds).await.unwrap();
    let lags = store.of(acme).webhooks().lags().await.unwrap();
    assert_eq!((lags[&late].lost, lags[&on_time].lost), (2, 0));

    let webhooks = store.of(acme).webhooks();
    webhooks.disable(&ana(), late).await.unwrap();
    webhooks.enable(&ana(), late, Resume::CatchUp).await.unwrap();
    assert_eq!(webhooks.lags().await.unwrap()[&late].lost, 0, "a person knows");
}
