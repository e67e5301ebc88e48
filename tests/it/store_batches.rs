//! Batches of accepted sends, outcomes and marks, of any length and in any mixture.

use std::collections::{BTreeMap, HashMap};

use entity::{message, send as send_row};
use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Failure, Key, Outcome, Position, State};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{self, Block, Mark, Progress, Recipients, Schedule};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites, Receipt};
use pombo::store::sends::StoredLabel;
use pombo::store::{Error, Lease};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, EntityTrait as _};
use uuid::Uuid;

use crate::database::{Universe, stores};

stores!(
    a_batch_of_any_length_is_written_whole,
    a_long_batch_that_meets_rows_takes_nothing_back_and_can_be_written_again,
    a_batch_accepts_sends_beside_what_it_records,
);

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const ACME: Uuid = Uuid::from_u128(1);
/// Two bulk sends, whose outcomes come in turns.
const BULK: [Uuid; 2] = [Uuid::from_u128(10), Uuid::from_u128(11)];
/// Recipients of each. Their outcomes are too long for one statement, and for three.
const RECIPIENTS: u64 = 1_200;

struct Ledger<'a> {
    universe: &'a Universe,
    lease: Lease,
    rows: DatabaseConnection,
}

impl<'a> Ledger<'a> {
    /// With the two bulk sends, all of whose messages may have been attempted.
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        let rows = Database::connect(&universe.url).await.unwrap();
        let ledger = Self { universe, lease, rows };
        let numbers: Vec<_> = (0..RECIPIENTS).map(number).collect();
        let block = |send_id| BlockOf {
            send_id,
            block: Block { first_ordinal: 0, recipients: RECIPIENTS, packed: pack(&numbers) },
        };
        let begun = PendingWrites {
            sends: BULK.map(|id| new_send(id, Recipients::Blocks(RECIPIENTS))).to_vec(),
            blocks: BULK.map(block).to_vec(),
            ..PendingWrites::default()
        };
        ledger.commit(&begun).await;
        ledger.commit(&PendingWrites { marks: marks(0), ..PendingWrites::default() }).await;
        ledger
    }

    async fn commit(&self, batch: &PendingWrites) {
        let committed = self.universe.store.ledger().commit(&self.lease, batch, NOW).await.unwrap();
        assert!(committed.gone.is_empty() && committed.overtaken.is_empty());
    }

    async fn messages(&self) -> HashMap<Key, message::Model> {
        let rows = message::Entity::find().all(&self.rows).await.unwrap();
        let key = |row: &message::Model| Key { send_id: row.send_id, ordinal: row.ordinal.cast_unsigned() };
        rows.into_iter().map(|row| (key(&row), row)).collect()
    }

    /// The progress of each send, by its id.
    async fn progress(&self) -> BTreeMap<Uuid, (i64, i64)> {
        let rows = send_row::Entity::find().all(&self.rows).await.unwrap();
        rows.into_iter().map(|row| (row.id, (row.high_water, row.settled))).collect()
    }

    async fn end(self) {
        self.rows.close().await.unwrap();
    }
}

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

fn new_send(id: Uuid, recipients: Recipients) -> NewSend {
    NewSend {
        id,
        company_id: ACME,
        channel_id: Uuid::nil(),
        state: send::State::Active,
        content: "{}".to_owned(),
        template_id: None,
        recipients,
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    }
}

/// The outcome of a message; every seventh failed, with a long sentence.
fn outcome(place: u64) -> OutcomeOf {
    let (send_id, ordinal) = (BULK[usize::try_from(place % 2).unwrap()], place / 2);
    let has_failed = place.is_multiple_of(7);
    let error = || Failure { code: Some(131_026), sentence: "there is nobody ".repeat(20) };
    let outcome = Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state: if has_failed { State::Failed } else { State::Sent },
        attempts: 1,
        provider_message_id: (!has_failed).then(|| format!("wamid.{place}")),
        error: has_failed.then(error),
        retry_at: None,
        taken_at: Some(NOW),
    };
    OutcomeOf { send_id, company_id: ACME, outcome }
}

fn marks(settled: u64) -> Vec<Mark> {
    let progress = Progress { high_water: RECIPIENTS, settled };
    BULK.map(|send_id| Mark { send_id, progress, state: send::State::Active, due_at: None }).to_vec()
}

