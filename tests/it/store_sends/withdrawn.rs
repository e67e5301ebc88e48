//! Sends that are canceled before their start, so that nothing of them ever goes.

use pombo::clock::Timestamp;
use pombo::domain::send::{Mark, Progress, Recipients, Schedule, State};
use pombo::store::Store;
use pombo::store::changes::Who;
use pombo::store::ledger::{NewSend, PendingWrites};
use pombo::store::sends::reschedule::Rescheduled;
use uuid::Uuid;

use super::{ACME, CHANNEL, GLOBEX, HOUR, NOW, channels, commit, lease, new_send, number};
use crate::database::{Universe, stores};

stores! {
    a_send_that_was_withdrawn_before_its_start_takes_no_first_mark_when_it_is_due,
}

async fn a_send_that_was_withdrawn_before_its_start_takes_no_first_mark_when_it_is_due(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    channels(universe, &[(CHANNEL, ACME)]).await;
    let schedule = Schedule { send_at: Some(NOW.plus(HOUR)), expires_at: None };
    let scheduled = |id| NewSend { schedule, ..new_send(id, Recipients::One(number(0))) };
    let sends = vec![scheduled(10), scheduled(11), new_send(12, Recipients::One(number(1)))];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    let begin = async |id: u128, at| {
        let progress = Progress { high_water: 1, settled: 0 };
        let marks = vec![Mark { send_id: Uuid::from_u128(id), progress, state: State::Active, due_at: None }];
        let batch = PendingWrites { marks, ..PendingWrites::default() };
        store.ledger().commit(&lease, &batch, at).await.unwrap().gone
    };
    let due = NOW.plus(2 * HOUR);

    let done = Rescheduled::Done { channel_id: CHANNEL, note: None };
    assert_eq!(withdraw(store, GLOBEX, 10, NOW).await, Rescheduled::Missing);
    assert_eq!(withdraw(store, ACME, 10, NOW).await, done);
    assert_eq!(withdraw(store, ACME, 10, due).await, done, "once more, which changes nothing");
    assert_eq!(begin(10, due).await, [Uuid::from_u128(10)], "its channel read it before");
    assert!(begin(11, due).await.is_empty());
    assert_eq!(withdraw(store, ACME, 11, NOW).await, Rescheduled::Begun);
    store.of(ACME).sends().cancel(Uuid::from_u128(11), due, None, None).await.unwrap();
    assert_eq!(withdraw(store, ACME, 11, NOW).await, Rescheduled::Over(State::Canceled));
    assert_eq!(withdraw(store, ACME, 12, NOW).await, Rescheduled::Begun, "it has no start to wait for");
}

async fn withdraw(store: &Store, company: Uuid, id: u128, at: Timestamp) -> Rescheduled {
    store.of(company).sends().withdraw(Uuid::from_u128(id), at, &Who::Pombo, None).await.unwrap()
}
