//! Sends, their messages and the answers that are kept about them, as the store shows them, on both databases.

mod answers;
mod names;
mod values;
mod withdrawn;

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::content;
use pombo::domain::message::{Failure, Key, Outcome, Position, State as At};
use pombo::domain::page::PageRequest;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Control, Mark, Progress, Recipients, Schedule, Stage, State};
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites};
use pombo::store::sends::list::Filter;
use pombo::store::sends::messages::Message;
use pombo::store::sends::{Ready, Size, StoredLabel};
use pombo::store::{Lease, Store};
use sea_orm::{ConnectionTrait as _, Database, Statement};
use uuid::Uuid;

use crate::database::{Universe, stores};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const HOUR: Duration = Duration::from_secs(3_600);
const ALL: PageRequest = PageRequest { page: 1, limit: 100 };
const ACME: Uuid = Uuid::from_u128(1);
const GLOBEX: Uuid = Uuid::from_u128(2);
const CHANNEL: Uuid = Uuid::from_u128(3);

stores! {
    every_recipient_is_counted_once_wherever_its_message_is,
    a_page_of_messages_in_one_state_is_that_page_of_all_of_them,
    messages_that_wait_in_an_ended_send_end_at_the_next_start,
    a_list_is_narrowed_to_one_stage_and_one_channel,
    unaccepted_and_foreign_sends_are_not_found,
    a_send_to_a_group_is_one_message_without_a_number,
    only_messages_that_may_go_by_then_count_as_queued,
    a_channel_with_unfinished_sends_is_listed_once,
}

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

fn new_send(id: u128, recipients: Recipients) -> NewSend {
    NewSend {
        id: Uuid::from_u128(id),
        company_id: ACME,
        channel_id: CHANNEL,
        state: State::Active,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients,
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    }
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

/// Both companies, and their channels, by which messages under way are found.
async fn channels(universe: &Universe, channels: &[(Uuid, Uuid)]) {
    let database = Database::connect(&universe.url).await.unwrap();
    for company in [ACME, GLOBEX] {
        let sql = "INSERT INTO company (id, name, tier, created_at) VALUES ($1, $2, 'standard', 1)";
        let values = [company.into(), company.to_string().into()];
        let insert = Statement::from_sql_and_values(database.get_database_backend(), sql, values);
        database.execute_raw(insert).await.unwrap();
    }
    database.close().await.unwrap();
    for (id, company_id) in channels {
        let new = NewChannel {
            id: *id,
            company_id: *company_id,
            kind: Kind::BusinessAccount,
            name: "shop".to_owned(),
            phone_number: None,
            phone_number_id: Some(id.to_string()),
            waba_id: None,
            tier: "standard".to_owned(),
            secrets: Sealed { token: None, app_secret: None },
            status: Status::Connected,
        };
        universe.store.channels().add(&Who::Pombo, new).await.unwrap();
    }
}

async fn commit(store: &Store, lease: &Lease, batch: PendingWrites) {
    store.ledger().commit(lease, &batch, NOW).await.unwrap();
}

fn outcome(ordinal: u64, state: At) -> Outcome {
    Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state,
        attempts: 2,
        provider_message_id: (state == At::Sent).then(|| format!("wamid.{ordinal}")),
        error: (state == At::Failed)
            .then(|| Failure { code: Some(131_026), sentence: "not on WhatsApp".to_owned() }),
        retry_at: (state == At::Queued).then_some(NOW),
        taken_at: (state == At::Sent).then_some(NOW),
    }
}

