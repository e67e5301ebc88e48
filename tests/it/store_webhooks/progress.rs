//! The progress of endpoints, which the engine writes, and what people's changes do to it.

use super::*;

stores! {
    only_a_person_enables_an_endpoint_that_is_disabled,
    the_progress_of_an_endpoint_never_goes_back,
    what_a_delivery_that_began_before_found_out_does_not_count_once_a_person_enabled_the_endpoint,
    the_failures_of_an_address_do_not_count_for_another_one,
    a_process_that_delivered_before_another_one_began_writes_nothing_more,
}

async fn only_a_person_enables_an_endpoint_that_is_disabled(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let endpoint = add(store, acme).await;
    let (id, webhooks) = (endpoint.id, store.of(acme).webhooks());
    let write = async |health: Health| {
        let resumed = standing(store, id).await.resumed;
        let changes = Write { health: Some(health), resumed, ..Write::default() };
        assert!(store.webhooks().write(id, &changes).await.unwrap());
        let read = webhooks.find(id).await.unwrap().unwrap().health;
        assert_eq!(standing(store, id).await.health, read);
        read
    };
    let last = NOW.plus(Duration::from_secs(60));
    let failing =
        Health { failures: 3, failing_since: Some(NOW), failed_at: Some(last), state: State::Enabled };
    assert_eq!(write(failing).await, failing);
    assert_eq!(write(Health::NEW).await, Health::NEW);
    let disabled = |cause| Health { state: State::Disabled { cause, since: NOW }, ..failing };
    assert_eq!(store.webhooks().enabled().await.unwrap().len(), 1);
    assert_eq!(write(disabled(Cause::Gone)).await, disabled(Cause::Gone));
    assert!(store.webhooks().enabled().await.unwrap().is_empty());
    for late in [Health::NEW, failing, disabled(Cause::Failures)] {
        assert_eq!(write(late).await, disabled(Cause::Gone));
    }
    let kept = webhooks.disable(&ana(), id).await.unwrap().unwrap();
    assert_eq!(kept.health, disabled(Cause::Gone), "it is disabled already");

    for _ in 0..2 {
        let enabled = webhooks.enable(&ana(), id, Resume::CatchUp).await.unwrap();
        assert_eq!(enabled.as_ref(), Some(&endpoint));
        assert_eq!(webhooks.find(id).await.unwrap(), enabled);
    }
    write(failing).await;
    for _ in 0..2 {
        let Health { failures, failing_since, failed_at, state } =
            webhooks.disable(&ana(), id).await.unwrap().unwrap().health;
        assert_eq!((failures, failing_since, failed_at), (3, Some(NOW), Some(last)));
        assert!(matches!(state, State::Disabled { cause: Cause::Person, .. }), "{state:?}");
        assert_eq!(webhooks.find(id).await.unwrap().unwrap().health.state, state);
    }
    let changes = recorded(store, What::Webhook).await;
    let status = |word: &str| json!({ "company_id": acme, "status": word });
    let told: Vec<_> = changes.iter().map(|change| (change.before.clone(), change.after.clone())).collect();
    assert_eq!(told[0], (Some(status("enabled")), status("disabled")));
    assert_eq!(told[1], (Some(status("disabled")), status("enabled")));
    assert_eq!(told.len(), 3, "what changes nothing is not recorded");
}

async fn the_progress_of_an_endpoint_never_goes_back(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (id, other) = (add(store, acme).await.id, add(store, acme).await.id);
    let begun = standing(store, id).await;
    let expected = EndpointStanding {
        cursor: Sequence::end_of(0),
        health: Health::NEW,
        retries: Vec::new(),
        replay: None,
        resumed: 0,
        begun: 0,
    };
    assert_eq!(begun, expected);
    let write = async |cursor: i64, put: Vec<StoredRetry>, remove: Vec<i64>| {
        let remove = remove.into_iter().map(|block| Sequence::new(block, 0)).collect();
        let changes = Write { cursor: Some(Sequence::end_of(cursor)), put, remove, ..Write::default() };
        // A write is repeated when its answer was lost.
        for _ in 0..2 {
            assert!(store.webhooks().write(id, &changes).await.unwrap());
        }
        let EndpointStanding { cursor, retries, .. } = standing(store, id).await;
        (cursor.block(), retries)
    };
    let three = vec![retry(1, 1), retry(2, 1), retry(3, 1)];
    assert_eq!(write(9, three.clone(), vec![]).await, (9, three));
    let two = vec![retry(2, 5), retry(3, 1)];
    assert_eq!(write(4, vec![retry(2, 5)], vec![1, 7]).await, (9, two.clone()));
    assert_eq!(standing(store, other).await, begun);

    let webhooks = store.of(acme).webhooks();
    for (resume, left) in [(Resume::CatchUp, two), (Resume::FromNow, Vec::new())] {
        webhooks.disable(&ana(), id).await.unwrap();
        webhooks.enable(&ana(), id, resume).await.unwrap();
        let EndpointStanding { cursor, retries, .. } = standing(store, id).await;
        assert_eq!((cursor, retries), (Sequence::end_of(9), left), "{resume}");
    }
}

