//! The log of events: an entry for each change, in the change's own transaction, and none while nobody reads it.

mod bounds;
mod facts;
mod together;

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::channel::{Connection, Kind, Reason, Status};
use pombo::domain::event::log::Sequence;
use pombo::domain::event::{Data, Event, LostData, Type};
use pombo::domain::message::{Failure, Key, Outcome, Position, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Mark, Progress, Recipients, Schedule, State};
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::event_log::{LogEvent, Reader};
use pombo::store::ledger::{NewSend, OutcomeOf, PendingWrites, Receipt, ReferenceOf};
use pombo::store::sends::StoredLabel;
use pombo::store::{Lease, Store};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::{ana, wrote};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(3);

stores! {
    a_log_without_a_reader_has_nothing,
    a_company_s_log_has_only_its_events_and_only_if_it_reads,
    each_state_of_a_message_is_one_event_however_often_it_is_written,
    a_state_before_a_message_s_outcome_is_no_event,
    a_receipt_before_the_outcome_is_an_event_and_the_outcome_is_none,
    a_receipt_that_changes_nothing_is_no_event,
    the_end_of_a_send_is_one_event_with_one_for_each_waiting_message,
    a_message_to_a_group_names_the_group,
    a_channel_s_changes_are_events_and_repetitions_are_none,
}

/// A store whose events a stream outside reads, and the lease.
async fn open(universe: &Universe) -> (Store, Lease) {
    let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
    universe.store.event_log().register(Reader::Nats, NOW).await.unwrap();
    (universe.store.clone(), lease)
}

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

fn send(id: u128, recipients: Recipients) -> NewSend {
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

fn sends(sends: Vec<NewSend>) -> PendingWrites {
    PendingWrites { sends, ..PendingWrites::default() }
}

fn outcome(id: u128, ordinal: u64, state: At) -> OutcomeOf {
    let failed = matches!(state, At::Failed | At::Unknown);
    let outcome = Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state,
        attempts: 1,
        provider_message_id: (state == At::Sent).then(|| format!("wamid.{ordinal}")),
        error: failed.then(|| Failure { code: Some(131_026), sentence: "not on WhatsApp".to_owned() }),
        retry_at: matches!(state, At::Queued | At::Unknown).then_some(NOW),
        taken_at: None,
    };
    OutcomeOf { send_id: Uuid::from_u128(id), company_id: ACME, outcome }
}

fn outcomes(outcomes: Vec<OutcomeOf>) -> PendingWrites {
    PendingWrites { outcomes, ..PendingWrites::default() }
}

fn receipts(id: u128, states: &[(u64, At)]) -> PendingWrites {
    let receipt = |(ordinal, state): &(u64, At)| Receipt {
        key: Key { send_id: Uuid::from_u128(id), ordinal: *ordinal },
        company_id: ACME,
        state: *state,
        provider_message_id: Some(format!("wamid.{ordinal}")),
        error: None,
        at: NOW,
        charge: None,
    };
    PendingWrites { receipts: states.iter().map(receipt).collect(), ..PendingWrites::default() }
}

fn mark(id: u128, high_water: u64, state: State) -> PendingWrites {
    let progress = Progress { high_water, settled: if state == State::Active { 0 } else { high_water } };
    let mark = Mark { send_id: Uuid::from_u128(id), progress, state, due_at: None };
    PendingWrites { marks: vec![mark], ..PendingWrites::default() }
}

async fn commit(store: &Store, lease: &Lease, batch: PendingWrites) {
    store.ledger().commit(lease, &batch, NOW).await.unwrap();
}

async fn pending(store: &Store) -> Vec<Event> {
    let log = store.event_log();
    let through = log.settle().await.unwrap().through;
    let page = log.read(None, (Sequence::default(), through), 100_000, |_| true).await.unwrap();
    assert!(!page.more && page.next == Sequence::end_of(through));
    page.told.into_iter().map(|told| told.event.unwrap()).collect()
}

