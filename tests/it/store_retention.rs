//! Retention in the store: the rows that are removed, the steps of their removal, and the rows that always
//! stay.

use std::time::Duration;

use entity::{change, event, message, recipient_block, suppression};
use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Key, Outcome, Position, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Mark, Progress, Recipients, Schedule, State};
use pombo::domain::suppression::Suppression;
use pombo::store::changes::Who;
use pombo::store::imports::MOST_OPEN;
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites, Receipt};
use pombo::store::retention::{Aged, Cursor, Step};
use pombo::store::sends::StoredLabel;
use pombo::store::suppressions::{Says, Word};
use pombo::store::users::failed_sign_ins::Folded;
use pombo::store::{Error, Lease, Store};
use sea_orm::{
    ConnectionTrait as _, Database, DatabaseConnection, EntityTrait, PaginatorTrait as _, QueryResult, Set,
    Statement,
};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::store_contacts::company;

stores!(
    old_ended_sends_are_removed_with_all_their_rows_and_nothing_else_is,
    a_large_send_goes_in_steps_and_goes_on_where_a_process_left_it,
    a_receipt_of_a_removed_send_is_ignored_and_makes_no_row,
    a_process_that_lost_its_lease_removes_nothing,
    events_and_changes_are_removed_by_their_own_age,
    holds_are_removed_after_they_expire,
    an_upload_that_nobody_continues_goes_like_a_file_that_nobody_imports,
);

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const ACME: Uuid = Uuid::from_u128(1);

fn days_ago(days: u32) -> Timestamp {
    NOW.minus(days * DAY)
}

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

async fn count<E: EntityTrait>(rows: &DatabaseConnection) -> u64
where
    E::Model: Sync,
{
    E::find().count(rows).await.unwrap()
}

/// The sends that are being removed, by id: the next ordinal whose rows go, and the number of recipients.
async fn forgotten(rows: &DatabaseConnection) -> Vec<(i64, i64)> {
    let sql = "SELECT next_ordinal, recipients FROM forgotten_send ORDER BY id";
    let found = rows.query_all_raw(Statement::from_string(rows.get_database_backend(), sql)).await.unwrap();
    let pair = |row: QueryResult| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap());
    found.into_iter().map(pair).collect()
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

/// A send to this many recipients that came to this state at `at`; all messages are sent.
async fn send(store: &Store, lease: &Lease, id: u128, recipients: u64, state: State, at: Timestamp) -> Uuid {
    let id = Uuid::from_u128(id);
    let blocks = (0..recipients).step_by(4).map(|first| {
        let numbers: Vec<_> = (first..recipients.min(first + 4)).map(number).collect();
        BlockOf {
            send_id: id,
            block: Block { first_ordinal: first, recipients: numbers.len() as u64, packed: pack(&numbers) },
        }
    });
    let new = NewSend {
        id,
        company_id: ACME,
        channel_id: Uuid::from_u128(2),
        state: State::Active,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients: if recipients == 1 { Recipients::One(number(0)) } else { Recipients::Blocks(recipients) },
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    };
    let blocks = if recipients == 1 { Vec::new() } else { blocks.collect() };
    let batch = PendingWrites { sends: vec![new], blocks, ..PendingWrites::default() };
    store.ledger().commit(lease, &batch, at).await.unwrap();
    let outcome = |ordinal| Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state: At::Sent,
        attempts: 1,
        provider_message_id: None,
        error: None,
        retry_at: None,
        taken_at: Some(at),
    };
    let outcomes = (0..recipients)
        .map(|ordinal| OutcomeOf { send_id: id, company_id: ACME, outcome: outcome(ordinal) })
        .collect();
    let progress = Progress { high_water: recipients, settled: recipients };
    let marks = vec![Mark { send_id: id, progress, state, due_at: None }];
    store
        .ledger()
        .commit(lease, &PendingWrites { outcomes, marks, ..PendingWrites::default() }, at)
        .await
        .unwrap();
    id
}