/// A send to ten in three blocks: below 4 all have a row, from 7 on none was attempted, 4 and 6 are in flight.
async fn under_way(store: &Store, lease: &Lease) -> Uuid {
    let send = new_send(10, Recipients::Blocks(10));
    let id = send.id;
    let block = |first: u64, end: u64| {
        let numbers: Vec<_> = (first..end).map(number).collect();
        BlockOf {
            send_id: id,
            block: Block { first_ordinal: first, recipients: end - first, packed: pack(&numbers) },
        }
    };
    let blocks = vec![block(0, 4), block(4, 8), block(8, 10)];
    commit(store, lease, PendingWrites { sends: vec![send], blocks, ..PendingWrites::default() }).await;
    let states = [(0, At::Sent), (1, At::Queued), (2, At::Failed), (3, At::Sent), (5, At::Queued)];
    let outcomes = states
        .map(|(ordinal, state)| OutcomeOf { send_id: id, company_id: ACME, outcome: outcome(ordinal, state) })
        .to_vec();
    let progress = Progress { high_water: 7, settled: 4 };
    let marks = vec![Mark { send_id: id, progress, state: State::Active, due_at: None }];
    commit(store, lease, PendingWrites { outcomes, marks, ..PendingWrites::default() }).await;
    id
}

async fn every_recipient_is_counted_once_wherever_its_message_is(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let id = under_way(store, &lease).await;
    let counted = async || {
        let record = store.of(ACME).sends().find(id, NOW).await.unwrap().unwrap();
        assert_eq!(record.counts.total(), record.recipients);
        At::ALL.map(|state| record.counts.of(state))
    };
    // Queued, sending, sent, delivered, read, failed, expired, canceled, unknown.
    assert_eq!(counted().await[..9], [7, 0, 2, 0, 0, 1, 0, 0, 0]);
    store.of(ACME).sends().cancel(id, NOW, None, None).await.unwrap();
    // The outcome of 4 and 6 is unknown: they were reserved, and have no row.
    assert_eq!(counted().await[..9], [0, 0, 2, 0, 0, 1, 0, 5, 2]);
    let snapshot = store.of(ACME).sends().snapshot(id).await.unwrap().unwrap();
    for (state, expected) in [(At::Canceled, vec![1, 5, 7, 8, 9]), (At::Unknown, vec![4, 6])] {
        let found = store.messages().page(&snapshot, Some(state), ALL).await.unwrap();
        assert_eq!((ordinals(&found.records), found.total), (expected.clone(), expected.len() as u64));
    }
}

async fn messages_that_wait_in_an_ended_send_end_at_the_next_start(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let (id, running) = (under_way(store, &lease).await, new_send(11, Recipients::One(number(1))));
    let running_id = running.id;
    store.of(ACME).sends().cancel(id, NOW, None, None).await.unwrap();
    // The channel puts messages in flight back, and its process is killed before it learns of the cancel.
    let sending = Outcome { retry_at: Some(NOW), ..outcome(6, At::Sending) };
    let put_back = vec![
        OutcomeOf { send_id: id, company_id: ACME, outcome: outcome(4, At::Queued) },
        OutcomeOf { send_id: id, company_id: ACME, outcome: sending },
    ];
    commit(
        store,
        &lease,
        PendingWrites { outcomes: put_back, sends: vec![running], ..PendingWrites::default() },
    )
    .await;
    let waits = vec![OutcomeOf { send_id: running_id, company_id: ACME, outcome: outcome(0, At::Queued) }];
    commit(store, &lease, PendingWrites { outcomes: waits, ..PendingWrites::default() }).await;

    assert_eq!(store.sends().end_left_messages(NOW).await.unwrap(), 1);
    assert_eq!(store.sends().end_left_messages(NOW).await.unwrap(), 0);
    let states = store.sends().message_states(id, &[4, 6]).await.unwrap();
    assert_eq!((states[&4], states[&6]), (At::Canceled, At::Unknown));
    assert_eq!(store.sends().message_states(running_id, &[0]).await.unwrap()[&0], At::Queued);
}

fn ordinals(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(|message| message.outcome.position.ordinal).collect()
}

