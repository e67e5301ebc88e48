//! Messages that are selected, and the sources of audiences, as the store keeps them, on both databases.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Failure, Outcome, Position, Selection, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Mark, Pace, Progress, Recipients, Schedule, Source, State};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites, SourceOf};
use pombo::store::retention::Cursor;
use pombo::store::sends::StoredLabel;
use pombo::store::sends::list::Filter;
use pombo::store::sends::messages::Found;
use pombo::store::{Lease, Store};
use sea_orm::{ConnectionTrait as _, Database, Statement};
use uuid::Uuid;

use crate::database::{Universe, stores};

stores!(
    a_selection_is_the_same_in_whatever_steps_it_is_read,
    the_rows_of_a_part_are_counted_by_state_cause_and_time,
    the_latest_sends_are_found_by_their_time_and_counted_each_and_in_parts,
    the_sources_of_a_send_go_when_it_goes,
);

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const ACME: Uuid = Uuid::from_u128(1);
const SEND: Uuid = Uuid::from_u128(10);
const RECIPIENTS: u64 = 12;
const PAGE: pombo::domain::page::PageRequest = pombo::domain::page::PageRequest { page: 1, limit: 10 };

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

fn new_send(id: Uuid, state: State) -> NewSend {
    NewSend {
        id,
        company_id: ACME,
        channel_id: Uuid::from_u128(3),
        state,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients: Recipients::Blocks(RECIPIENTS),
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    }
}

fn blocks(id: Uuid) -> Vec<BlockOf> {
    let block = |first: u64| {
        let numbers: Vec<_> = (first..first + 4).map(number).collect();
        BlockOf { send_id: id, block: Block { first_ordinal: first, recipients: 4, packed: pack(&numbers) } }
    };
    (0..RECIPIENTS).step_by(4).map(block).collect()
}

fn outcome(ordinal: u64, state: At, code: Option<i64>) -> OutcomeOf {
    let outcome = Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state,
        attempts: 1,
        provider_message_id: None,
        error: code.map(|code| Failure { code: Some(code), sentence: format!("words of {code}") }),
        retry_at: (state == At::Queued).then_some(NOW),
        taken_at: (state == At::Sent).then(|| NOW.plus(Duration::from_secs(ordinal))),
    };
    OutcomeOf { send_id: SEND, company_id: ACME, outcome }
}

/// Rows for 0 to 3, for 5 and for 6; everything below 8 may have been attempted.
async fn under_way(store: &Store, lease: &Lease) {
    let sends = vec![new_send(SEND, State::Active)];
    store
        .ledger()
        .commit(lease, &PendingWrites { sends, blocks: blocks(SEND), ..PendingWrites::default() }, NOW)
        .await
        .unwrap();
    let outcomes = vec![
        outcome(0, At::Sent, None),
        outcome(1, At::Failed, Some(131_026)),
        outcome(2, At::Failed, Some(131_049)),
        outcome(3, At::Sent, None),
        outcome(5, At::Failed, Some(131_026)),
        outcome(6, At::Queued, Some(130_429)),
    ];
    let progress = Progress { high_water: 8, settled: 4 };
    let marks = vec![Mark { send_id: SEND, progress, state: State::Active, due_at: None }];
    store
        .ledger()
        .commit(lease, &PendingWrites { outcomes, marks, ..PendingWrites::default() }, NOW)
        .await
        .unwrap();
}

async fn a_selection_is_the_same_in_whatever_steps_it_is_read(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    under_way(store, &lease).await;
    every_step_is_right(store).await;
    store.of(ACME).sends().cancel(SEND, NOW, None, None).await.unwrap();
    every_step_is_right(store).await;
}

async fn every_step_is_right(store: &Store) {
    let snapshot = store.of(ACME).sends().snapshot(SEND).await.unwrap().unwrap();
    let all = store.messages().from(&snapshot, None, 0, 100).await.unwrap();
    assert_eq!(all.len() as u64, RECIPIENTS);
    let states = [vec![], vec![At::Failed], vec![At::Queued], vec![At::Canceled, At::Unknown, At::Failed]];
    let codes = [vec![], vec![131_026], vec![131_049, 130_429], vec![7]];
    for selection in states.iter().flat_map(|states| {
        let (states, selected) = (states.clone(), codes.clone());
        selected.into_iter().map(move |codes| Selection { states: states.clone(), codes })
    }) {
        let is_meant = |outcome: &Outcome| {
            let code = outcome.error.as_ref().and_then(|failure| failure.code);
            let has_code = code.is_some_and(|code| selection.codes.contains(&code));
            selection.has(outcome.state) && (selection.codes.is_empty() || has_code)
        };
        let expected: Vec<_> = all.iter().filter(|message| is_meant(&message.outcome)).cloned().collect();
        for (limit, span) in (1..=4).flat_map(|limit| [1, 2, 5, 100].map(|span| (limit, span))) {
            let (mut read, mut next) = (Vec::new(), Some(0));
            while let Some(from) = next {
                let found =
                    store.messages().selected(&snapshot, &selection, from, limit, span).await.unwrap();
                let Found { messages, next: after } = found;
                assert!(messages.len() as u64 <= limit, "{selection:?}");
                assert!(after.is_none_or(|after| after > from && after <= from + span), "{selection:?}");
                read.extend(messages);
                next = after;
            }
            assert_eq!(read, expected, "{selection:?}: {limit} among {span}");
        }
    }
}

