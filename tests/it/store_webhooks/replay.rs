//! Events that are sent once more.

use pombo::domain::webhook::{ReplayOf, ReplayRequest};
use pombo::store::webhooks::{EndpointLag, Replaying, StoredReplay};

use super::*;

stores! {
    a_replay_goes_from_place_to_place_and_ends,
    events_that_are_given_up_are_kept_as_long_as_the_log_has_them,
    a_replay_ends_with_its_endpoint_or_before,
    a_sign_that_a_receiver_works_again_is_counted,
}

fn failed() -> ReplayRequest {
    ReplayRequest { of: ReplayOf::Failed, ..ReplayRequest::default() }
}

async fn stored(store: &Store, id: Uuid) -> Option<StoredReplay> {
    standing(store, id).await.replay
}

async fn lag(store: &Store, company: Uuid, id: Uuid) -> EndpointLag {
    store.of(company).webhooks().lags().await.unwrap().remove(&id).unwrap()
}

/// An endpoint that has got three events: its company, its id, and the block of the last one.
async fn endpoint(universe: &Universe) -> (Uuid, Uuid, i64) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let acme = company(store, "Acme").await;
    let id = add(store, acme).await.id;
    for identity in ["a", "b", "c"] {
        inbound(store, &lease, acme, identity).await;
    }
    let through = store.event_log().settle().await.unwrap().through;
    let write = Write { cursor: Some(Sequence::end_of(through)), ..Write::default() };
    assert!(store.webhooks().write(id, &write).await.unwrap());
    (acme, id, through)
}

async fn a_replay_goes_from_place_to_place_and_ends(universe: &Universe) {
    let (acme, id, through) = endpoint(universe).await;
    let (store, end) = (&universe.store, Sequence::end_of(through));
    let webhooks = store.of(acme).webhooks();
    assert_eq!(stored(store, id).await, None);
    let before = revision(store).await;
    let all = ReplayRequest { types: vec![Type::MessageReceived], ..ReplayRequest::default() };
    assert_eq!(webhooks.replay(&ana(), id, all.clone()).await.unwrap(), Replaying::Begins);
    assert!(revision(store).await > before, "a running service sees it");
    let begun = stored(store, id).await.unwrap();
    assert_eq!((begun.after, begun.up_to), (Sequence::default(), end));
    assert_eq!((&begun.replay.request, begun.replay.finished_at), (&all, None));
    assert_eq!(lag(store, acme, id).await.replay, Some(begun.replay.clone()));
    assert_eq!(store.webhooks().find(id).await.unwrap().unwrap().replay, Some(begun.replay.id));
    assert_eq!(webhooks.replay(&ana(), id, all.clone()).await.unwrap(), Replaying::Busy);

    let place = Sequence::end_of(through - 1);
    let to = |replay, place| Write { replay: Some((replay, place)), ..Write::default() };
    assert!(store.webhooks().write(id, &to(begun.replay.id, place)).await.unwrap());
    assert!(store.webhooks().write(id, &to(Uuid::nil(), end)).await.unwrap());
    // A node that delivered before.
    assert!(store.webhooks().write(id, &to(begun.replay.id, Sequence::end_of(through - 2))).await.unwrap());
    let under_way = stored(store, id).await.unwrap();
    assert_eq!((under_way.after, under_way.replay.finished_at), (place, None));
    assert!(store.webhooks().write(id, &to(begun.replay.id, end)).await.unwrap());
    assert!(stored(store, id).await.unwrap().replay.finished_at.is_some());
    assert_eq!(webhooks.replay(&ana(), id, all.clone()).await.unwrap(), Replaying::Begins);
    assert_ne!(stored(store, id).await.unwrap().replay.id, begun.replay.id);

    let recorded = recorded(store, What::Webhook).await;
    assert_eq!(recorded[0].after["replay"], "all", "{recorded:?}");
    let other = company(store, "Globex").await;
    let foreign = store.of(other).webhooks().replay(&ana(), id, all).await.unwrap();
    assert_eq!(foreign, Replaying::NoEndpoint);
}