async fn a_page_of_messages_in_one_state_is_that_page_of_all_of_them(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let id = under_way(store, &lease).await;
    every_page_is_right(store, id).await;
    store.of(ACME).sends().cancel(id, NOW, None, None).await.unwrap();
    every_page_is_right(store, id).await;
}

async fn every_page_is_right(store: &Store, id: Uuid) {
    let snapshot = store.of(ACME).sends().snapshot(id).await.unwrap().unwrap();
    let all = store.messages().from(&snapshot, None, 0, 100).await.unwrap();
    assert_eq!(ordinals(&all), (0..10).collect::<Vec<_>>());
    assert_eq!(all[2].outcome, outcome(2, At::Failed));
    assert_eq!((all[0].updated_at, all[4].updated_at, all[4].outcome.attempts), (Some(NOW), None, 0));
    assert!(all.iter().all(|it| it.outcome.position.recipient == Some(number(it.outcome.position.ordinal))));

    for state in At::ALL.into_iter().map(Some).chain([None]) {
        let is_asked = |message: &&Message| state.is_none_or(|state| message.outcome.state == state);
        let matching: Vec<_> = all.iter().filter(is_asked).cloned().collect();
        for limit in 1..=4_u64 {
            for page in 1..=12 {
                let read =
                    store.messages().page(&snapshot, state, PageRequest { page, limit }).await.unwrap();
                let skip = usize::try_from((page - 1) * u128::from(limit)).unwrap();
                let expected: Vec<_> =
                    matching.iter().skip(skip).take(usize::try_from(limit).unwrap()).cloned().collect();
                assert_eq!(read.records, expected, "{state:?}: page {page} of {limit}");
                assert_eq!(read.total, matching.len() as u64, "{state:?}");
            }
            for from in 0..11 {
                let read = store.messages().from(&snapshot, state, from, limit).await.unwrap();
                let expected = matching.iter().filter(|message| message.outcome.position.ordinal >= from);
                let expected: Vec<_> = expected.take(usize::try_from(limit).unwrap()).cloned().collect();
                assert_eq!(read, expected, "{state:?}: {limit} from {from}");
            }
        }
    }
    let far = PageRequest { page: u128::MAX >> 1, limit: 1000 };
    assert_eq!(store.messages().page(&snapshot, Some(At::Queued), far).await.unwrap().records, []);
}

async fn a_list_is_narrowed_to_one_stage_and_one_channel(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    channels(universe, &[(CHANNEL, ACME), (Uuid::from_u128(4), ACME)]).await;
    let to = |ordinal| Recipients::One(number(ordinal));
    let scheduled = Schedule { send_at: Some(NOW.plus(HOUR)), expires_at: Some(NOW.plus(2 * HOUR)) };
    let started = Schedule { send_at: Some(NOW.minus(HOUR)), expires_at: Some(NOW.minus(HOUR / 2)) };
    let other_channel = NewSend { channel_id: Uuid::from_u128(4), ..new_send(12, to(2)) };
    let sends = vec![
        NewSend { schedule: scheduled, skipped: 3, ..new_send(10, to(0)) },
        NewSend { schedule: started, ..new_send(11, to(1)) },
        other_channel,
        new_send(13, to(3)),
        new_send(14, to(4)),
        NewSend { schedule: scheduled, ..new_send(15, to(5)) },
    ];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    let progress = Progress { high_water: 1, settled: 1 };
    let marks = vec![Mark { send_id: Uuid::from_u128(13), progress, state: State::Finished, due_at: None }];
    commit(store, &lease, PendingWrites { marks, ..PendingWrites::default() }).await;
    store.of(ACME).sends().cancel(Uuid::from_u128(14), NOW, None, None).await.unwrap();
    store.of(ACME).sends().control(Uuid::from_u128(15), Control::Paused, None, None).await.unwrap();

    let listed = async |stage, channel: Option<u128>| {
        let channel_id = channel.map(Uuid::from_u128);
        let filter = Filter { stage, channel_id, ..Filter::default() };
        let sends = store.of(ACME).sends().page(ALL, &filter, NOW).await.unwrap();
        assert_eq!(sends.total, sends.records.len() as u64);
        assert!(stage.is_none_or(|stage| sends.records.iter().all(|send| send.stage == stage)));
        sends.records.iter().map(|send| send.id.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, None).await, [15, 14, 13, 12, 11, 10]);
    assert_eq!(listed(None, Some(4)).await, [12]);
    assert_eq!(listed(Some(Stage::Scheduled), None).await, [10]);
    assert_eq!(listed(Some(Stage::Active), None).await, [12, 11]);
    assert_eq!(listed(Some(Stage::Active), Some(3)).await, [11]);
    assert_eq!(listed(Some(Stage::Paused), None).await, [15]);
    assert_eq!(listed(Some(Stage::Finished), None).await, [13]);
    assert_eq!(listed(Some(Stage::Canceled), None).await, [14]);
    store.sends().expire(NOW, 100).await.unwrap();
    assert_eq!(listed(Some(Stage::Expired), None).await, [11]);

    let page = PageRequest { page: 3, limit: 2 };
    let last = store.of(ACME).sends().page(page, &Filter::default(), NOW).await.unwrap();
    let [expired, first] = &last.records[..] else { panic!("{last:?}") };
    assert_eq!((last.total, expired.counts.of(At::Expired), expired.finished_at), (6, 1, Some(NOW)));
    assert_eq!(
        (first.kind, first.skipped, first.schedule, first.finished_at),
        (content::Kind::Text, 3, scheduled, None)
    );
    assert_eq!((first.created_at, first.template.clone()), (NOW, None));
}