fn receipt(send_id: Uuid, ordinal: u64, at: Timestamp) -> Receipt {
    let key = Key { send_id, ordinal };
    let (provider_message_id, error, charge) = (None, None, None);
    Receipt { key, company_id: ACME, state: At::Read, provider_message_id, error, at, charge }
}

async fn hear(store: &Store, lease: &Lease, receipt: Receipt) -> u64 {
    let batch = PendingWrites { receipts: vec![receipt], ..PendingWrites::default() };
    store.ledger().commit(lease, &batch, NOW).await.unwrap().ignored.unknown_send
}

async fn exists(store: &Store, id: Uuid) -> bool {
    store.of(ACME).sends().find(id, NOW).await.unwrap().is_some()
}

/// Removes all sends that ended before `before`, in steps of at most `limit` rows.
async fn remove_old(store: &Store, lease: &Lease, before: Timestamp, limit: u32) -> Step {
    let (mut all, mut cursor) = (Step::default(), Cursor::default());
    while {
        let step = store.retention().remove_sends(lease, before, &mut cursor, limit).await.unwrap();
        assert!(step.sends <= limit.into());
        all.sends += step.sends;
        step.more
    } {}
    while {
        let step = store.retention().remove_messages(lease, limit).await.unwrap();
        assert!(step.messages <= limit.into(), "{step:?}");
        all.messages += step.messages;
        step.more
    } {}
    all
}

async fn old_ended_sends_are_removed_with_all_their_rows_and_nothing_else_is(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    for limit in [1, 2, 3, 100] {
        let old = days_ago(100);
        let gone = [
            send(store, &lease, 10, 10, State::Finished, old).await,
            send(store, &lease, 11, 1, State::Finished, old).await,
            send(store, &lease, 12, 5, State::Canceled, old).await,
            send(store, &lease, 13, 1, State::Expired, days_ago(90)).await,
        ];
        let heard = send(store, &lease, 22, 6, State::Finished, old).await;
        let stays = [
            send(store, &lease, 20, 5, State::Active, old).await,
            send(store, &lease, 21, 5, State::Finished, days_ago(89)).await,
            heard,
        ];
        assert_eq!(hear(store, &lease, receipt(heard, 5, days_ago(1))).await, 0);

        let removed = remove_old(store, &lease, days_ago(90), limit).await;
        assert_eq!((removed.sends, removed.messages), (4, 17), "{limit} at once");
        for id in gone {
            assert!(!exists(store, id).await, "{id}");
        }
        for id in stays {
            assert!(exists(store, id).await, "{id}");
        }
        assert_eq!(count::<message::Entity>(&rows).await, 16);
        assert_eq!(count::<recipient_block::Entity>(&rows).await, 6);
        assert!(forgotten(&rows).await.is_empty());
        assert_eq!(remove_old(store, &lease, days_ago(90), limit).await, Step::default());
        // Old reports of the provider go too, but no rows of a send that is not over.
        assert_eq!(remove_old(store, &lease, NOW, limit).await.sends, 2);
        assert!(exists(store, stays[0]).await);
        store.of(ACME).sends().cancel(stays[0], old, None, None).await.unwrap();
        assert_eq!(remove_old(store, &lease, NOW, limit).await.sends, 1);
        assert_eq!(count::<message::Entity>(&rows).await, 0);
    }
}