/// The outcomes of the first `of_each` messages of each send, and marks that settle them.
fn batch(of_each: u64) -> PendingWrites {
    PendingWrites {
        outcomes: (0..2 * of_each).map(outcome).collect(),
        marks: marks(of_each),
        ..PendingWrites::default()
    }
}

async fn a_batch_of_any_length_is_written_whole(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    for of_each in [1, 40, 400, RECIPIENTS] {
        let mut batch = batch(of_each);
        // The others are written already.
        let before = ledger.messages().await.len();
        batch.outcomes.drain(..before);
        ledger.commit(&batch).await;
        let messages = ledger.messages().await;
        assert_eq!(messages.len() as u64, 2 * of_each);
        assert!(ledger.progress().await.values().all(|progress| progress.1.cast_unsigned() == of_each));
    }
    for (key, row) in ledger.messages().await {
        let place = 2 * key.ordinal + u64::from(key.send_id == BULK[1]);
        let OutcomeOf { outcome, .. } = outcome(place);
        assert_eq!(row.state, outcome.state.as_i16());
        assert_eq!(row.provider_message_id, outcome.provider_message_id);
        assert_eq!(row.error, outcome.error.map(|error| error.sentence));
        assert_eq!(row.recipient, number(key.ordinal).as_i64());
    }
    ledger.end().await;
}

async fn a_long_batch_that_meets_rows_takes_nothing_back_and_can_be_written_again(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    // In the last of the statements that the batch takes.
    let key = Key { send_id: BULK[1], ordinal: RECIPIENTS - 1 };
    let receipt = Receipt {
        key,
        company_id: ACME,
        state: State::Delivered,
        provider_message_id: Some("wamid.early".to_owned()),
        error: None,
        at: NOW,
        charge: None,
    };
    ledger.commit(&PendingWrites { receipts: vec![receipt], ..PendingWrites::default() }).await;
    for _ in 0..2 {
        ledger.commit(&batch(RECIPIENTS)).await;
        let messages = ledger.messages().await;
        assert_eq!(messages.len() as u64, 2 * RECIPIENTS);
        assert_eq!(messages[&key].state, State::Delivered.as_i16());
        assert_eq!(messages.values().filter(|row| row.state == State::Delivered.as_i16()).count(), 1);
        assert!(ledger.progress().await.values().all(|progress| progress.1.cast_unsigned() == RECIPIENTS));
    }
    ledger.end().await;
}

async fn a_batch_accepts_sends_beside_what_it_records(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let single = |number: u128| new_send(Uuid::from_u128(number), Recipients::One(self::number(7)));
    let mixed = PendingWrites { sends: vec![single(100), single(101)], ..batch(3) };
    ledger.commit(&mixed).await;
    assert_eq!((ledger.messages().await.len(), ledger.progress().await.len()), (6, 4));
    // A send that is there already refuses the batch, and what it records may be written again.
    let again = PendingWrites { sends: vec![single(102), single(101)], ..batch(5) };
    let refused = universe.store.ledger().commit(&ledger.lease, &again, NOW).await;
    assert!(matches!(refused, Err(Error::Taken(_))), "{refused:?}");
    assert_eq!(ledger.progress().await.len(), 4, "neither of the two sends");
    ledger.commit(&batch(5)).await;
    assert_eq!(ledger.messages().await.len(), 10);
    ledger.end().await;
}

/// On SQLite a lock of the file keeps other processes away.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_batch_of_a_process_that_lost_its_lease_leaves_nothing() {
    let universe = Universe::postgres().await;
    let ledger = Ledger::new(&universe).await;
    ledger.rows.execute_unprepared("UPDATE lease SET epoch = epoch + 1").await.unwrap();
    let single = new_send(Uuid::from_u128(100), Recipients::One(number(7)));
    let mixed = PendingWrites { sends: vec![single], ..batch(RECIPIENTS) };
    for late in [mixed, batch(RECIPIENTS), batch(1)] {
        let refused = universe.store.ledger().commit(&ledger.lease, &late, NOW).await;
        assert!(matches!(refused, Err(Error::Fenced)), "{refused:?}");
        assert_eq!((ledger.messages().await.len(), ledger.progress().await.len()), (0, 2));
    }
    ledger.end().await;
    universe.end().await;
}