async fn unaccepted_and_foreign_sends_are_not_found(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let their_channel = Uuid::from_u128(4);
    channels(universe, &[(CHANNEL, ACME), (their_channel, GLOBEX)]).await;
    let resolving = NewSend { state: State::Resolving, ..new_send(10, Recipients::Blocks(9)) };
    let to = Recipients::One(number(0));
    let theirs = NewSend { company_id: GLOBEX, channel_id: their_channel, ..new_send(11, to) };
    commit(store, &lease, PendingWrites { sends: vec![resolving, theirs], ..PendingWrites::default() }).await;
    for stage in Stage::ALL.into_iter().map(Some).chain([None]) {
        for channel_id in [None, Some(their_channel)] {
            let filter = Filter { stage, channel_id, ..Filter::default() };
            let listed = store.of(ACME).sends().page(ALL, &filter, NOW).await.unwrap();
            assert_eq!((listed.records, listed.total), (Vec::new(), 0), "{stage:?} {channel_id:?}");
        }
    }
    for id in [10, 11, 12].map(Uuid::from_u128) {
        assert_eq!(store.of(ACME).sends().find(id, NOW).await.unwrap(), None);
        assert_eq!(store.of(ACME).sends().snapshot(id).await.unwrap(), None);
    }
    let own = store.of(GLOBEX).sends().snapshot(Uuid::from_u128(11)).await.unwrap().unwrap();
    let messages = store.messages().page(&own, None, ALL).await.unwrap();
    assert_eq!((ordinals(&messages.records), messages.total), (vec![0], 1));
}