/// Type and ordinal of each event.
async fn told(store: &Store) -> Vec<(String, Option<u64>)> {
    let all = pending(store).await;
    let ordinal = |event: &Event| serde_json::to_value(event).unwrap()["data"]["ordinal"].as_u64();
    assert!(all.is_sorted_by_key(|event| event.sequence));
    all.iter().map(|event| (event.r#type.to_string(), ordinal(event))).collect()
}

fn types(told: &[(&str, u64)]) -> Vec<(String, Option<u64>)> {
    told.iter().map(|(kind, ordinal)| ((*kind).to_owned(), Some(*ordinal))).collect()
}

async fn a_log_without_a_reader_has_nothing(universe: &Universe) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    commit(store, &lease, sends(vec![send(10, Recipients::Blocks(3))])).await;
    commit(store, &lease, mark(10, 3, State::Active)).await;
    commit(store, &lease, outcomes(vec![outcome(10, 0, At::Sent)])).await;
    commit(store, &lease, receipts(10, &[(0, At::Read)])).await;
    store.of(ACME).sends().cancel(Uuid::from_u128(10), NOW, None, None).await.unwrap();
    assert!(pending(store).await.is_empty());
}

async fn a_company_s_log_has_only_its_events_and_only_if_it_reads(universe: &Universe) {
    let store = &universe.store;
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let (other, log) = (Uuid::from_u128(2), store.event_log());
    let foreign = NewSend { company_id: other, ..send(11, Recipients::Blocks(9)) };
    commit(store, &lease, sends(vec![send(10, Recipients::Blocks(9)), foreign])).await;
    for id in [10, 11] {
        commit(store, &lease, mark(id, 9, State::Active)).await;
    }
    let both = |ordinal| {
        let theirs = OutcomeOf { company_id: other, ..outcome(11, ordinal, At::Sent) };
        outcomes(vec![outcome(10, ordinal, At::Sent), theirs])
    };
    commit(store, &lease, both(0)).await;
    let ours = log.register(Reader::Company(ACME), NOW).await.unwrap();
    commit(store, &lease, both(1)).await;
    log.register(Reader::Company(other), NOW).await.unwrap();
    commit(store, &lease, both(2)).await;
    log.forget(Reader::Company(other)).await.unwrap();
    commit(store, &lease, both(3)).await;
    assert_eq!(log.register(Reader::Company(ACME), NOW).await.unwrap(), ours, "it is registered already");

    let through = log.settle().await.unwrap().through;
    let read = async |company, after| {
        let page = log.read(Some(company), (after, through), 2, |_| true).await.unwrap();
        let ordinal = |told: LogEvent| match told.event.unwrap().data {
            Data::Message(message) => message.ordinal,
            other => panic!("{other:?}"),
        };
        (page.told.into_iter().map(ordinal).collect::<Vec<_>>(), page.next, page.more)
    };
    let (first, next, more) = read(ACME, ours).await;
    assert_eq!((first, more), (vec![1, 2], true));
    let (second, end, more) = read(ACME, next).await;
    assert_eq!((second, end, more), (vec![3], Sequence::end_of(through), false));
    assert_eq!(read(ACME, end).await, (vec![], end, false));
    assert_eq!(read(other, Sequence::default()).await.0, [2]);
    let of_type =
        log.read(Some(ACME), (ours, through), 9, |r#type| r#type == Type::MessageRead).await.unwrap();
    assert_eq!((of_type.told, of_type.next), (vec![], end), "what is not asked for is passed over");
}

async fn each_state_of_a_message_is_one_event_however_often_it_is_written(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let send_id = Uuid::from_u128(10);
    let reference = ReferenceOf { send_id, company_id: ACME, ordinal: 1, reference: "crm-77".to_owned() };
    let batch = PendingWrites { references: vec![reference], ..sends(vec![send(10, Recipients::Blocks(3))]) };
    commit(&store, &lease, batch).await;
    commit(&store, &lease, mark(10, 3, State::Active)).await;
    // As the ledger does after a commit in doubt.
    for _ in 0..2 {
        let batch = vec![outcome(10, 1, At::Failed), outcome(10, 0, At::Sent), outcome(10, 2, At::Unknown)];
        commit(&store, &lease, outcomes(batch)).await;
    }
    let expected = [("message.sent", 0), ("message.failed", 1), ("message.unknown", 2)];
    assert_eq!(told(&store).await, types(&expected));
    for _ in 0..2 {
        commit(&store, &lease, receipts(10, &[(0, At::Delivered), (2, At::Sent)])).await;
    }
    commit(&store, &lease, receipts(10, &[(0, At::Read), (0, At::Delivered)])).await;
    let later = [("message.delivered", 0), ("message.sent", 2), ("message.read", 0)];
    let all: Vec<_> = expected.into_iter().chain(later).collect();
    assert_eq!(told(&store).await, types(&all));

    let events = pending(&store).await;
    let failed = serde_json::to_value(&events[1]).unwrap();
    assert_eq!(
        failed,
        json!({
            "version": 1,
            "id": format!("{}.1.failed", send_id.as_simple()),
            "type": "message.failed",
            "sequence": events[1].sequence,
            "at": NOW.to_string(),
            "company_id": ACME,
            "channel_id": CHANNEL,
            "data": {
                "send_id": send_id,
                "reference": null,
                "message_reference": "crm-77",
                "ordinal": 1,
                "recipient": "+5511900000001",
                "provider_message_id": null,
                "error": { "code": 131_026, "message": "not on WhatsApp" },
            },
        })
    );
    let read = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(
        (&read["data"]["recipient"], &read["data"]["error"], read["data"].get("message_reference")),
        (&json!("+5511900000000"), &Value::Null, None)
    );
}

async fn a_state_before_a_message_s_outcome_is_no_event(universe: &Universe) {
    let (store, lease) = open(universe).await;
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(2))])).await;
    commit(&store, &lease, mark(10, 2, State::Active)).await;
    for state in [At::Queued, At::Sending, At::Queued] {
        commit(&store, &lease, outcomes(vec![outcome(10, 0, state)])).await;
    }
    assert!(told(&store).await.is_empty());
}