async fn a_large_send_goes_in_steps_and_goes_on_where_a_process_left_it(universe: &Universe) {
    let (store, first) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    let id = send(store, &first, 10, 23, State::Finished, days_ago(100)).await;
    send(store, &first, 11, 2, State::Finished, days_ago(100)).await;
    let step =
        store.retention().remove_sends(&first, days_ago(90), &mut Cursor::default(), 100).await.unwrap();
    assert_eq!((step.sends, step.more), (2, false));
    assert!(!exists(store, id).await, "the send goes at once");
    let step = store.retention().remove_messages(&first, 8).await.unwrap();
    assert_eq!((step.messages, step.more), (8, true));
    assert_eq!(forgotten(&rows).await, [(8, 23), (0, 2)]);
    assert_eq!(
        (count::<message::Entity>(&rows).await, count::<recipient_block::Entity>(&rows).await),
        (17, 5)
    );

    // The process ends; the next one knows only the database.
    drop(first);
    let (store, second) = (Store::open(&universe.options()).await.unwrap(), lease(universe).await);
    let mut steps = Vec::new();
    loop {
        let step = store.retention().remove_messages(&second, 8).await.unwrap();
        steps.push(step.messages);
        if !step.more {
            break;
        }
    }
    assert_eq!(steps, [8, 7, 2]);
    assert_eq!(
        (count::<message::Entity>(&rows).await, count::<recipient_block::Entity>(&rows).await),
        (0, 0)
    );
    assert!(forgotten(&rows).await.is_empty());
    store.close().await;
}

async fn a_receipt_of_a_removed_send_is_ignored_and_makes_no_row(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    let id = send(store, &lease, 10, 10, State::Finished, days_ago(100)).await;
    store.retention().remove_sends(&lease, days_ago(90), &mut Cursor::default(), 100).await.unwrap();
    store.retention().remove_messages(&lease, 4).await.unwrap();
    assert_eq!(hear(store, &lease, receipt(id, 1, NOW)).await, 1);
    assert_eq!(count::<message::Entity>(&rows).await, 6);
    // A receipt of a message whose row remains does not stop its removal.
    hear(store, &lease, receipt(id, 9, NOW)).await;
    remove_old(store, &lease, days_ago(90), 4).await;
    assert_eq!(hear(store, &lease, receipt(id, 9, NOW)).await, 1);
    assert_eq!(count::<message::Entity>(&rows).await, 0);
}

async fn a_process_that_lost_its_lease_removes_nothing(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    for id in [10, 11] {
        send(store, &lease, id, 3, State::Finished, days_ago(100)).await;
    }
    store.retention().remove_sends(&lease, days_ago(90), &mut Cursor::default(), 1).await.unwrap();
    rows.execute_unprepared("UPDATE lease SET epoch = epoch + 1").await.unwrap();
    let sends = store.retention().remove_sends(&lease, days_ago(90), &mut Cursor::default(), 100).await;
    let messages = store.retention().remove_messages(&lease, 100).await;
    if universe.url.starts_with("postgres") {
        assert!(matches!(sends, Err(Error::Fenced)) && matches!(messages, Err(Error::Fenced)));
        assert_eq!(count::<message::Entity>(&rows).await, 6);
    } else {
        // The holder of the file's lock cannot lose it.
        assert_eq!((sends.unwrap().sends, messages.unwrap().messages), (1, 6));
    }
}