async fn a_send_to_a_group_is_one_message_without_a_number(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let content = r#"{"type":"text","body":"hi","group":"120363000000000001"}"#.to_owned();
    let group = NewSend { content, ..new_send(10, Recipients::Group) };
    let id = group.id;
    let sends = vec![group, new_send(11, Recipients::One(number(0))), new_send(12, Recipients::Group)];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    let ready = Ready { now: NOW, templates: true };
    let direct = store.sends().unfinished(CHANNEL, Size::Direct, ready, 2).await.unwrap();
    let recipients: Vec<_> = direct.iter().map(|send| send.recipients).collect();
    assert_eq!(recipients, [Recipients::Group, Recipients::One(number(0))]);
    assert!(store.sends().unfinished(CHANNEL, Size::Bulk, ready, 2).await.unwrap().is_empty());
    assert!(
        store.of(ACME).sends().snapshot(Uuid::from_u128(12)).await.is_err(),
        "its content names no group"
    );

    let snapshot = store.of(ACME).sends().snapshot(id).await.unwrap().unwrap();
    assert_eq!(snapshot.group(), Some("120363000000000001"));
    let position = Position { ordinal: 0, recipient: None };
    let only = async |state| {
        let messages = store.messages().page(&snapshot, Some(state), ALL).await.unwrap();
        let of_all = store.messages().from(&snapshot, None, 0, 2).await.unwrap();
        assert_eq!(messages.records, of_all, "{state:?}");
        assert_eq!(messages.records[0].outcome.position, position);
    };
    only(At::Queued).await;
    let progress = Progress { high_water: 1, settled: 0 };
    let marks = vec![Mark { send_id: id, progress, state: State::Active, due_at: None }];
    let waits =
        OutcomeOf { send_id: id, company_id: ACME, outcome: Outcome { position, ..outcome(0, At::Queued) } };
    commit(
        store,
        &lease,
        PendingWrites { marks: marks.clone(), outcomes: vec![waits], ..PendingWrites::default() },
    )
    .await;
    let waiting = store.sends().waiting(id, NOW.plus(HOUR), 2).await.unwrap().soon;
    assert_eq!(waiting.iter().map(|waits| waits.position).collect::<Vec<_>>(), [position]);
    let key = Key { send_id: id, ordinal: 0 };
    assert!(store.of(ACME).sends().recipients_of(&[key]).await.unwrap().is_empty());
    let sent =
        OutcomeOf { send_id: id, company_id: ACME, outcome: Outcome { position, ..outcome(0, At::Sent) } };
    commit(store, &lease, PendingWrites { outcomes: vec![sent], ..PendingWrites::default() }).await;
    only(At::Sent).await;
}

async fn a_channel_with_unfinished_sends_is_listed_once(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let (idle, done) = (Uuid::from_u128(4), Uuid::from_u128(5));
    channels(universe, &[(CHANNEL, ACME), (idle, ACME), (done, GLOBEX)]).await;
    let sends = vec![
        new_send(11, Recipients::Blocks(1_000)),
        new_send(12, Recipients::One(number(1))),
        NewSend { channel_id: done, state: State::Finished, ..new_send(13, Recipients::One(number(2))) },
        NewSend { channel_id: idle, state: State::Resolving, ..new_send(14, Recipients::Blocks(1)) },
    ];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    let working: Vec<_> =
        store.channels().working().await.unwrap().into_iter().map(|channel| channel.id).collect();
    assert_eq!(working, [CHANNEL]);
}

async fn only_messages_that_may_go_by_then_count_as_queued(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    assert_eq!(store.sends().queued(CHANNEL, NOW).await.unwrap(), 0);
    under_way(store, &lease).await;
    let later = Schedule { send_at: Some(NOW.plus(HOUR)), expires_at: None };
    let sends = vec![
        NewSend { schedule: later, ..new_send(11, Recipients::Blocks(1_000)) },
        new_send(12, Recipients::One(number(1))),
        new_send(13, Recipients::One(number(2))),
    ];
    commit(store, &lease, PendingWrites { sends, ..PendingWrites::default() }).await;
    store.of(ACME).sends().control(Uuid::from_u128(13), Control::Paused, None, None).await.unwrap();
    assert_eq!(store.sends().queued(CHANNEL, NOW).await.unwrap(), 6 + 1);
    assert_eq!(store.sends().queued(CHANNEL, NOW.plus(HOUR)).await.unwrap(), 6 + 1 + 1_000);
    assert_eq!(store.sends().queued(Uuid::nil(), NOW).await.unwrap(), 0);
}