async fn a_receipt_before_the_outcome_is_an_event_and_the_outcome_is_none(universe: &Universe) {
    let (store, lease) = open(universe).await;
    commit(&store, &lease, sends(vec![send(10, Recipients::One(number(0)))])).await;
    commit(&store, &lease, mark(10, 1, State::Active)).await;
    commit(&store, &lease, receipts(10, &[(0, At::Delivered)])).await;
    commit(&store, &lease, outcomes(vec![outcome(10, 0, At::Sent)])).await;
    assert_eq!(told(&store).await, types(&[("message.delivered", 0)]));
    let event = serde_json::to_value(&pending(&store).await[0]).unwrap();
    assert_eq!(event["data"]["recipient"], "+5511900000000");
}

async fn a_receipt_that_changes_nothing_is_no_event(universe: &Universe) {
    let (store, lease) = open(universe).await;
    commit(&store, &lease, sends(vec![send(10, Recipients::Blocks(2))])).await;
    // A message that was never attempted, one without a send, and one of another company.
    commit(&store, &lease, receipts(10, &[(1, At::Delivered)])).await;
    commit(&store, &lease, receipts(99, &[(0, At::Delivered)])).await;
    commit(&store, &lease, mark(10, 1, State::Active)).await;
    commit(&store, &lease, outcomes(vec![outcome(10, 0, At::Sent)])).await;
    let mut foreign = receipts(10, &[(0, At::Read)]);
    foreign.receipts[0].company_id = Uuid::from_u128(2);
    commit(&store, &lease, foreign).await;
    assert_eq!(told(&store).await, types(&[("message.sent", 0)]));
}