async fn events_and_changes_are_removed_by_their_own_age(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    for day in 0..5_u32 {
        let event = event::ActiveModel {
            id: Set(Uuid::from_u128(u128::from(100 - day))),
            company_id: Set(ACME),
            channel_id: Set(Uuid::from_u128(2)),
            kind: Set("inbound_message".to_owned()),
            identity: Set(format!("wamid.{day}")),
            payload: Set("{}".to_owned()),
            created_at: Set(days_ago(day).millis()),
        };
        event::Entity::insert(event).exec(&rows).await.unwrap();
    }
    let step = store.retention().remove_aged(&lease, Aged::Events, days_ago(2), 2).await.unwrap();
    assert_eq!((step.others, step.more), (2, true));
    let step = store.retention().remove_aged(&lease, Aged::Events, days_ago(2), 2).await.unwrap();
    assert_eq!((step.others, step.more), (1, false));
    let left = event::Entity::find().all(&rows).await.unwrap();
    assert!(left.len() == 2 && left.iter().all(|event| event.created_at > days_ago(2).millis()));

    let document = r#"{"name": "a", "kind": "business_account", "messages_per_second": "1/s"}"#.to_owned();
    store.tiers().apply(&Who::Pombo, &[("a".to_owned(), document)]).await.unwrap();
    let (hour_ago, soon) = (Timestamp::now().minus(HOUR), Timestamp::now().plus(HOUR));
    let stranger = Who::Stranger { address: [192, 0, 2, 1].into() };
    store.sign_ins().record_failed(&stranger, "", "password").await.unwrap();
    let mut folded = Folded { id: Uuid::now_v7(), at: Timestamp::now(), address: None, times: 1 };
    for times in [1, 7] {
        folded.times = times;
        store.sign_ins().fold_failed(folded).await.unwrap();
    }
    let kept = change::Entity::find_by_id(folded.id).one(&rows).await.unwrap().unwrap();
    assert!(kept.after.contains("\"times\":7"), "{kept:?}");
    assert_eq!(
        store.retention().remove_aged(&lease, Aged::FailedSignIns, hour_ago, 10).await.unwrap(),
        Step::default()
    );
    let step = store.retention().remove_aged(&lease, Aged::FailedSignIns, soon, 1).await.unwrap();
    assert_eq!((step.others, step.more), (1, true));
    assert_eq!(store.retention().remove_aged(&lease, Aged::FailedSignIns, soon, 10).await.unwrap().others, 1);
    assert_eq!(count::<change::Entity>(&rows).await, 1, "people's changes stay");
    assert_eq!(
        store.retention().remove_aged(&lease, Aged::Changes, hour_ago, 10).await.unwrap(),
        Step::default()
    );
    assert_eq!(store.retention().remove_aged(&lease, Aged::Changes, soon, 10).await.unwrap().others, 1);
    assert_eq!(count::<change::Entity>(&rows).await, 0);
}

async fn holds_are_removed_after_they_expire(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    let word = |ordinal, said_at, says| Word {
        company_id: ACME,
        recipient: number(ordinal),
        scope: Suppression::Marketing,
        said_at,
        says,
    };
    let hold = |until| Says::Hold { until, provider_code: None };
    let suppressions = vec![
        word(0, days_ago(90), Says::Stop { provider_code: None }),
        word(1, days_ago(1), hold(NOW)),
        word(2, NOW, hold(NOW.plus(DAY))),
        // A suppression that was removed is kept for as long as an older report may arrive.
        word(3, days_ago(31), Says::Resume),
        word(4, days_ago(29), Says::Resume),
    ];
    store
        .ledger()
        .commit(&lease, &PendingWrites { suppressions, ..PendingWrites::default() }, NOW)
        .await
        .unwrap();
    assert_eq!(store.suppressions().current(NOW).await.unwrap().len(), 2);
    assert_eq!(store.retention().remove_suppressions(&lease, NOW, 10).await.unwrap().others, 2);
    assert_eq!(count::<suppression::Entity>(&rows).await, 3);
}

async fn an_upload_that_nobody_continues_goes_like_a_file_that_nobody_imports(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let company = company(universe, "acme").await;
    let begin = async || store.of(company).imports().begin_upload("a.csv").await.unwrap();
    let killed = begin().await.unwrap();
    store.imports().add_chunk(killed, 0, b"phone\n".to_vec()).await.unwrap();
    while begin().await.is_some() {}
    let removed = async |before: Timestamp| {
        let step = store.imports().remove(&lease, None, before, 100).await.unwrap();
        step.others
    };
    let now = Timestamp::now();
    assert_eq!(removed(now.minus(HOUR)).await, 0);
    assert_eq!(removed(now.plus(HOUR)).await, MOST_OPEN.cast_unsigned());
    assert!(begin().await.is_some(), "they no longer count");
    let late = store.imports().add_chunk(killed, 1, b"1\n".to_vec()).await;
    assert!(matches!(late, Err(Error::Missing(_))), "{late:?}");
    while store.imports().clean().await.unwrap() {}
    assert!(store.of(company).imports().find(killed).await.unwrap().is_none());
}