/// A receiver failed, and its endpoint has an event that waits.
fn failed(resumed: i64) -> Write {
    let failed_at = Some(NOW.plus(Duration::from_secs(60)));
    Write {
        cursor: Some(Sequence::end_of(12)),
        health: Some(Health { failures: 7, failing_since: Some(NOW), failed_at, state: State::Enabled }),
        put: vec![retry(12, 1)],
        resumed,
        ..Write::default()
    }
}

async fn what_a_delivery_that_began_before_found_out_does_not_count_once_a_person_enabled_the_endpoint(
    universe: &Universe,
) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (id, webhooks) = (add(store, acme).await.id, store.of(acme).webhooks());
    for resume in [Resume::CatchUp, Resume::FromNow] {
        let begun = standing(store, id).await;
        webhooks.disable(&ana(), id).await.unwrap();
        webhooks.enable(&ana(), id, resume).await.unwrap();
        assert!(!store.webhooks().write(id, &failed(begun.resumed)).await.unwrap(), "{resume}");
        let now = standing(store, id).await;
        assert_eq!((now.health, now.retries), (Health::NEW, Vec::new()));
        assert!(now.cursor < Sequence::end_of(12), "{resume}");
        let record = store.webhooks().find(id).await.unwrap().unwrap();
        assert_eq!(record.resumed, now.resumed, "the service begins again");
        assert!(now.resumed > begun.resumed);
    }
    let resumed = standing(store, id).await.resumed;
    webhooks.enable(&ana(), id, Resume::CatchUp).await.unwrap();
    assert!(store.webhooks().write(id, &failed(resumed)).await.unwrap(), "it was enabled already");
}

async fn the_failures_of_an_address_do_not_count_for_another_one(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let (id, webhooks) = (add(store, acme).await.id, store.of(acme).webhooks());
    assert!(store.webhooks().write(id, &failed(0)).await.unwrap());
    let begun = standing(store, id).await;
    let faster = Settings { max_in_flight: 4, ..settings() };
    let elsewhere = Settings { url: "https://example.com/other".to_owned(), ..faster.clone() };
    let change = async |from: &Settings, to: &Settings| {
        let done = webhooks.change(&ana(), id, (from, to.clone()), HeadersChange::Keep).await.unwrap();
        assert_eq!(done, Changing::Done);
        standing(store, id).await
    };
    assert_eq!(change(&settings(), &faster).await, begun);
    let moved = change(&faster, &elsewhere).await;
    let expected = EndpointStanding { health: Health::NEW, resumed: begun.resumed + 1, ..begun.clone() };
    assert_eq!(moved, expected);
    // A request to the former address was under way, and its receiver answers that it is gone.
    let state = State::Disabled { cause: Cause::Gone, since: NOW };
    let gone = Write { health: Some(Health { state, ..begun.health }), ..failed(begun.resumed) };
    assert!(!store.webhooks().write(id, &gone).await.unwrap());
    assert_eq!(standing(store, id).await, expected);
}

async fn a_process_that_delivered_before_another_one_began_writes_nothing_more(universe: &Universe) {
    let store = &universe.store;
    let acme = company(store, "Acme").await;
    let id = add(store, acme).await.id;
    let former = store.webhooks().begin(id).await.unwrap().unwrap();
    let of = |begun: &EndpointStanding| Write { begun: begun.begun, ..failed(begun.resumed) };
    assert!(store.webhooks().write(id, &of(&former)).await.unwrap());
    let present = store.webhooks().begin(id).await.unwrap().unwrap();
    assert_eq!((present.cursor, present.retries.len()), (Sequence::end_of(12), 1));
    let recovered = Write { health: Some(Health::NEW), put: Vec::new(), ..of(&present) };
    assert!(
        store.webhooks().write(id, &Write { remove: vec![Sequence::new(12, 0)], ..recovered }).await.unwrap()
    );
    assert!(!store.webhooks().write(id, &of(&former)).await.unwrap(), "it may still be finding out the past");
    let now = standing(store, id).await;
    assert_eq!((now.health, now.retries), (Health::NEW, Vec::new()));
    assert!(store.webhooks().begin(Uuid::now_v7()).await.unwrap().is_none());
}