async fn the_end_of_a_send_is_one_event_with_one_for_each_waiting_message(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let expiring = Schedule { send_at: None, expires_at: Some(NOW) };
    let all = vec![
        send(10, Recipients::Blocks(3)),
        send(11, Recipients::Blocks(2)),
        NewSend { schedule: expiring, ..send(12, Recipients::Blocks(2)) },
    ];
    commit(&store, &lease, sends(all)).await;
    for id in [10, 11, 12] {
        commit(&store, &lease, mark(id, 2, State::Active)).await;
        let waiting = vec![outcome(id, 0, At::Queued), outcome(id, 1, At::Sending)];
        let waiting: Vec<_> = waiting
            .into_iter()
            .map(|mut row| {
                row.outcome.retry_at = Some(NOW);
                row
            })
            .collect();
        commit(&store, &lease, outcomes(waiting)).await;
    }
    assert!(told(&store).await.is_empty());
    for _ in 0..2 {
        commit(&store, &lease, mark(10, 3, State::Finished)).await;
        store.of(ACME).sends().cancel(Uuid::from_u128(11), NOW, None, None).await.unwrap();
        store.sends().expire(NOW, 10).await.unwrap();
    }
    let events = told(&store).await;
    let expected = [
        ("send.finished", None),
        ("send.canceled", None),
        ("message.canceled", Some(0)),
        ("message.unknown", Some(1)),
        ("send.expired", None),
        ("message.expired", Some(0)),
        ("message.unknown", Some(1)),
    ];
    assert_eq!(events, expected.map(|(kind, ordinal)| (kind.to_owned(), ordinal)));
    let canceled = serde_json::to_value(&pending(&store).await[1]).unwrap();
    let data = json!({ "send_id": Uuid::from_u128(11), "recipients_count": 2, "reference": null });
    assert_eq!(canceled["data"], data);
}

async fn a_message_to_a_group_names_the_group(universe: &Universe) {
    let (store, lease) = open(universe).await;
    let content = r#"{"type":"text","body":"hi","group":"120363000000000001"}"#.to_owned();
    commit(&store, &lease, sends(vec![NewSend { content, ..send(10, Recipients::Group) }])).await;
    commit(&store, &lease, mark(10, 1, State::Active)).await;
    let mut sent = outcome(10, 0, At::Sent);
    sent.outcome.position.recipient = None;
    commit(&store, &lease, outcomes(vec![sent])).await;
    let event = serde_json::to_value(&pending(&store).await[0]).unwrap();
    assert_eq!(event["data"]["recipient"], "120363000000000001@g.us");
}

async fn a_channel_s_changes_are_events_and_repetitions_are_none(universe: &Universe) {
    let (store, _lease) = open(universe).await;
    let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let new = NewChannel {
        id: CHANNEL,
        company_id: company,
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some("1".to_owned()),
        waba_id: None,
        tier: "standard".to_owned(),
        secrets: Sealed { token: None, app_secret: None },
        status: Status::Connecting,
    };
    let added = store.channels().add(&Who::Pombo, new).await.unwrap().connection;
    let at = |status, code: Option<&str>, after: u64| Connection {
        status,
        reason: code.map(|code| Reason {
            code: code.into(),
            sentence: "give a new token".to_owned(),
            provider_code: Some(190),
        }),
        since: added.since.plus(Duration::from_millis(after)),
    };
    let states = [
        added.clone(),
        at(Status::Connected, None, 1),
        // The same again, later: no change.
        at(Status::Connected, None, 2),
        at(Status::Disconnected, Some("token_refused"), 3),
        at(Status::Disconnected, Some("not_registered"), 4),
    ];
    for pair in states.windows(2) {
        assert!(store.channels().set_connection(CHANNEL, &pair[0], &pair[1]).await.unwrap().is_some());
    }
    // A change that another transaction made first.
    assert_eq!(store.channels().set_connection(CHANNEL, &added, &states[1]).await.unwrap(), None);
    store.channels().rename(&Who::Pombo, CHANNEL, "another").await.unwrap();
    for _ in 0..2 {
        store.channels().reconnect(&Who::Pombo, CHANNEL, None).await.unwrap();
    }
    let events = pending(&store).await;
    let kinds: Vec<_> = events.iter().map(|event| event.r#type.as_str()).collect();
    assert_eq!(
        kinds,
        ["channel.connected", "channel.disconnected", "channel.disconnected", "channel.connecting"]
    );
    let refused = serde_json::to_value(&events[1]).unwrap();
    assert_eq!((&refused["company_id"], &refused["channel_id"]), (&json!(company), &json!(CHANNEL)));
    let reason = json!({ "code": "token_refused", "sentence": "give a new token", "provider_code": 190 });
    assert_eq!(refused["data"], json!({ "reason": reason }));
    assert_eq!(refused["at"], states[3].since.to_string());
}