async fn the_rows_of_a_part_are_counted_by_state_cause_and_time(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    under_way(store, &lease).await;
    let pace = Pace::between(NOW, NOW.plus(Duration::from_secs(130)));
    assert_eq!(pace.step, Duration::from_secs(2));
    let whole = store.sends().tally_part(SEND, 0, RECIPIENTS, &pace).await.unwrap();
    let of = |state| whole.counts.of(state);
    assert_eq!((of(At::Sent), of(At::Failed), of(At::Queued), whole.counts.total()), (2, 3, 1, 6));
    let mut causes: Vec<_> = whole.causes.iter().map(|cause| (cause.code, cause.messages)).collect();
    causes.sort_unstable();
    assert_eq!(causes, [(Some(131_026), 2), (Some(131_049), 1)]);
    let mut taken = whole.taken;
    taken.sort_unstable();
    assert_eq!(taken, [(0, 1), (1, 1)]);
    let part = store.sends().tally_part(SEND, 2, 4, &pace).await.unwrap();
    assert_eq!((part.counts.total(), part.taken), (2, vec![(1, 1)]));
    assert_eq!(store.sends().tally_part(Uuid::nil(), 0, 9, &pace).await.unwrap().counts.total(), 0);
}

async fn the_latest_sends_are_found_by_their_time_and_counted_each_and_in_parts(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    under_way(store, &lease).await;
    let sends = store.of(ACME).sends();
    let each = sends.count_each(&[SEND, Uuid::nil()]).await.unwrap();
    assert_eq!((each.len(), each[&SEND].of(At::Failed), each[&SEND].total()), (1, 3, 6));
    assert_eq!(sends.count_part(SEND, 2, 4).await.unwrap().total(), 2);
    assert!(sends.count_each(&[]).await.unwrap().is_empty());

    const DAY: Duration = Duration::from_secs(24 * 3_600);
    // An id contains the time of its send.
    let accept = async |at: Timestamp| {
        let second = at.millis().cast_unsigned() / 1_000;
        let id = Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, second, 0));
        let sends = vec![new_send(id, State::Active)];
        let writes = PendingWrites { sends, blocks: blocks(id), ..PendingWrites::default() };
        store.ledger().commit(&lease, &writes, at).await.unwrap();
        id
    };
    let (old, new) = (accept(NOW.minus(DAY)).await, accept(NOW).await);
    let since = async |from: Timestamp, before: Option<Uuid>, limit: u64| {
        let found = sends.accepted_since(from, before, limit).await.unwrap();
        assert!(found.iter().all(|send| (send.recipients, send.state) == (RECIPIENTS, State::Active)));
        found.into_iter().map(|send| send.id).collect::<Vec<_>>()
    };
    assert_eq!(since(NOW, None, 9).await, [new]);
    assert_eq!(since(NOW.minus(2 * DAY), None, 9).await, [new, old]);
    assert_eq!(since(NOW.minus(2 * DAY), None, 1).await, [new]);
    assert_eq!(since(NOW.minus(2 * DAY), Some(new), 9).await, [old]);
    let others = store.of(Uuid::from_u128(2)).sends().accepted_since(NOW.minus(DAY), None, 9).await;
    assert!(others.unwrap().is_empty());
}

async fn the_sources_of_a_send_go_when_it_goes(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let database = Database::connect(&universe.url).await.unwrap();
    let kept = async || {
        let sql = Statement::from_string(database.get_database_backend(), "SELECT COUNT(*) FROM send_source");
        database.query_one_raw(sql).await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap()
    };
    let (unresolved, tag) = (Uuid::from_u128(11), Source::Tag(Uuid::from_u128(20)));
    let sources = vec![
        SourceOf { send_id: SEND, source: tag },
        SourceOf { send_id: SEND, source: Source::Send(Uuid::from_u128(9)) },
        SourceOf { send_id: unresolved, source: tag },
    ];
    let sends = vec![new_send(SEND, State::Active), new_send(unresolved, State::Resolving)];
    let batch = PendingWrites { sends, sources, blocks: blocks(SEND), ..PendingWrites::default() };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    assert_eq!(kept().await, 3);
    let filter = Filter { source: Some(tag), ..Filter::default() };
    let listed = store.of(ACME).sends().page(PAGE, &filter, NOW).await.unwrap().records;
    assert_eq!(listed.iter().map(|send| send.id).collect::<Vec<_>>(), [SEND]);
    assert_eq!(listed[0].sources.len(), 2);
    store.sends().remove_unresolved(&lease).await.unwrap();
    assert_eq!(kept().await, 2);

    let doubtful = Uuid::from_u128(12);
    let sends = vec![new_send(doubtful, State::Resolving)];
    let batch = PendingWrites {
        sends,
        sources: vec![SourceOf { send_id: doubtful, source: tag }],
        ..PendingWrites::default()
    };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    store.ledger().settle(&[doubtful], NOW, Duration::from_secs(10)).await.unwrap();
    assert_eq!(kept().await, 2);

    store.of(ACME).sends().cancel(SEND, NOW, None, None).await.unwrap();
    let later = NOW.plus(Duration::from_secs(60));
    store.retention().remove_sends(&lease, later, &mut Cursor::default(), 10).await.unwrap();
    assert_eq!((kept().await, store.of(ACME).sends().head(SEND, NOW).await.unwrap()), (0, None));
    database.close().await.unwrap();
}