async fn events_that_are_given_up_are_kept_as_long_as_the_log_has_them(universe: &Universe) {
    let (acme, id, through) = endpoint(universe).await;
    let store = &universe.store;
    let [first, second, third] = [through - 2, through - 1, through].map(|block| Sequence::new(block, 0));
    let old = Sequence::new(through - 3, 0);
    let write = Write { give_up: vec![old, first, second], put: vec![retry(through, 2)], ..Write::default() };
    for _ in 0..2 {
        assert!(store.webhooks().write(id, &write).await.unwrap());
    }
    let lagging = lag(store, acme, id).await;
    assert_eq!((lagging.given_up, lagging.retries), (3, 1));
    store.webhooks().trim(Timestamp::now()).await.unwrap();
    assert_eq!(lag(store, acme, id).await.given_up, 2, "the log does not have the first one");

    let all = (Sequence::default(), Sequence::end_of(through));
    let failed_of = async |limit| store.webhooks().failed(id, all, limit).await.unwrap();
    assert_eq!(failed_of(10).await, [first, second, third]);
    assert_eq!(failed_of(2).await, [first, second]);
    assert_eq!(store.webhooks().failed(id, (first, second), 10).await.unwrap(), [second]);
    // They become retries that have not failed.
    let write = Write { put: vec![retry(through - 2, 0), retry(through, 0)], ..Write::default() };
    assert!(store.webhooks().write(id, &write).await.unwrap());
    assert_eq!(failed_of(10).await, [second]);
    assert_eq!(lag(store, acme, id).await.given_up, 1);
    assert!(store.of(acme).webhooks().remove(&ana(), id).await.unwrap());
    assert_eq!(failed_of(10).await, []);
}

async fn a_replay_ends_with_its_endpoint_or_before(universe: &Universe) {
    let (acme, id, through) = endpoint(universe).await;
    let store = &universe.store;
    let webhooks = store.of(acme).webhooks();
    assert!(webhooks.end_replay(&ana(), id).await.unwrap(), "there is none to end");
    assert_eq!(webhooks.replay(&ana(), id, failed()).await.unwrap(), Replaying::Begins);
    assert!(webhooks.end_replay(&ana(), id).await.unwrap());
    assert_eq!(stored(store, id).await, None);
    let other = company(store, "Globex").await;
    assert!(!store.of(other).webhooks().end_replay(&ana(), id).await.unwrap());

    // Of a time before the events, and of one after them.
    let hour = Duration::from_secs(3_600);
    let (past, future) = (NOW.minus(hour), NOW.plus(hour));
    for (since, until, is_empty) in [
        (None, Some(past), true),
        (Some(past), Some(future), false),
        (Some(future), None, true),
        (Some(past), None, false),
    ] {
        let request = ReplayRequest { since, until, ..failed() };
        assert_eq!(webhooks.replay(&ana(), id, request).await.unwrap(), Replaying::Begins);
        let StoredReplay { replay, after, up_to } = stored(store, id).await.unwrap();
        assert_eq!((replay.request.since, replay.request.until), (since, until));
        let last = Sequence::new(through, 0);
        assert_eq!(!(after < last && last <= up_to), is_empty, "{since:?} {until:?}: {after:?} {up_to:?}");
        assert!(up_to <= Sequence::end_of(through));
        assert!(webhooks.end_replay(&ana(), id).await.unwrap());
    }

    assert_eq!(webhooks.replay(&ana(), id, failed()).await.unwrap(), Replaying::Begins);
    webhooks.disable(&ana(), id).await.unwrap();
    webhooks.enable(&ana(), id, Resume::CatchUp).await.unwrap();
    assert!(stored(store, id).await.is_some());
    webhooks.disable(&ana(), id).await.unwrap();
    webhooks.enable(&ana(), id, Resume::FromNow).await.unwrap();
    assert_eq!(stored(store, id).await, None, "nothing of the past is sent");
}

async fn a_sign_that_a_receiver_works_again_is_counted(universe: &Universe) {
    let store = &universe.store;
    let (acme, other) = (company(store, "Acme").await, company(store, "Globex").await);
    let (id, webhooks) = (add(store, acme).await.id, store.of(acme).webhooks());
    let mended = async || store.webhooks().find(id).await.unwrap().unwrap().mended;
    let before = revision(store).await;
    webhooks.mended(id).await.unwrap();
    assert_eq!((mended().await, revision(store).await), (1, before + 1), "a running service sees it");
    assert_eq!(webhooks.replay(&ana(), id, failed()).await.unwrap(), Replaying::Begins);
    assert_eq!(mended().await, 2, "a person expects that the receiver works");
    store.of(other).webhooks().mended(id).await.unwrap();
    assert_eq!(mended().await, 2);
}
