//! Transactions that change the same rows at the same moment, on PostgreSQL: each waits for its turn, without
//! a deadlock. (SQLite has one writer.)

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Key, Outcome, Position, State};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{self, Block, Mark, Progress, Recipients, Schedule};
use pombo::domain::suppression::Suppression;
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites, Receipt};
use pombo::store::nodes::NewNode;
use pombo::store::sends::StoredLabel;
use pombo::store::suppressions::{Says, Word};
use pombo::store::{Error, Lease, Store};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement, TransactionTrait as _};
use uuid::Uuid;

use crate::database::Universe;
use crate::running::until;

const COMPANY: Uuid = Uuid::from_u128(1);
/// Recipients of every send here.
const RECIPIENTS: u64 = 20;
/// Sends of the crowd, and how many of them are canceled.
const SENDS: u128 = 24;
const CANCELED: usize = 12;
/// Commits of each of the two ledgers in the crowd.
const COMMITS: u64 = 60;

fn number(ordinal: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()
}

fn waiting(ordinal: u64) -> Outcome {
    Outcome {
        position: Position { ordinal, recipient: Some(number(ordinal)) },
        state: State::Queued,
        attempts: 1,
        provider_message_id: None,
        error: None,
        retry_at: Some(Timestamp::now()),
        taken_at: None,
    }
}

fn mark(send_id: Uuid) -> Mark {
    let progress = Progress { high_water: RECIPIENTS, settled: RECIPIENTS };
    Mark { send_id, progress, state: send::State::Active, due_at: None }
}

fn delivered(send_id: Uuid, ordinal: u64) -> Receipt {
    Receipt {
        key: Key { send_id, ordinal },
        company_id: COMPANY,
        state: State::Delivered,
        provider_message_id: None,
        error: None,
        at: Timestamp::now(),
        charge: None,
    }
}

/// A send all of whose messages were refused once and wait for a retry; with `is_over`, it has expired.
async fn refused_once(store: &Store, lease: &Lease, id: u128, is_over: bool) -> Uuid {
    let id = Uuid::from_u128(id);
    let numbers: Vec<_> = (0..RECIPIENTS).map(number).collect();
    let send = NewSend {
        id,
        company_id: COMPANY,
        channel_id: Uuid::nil(),
        state: send::State::Active,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients: Recipients::Blocks(RECIPIENTS),
        skipped: 0,
        schedule: Schedule { send_at: None, expires_at: is_over.then_some(Timestamp::from_millis(1)) },
        label: StoredLabel::default(),
    };
    let block = Block { first_ordinal: 0, recipients: RECIPIENTS, packed: pack(&numbers) };
    let batch = PendingWrites {
        sends: vec![send],
        blocks: vec![BlockOf { send_id: id, block }],
        outcomes: (0..RECIPIENTS)
            .map(|ordinal| OutcomeOf { send_id: id, company_id: COMPANY, outcome: waiting(ordinal) })
            .collect(),
        marks: vec![mark(id)],
        ..PendingWrites::default()
    };
    store.ledger().commit(lease, &batch, Timestamp::now()).await.unwrap();
    id
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

/// Waits until this many transactions of this database wait for a lock.
async fn until_they_wait(database: &DatabaseConnection, transactions: i64) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(&format!("{transactions} transactions waiting"), async || {
        let row = database.query_one_raw(Statement::from_string(database.get_database_backend(), sql));
        row.await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap() == transactions
    })
    .await;
}

/// The ways in which a person or the clock ends a send.
#[derive(Clone, Copy)]
enum End {
    Cancel,
    Expiry,
}

/// Ends a send while one of its messages is locked, and lets the ledger write another of them meanwhile.
async fn ends_beside_the_ledger(end: End) {
    let universe = Universe::postgres().await;
    let (store, lease) = (universe.store.clone(), lease(&universe).await);
    let send_id = refused_once(&store, &lease, 7, matches!(end, End::Expiry)).await;
    let database = Database::connect(&universe.url).await.unwrap();
    let gate = database.begin().await.unwrap();
    gate.execute_unprepared("SELECT 1 FROM message WHERE ordinal = 0 FOR UPDATE").await.unwrap();

    let ending = store.clone();
    let ended = actix_web::rt::spawn(async move {
        match end {
            End::Cancel => {
                ending.of(COMPANY).sends().cancel(send_id, Timestamp::now(), None, None).await.map(|_| ())
            }
            End::Expiry => ending.sends().expire(Timestamp::now(), 10).await.map(|_| ()),
        }
    });
    until_they_wait(&database, 1).await;
    let writing = store.clone();
    let written = actix_web::rt::spawn(async move {
        let outcomes = vec![OutcomeOf { send_id, company_id: COMPANY, outcome: waiting(1) }];
        let batch = PendingWrites { outcomes, marks: vec![mark(send_id)], ..PendingWrites::default() };
        writing.ledger().commit(&lease, &batch, Timestamp::now()).await.map(|_| ())
    });
    until_they_wait(&database, 2).await;
    gate.commit().await.unwrap();
    let results = [ended.await.unwrap(), written.await.unwrap()]
        .map(|result| result.map_err(|error| error.to_string()));
    assert_eq!(results, [Ok(()), Ok(())]);
    database.close().await.unwrap();
    drop(store);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_cancel_and_the_ledger_do_not_wait_for_each_other() {
    ends_beside_the_ledger(End::Cancel).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_expiry_and_the_ledger_do_not_wait_for_each_other() {
    ends_beside_the_ledger(End::Expiry).await;
}

/// A node joins the cluster.
async fn node(universe: &Universe, name: &str) -> Lease {
    let new = NewNode {
        cluster: "test",
        name,
        address: "http://127.0.0.1:1",
        version: "0.1.0",
        cores: 1,
        ..NewNode::default()
    };
    universe.store.nodes().join(&universe.options(), &new, Duration::from_secs(3_600)).await.unwrap()
}

/// The owner of a channel writes outcomes of messages while another node writes receipts of the same messages, one of
/// which has no row yet.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn receipts_on_one_node_and_outcomes_on_another_do_not_wait_for_each_other() {
    let universe = Universe::postgres().await;
    let store = universe.store.clone();
    let (owner, other) = (node(&universe, "one").await, node(&universe, "two").await);
    let send_id = refused_once(&store, &owner, 7, false).await;
    let database = Database::connect(&universe.url).await.unwrap();
    database.execute_unprepared("DELETE FROM message WHERE ordinal = 3").await.unwrap();
    let gate = database.begin().await.unwrap();
    gate.execute_unprepared("SELECT 1 FROM message WHERE ordinal = 4 FOR UPDATE").await.unwrap();

    let writing = store.clone();
    let written = actix_web::rt::spawn(async move {
        let outcome_of = |ordinal| OutcomeOf { send_id, company_id: COMPANY, outcome: waiting(ordinal) };
        let batch = PendingWrites { outcomes: (3..=5).map(outcome_of).collect(), ..PendingWrites::default() };
        writing.ledger().commit(&owner, &batch, Timestamp::now()).await.map(|_| ())
    });
    until_they_wait(&database, 1).await;
    let hearing = store.clone();
    let heard = actix_web::rt::spawn(async move {
        let receipts = vec![delivered(send_id, 3), delivered(send_id, 5)];
        let batch = PendingWrites { receipts, ..PendingWrites::default() };
        hearing.ledger().commit(&other, &batch, Timestamp::now()).await.map(|_| ())
    });
    until_they_wait(&database, 2).await;
    gate.commit().await.unwrap();
    let results = [written.await.unwrap(), heard.await.unwrap()]
        .map(|result| result.map_err(|error| error.to_string()));
    assert_eq!(results, [Ok(()), Ok(())]);
    let sql = "SELECT array_agg(ordinal ORDER BY ordinal) FROM message WHERE retry_at IS NULL";
    let row = database.query_one_raw(Statement::from_string(database.get_database_backend(), sql)).await;
    let delivered: Vec<i64> = row.unwrap().unwrap().try_get_by_index(0).unwrap();
    assert_eq!(delivered, [3, 5]);
    database.close().await.unwrap();
    drop(store);
    universe.end().await;
}

/// The ledger writes opt-outs while numbers of the same people turn out to be others', which come in another order.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn opt_outs_and_the_joining_of_numbers_do_not_wait_for_each_other() {
    let universe = Universe::postgres().await;
    let (store, lease) = (universe.store.clone(), lease(&universe).await);
    let person = |ordinal: u64| PhoneNumber::from_u64(999_900_000_000 + ordinal).unwrap();
    let opted_out = |said_at: i64| {
        let word = |ordinal| Word {
            company_id: COMPANY,
            recipient: person(ordinal),
            scope: Suppression::Marketing,
            said_at: Timestamp::from_millis(said_at),
            says: Says::Stop { provider_code: None },
        };
        PendingWrites { suppressions: vec![word(2), word(5)], ..PendingWrites::default() }
    };
    store.ledger().commit(&lease, &opted_out(1), Timestamp::now()).await.unwrap();
    let database = Database::connect(&universe.url).await.unwrap();
    let gate = database.begin().await.unwrap();
    gate.execute_unprepared("SELECT 1 FROM suppression WHERE recipient = 999900000002 FOR UPDATE")
        .await
        .unwrap();

    let (writing, batch) = (store.clone(), opted_out(2));
    let written = actix_web::rt::spawn(async move {
        writing.ledger().commit(&lease, &batch, Timestamp::now()).await.map(|_| ())
    });
    until_they_wait(&database, 1).await;
    let learning = store.clone();
    let learned = actix_web::rt::spawn(async move {
        let pairs = [(person(5), person(6)), (person(2), person(3))];
        learning.of(COMPANY).persons().learn_numbers(&pairs).await
    });
    until_they_wait(&database, 2).await;
    gate.commit().await.unwrap();
    assert_eq!(written.await.unwrap().map_err(|error| error.to_string()), Ok(()));
    assert_eq!(learned.await.unwrap().map_err(|error| error.to_string()), Ok(2));
    let suppressed = store.of(COMPANY).suppressions().all(Timestamp::now()).await.unwrap();
    let suppressed: Vec<_> = suppressed.iter().map(|kept| kept.record.recipient).collect();
    assert_eq!(suppressed, [person(3), person(6)]);
    database.close().await.unwrap();
    drop(store);
    universe.end().await;
}

/// Outcomes, receipts and marks of any of the sends, in any order.
fn anything(chance: &mut SmallRng, sends: &[Uuid]) -> PendingWrites {
    let mut batch = PendingWrites::default();
    for _ in 0..30 {
        let (send_id, ordinal) =
            (sends[chance.random_range(0..sends.len())], chance.random_range(0..RECIPIENTS));
        if chance.random_ratio(1, 3) {
            batch.receipts.push(delivered(send_id, ordinal));
        } else {
            batch.outcomes.push(OutcomeOf { send_id, company_id: COMPANY, outcome: waiting(ordinal) });
        }
    }
    let mut marked = sends.to_vec();
    marked.shuffle(chance);
    batch.marks = marked.into_iter().take(8).map(mark).collect();
    batch
}

/// Two ledgers, cancels, expiry and a start, all at once.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn simultaneous_changes_of_sends_and_messages_take_turns() {
    let universe = Universe::postgres().await;
    let (store, lease) = (universe.store.clone(), std::rc::Rc::new(lease(&universe).await));
    let mut sends = Vec::new();
    for id in 1..=SENDS {
        sends.push(refused_once(&store, &lease, id, id % 3 == 0).await);
    }
    let mut tasks = Vec::new();
    let mut go = |task: std::pin::Pin<Box<dyn Future<Output = Result<(), Error>>>>| {
        tasks.push(actix_web::rt::spawn(task));
    };
    for ledger in 0..2 {
        let (store, lease, sends) = (store.clone(), std::rc::Rc::clone(&lease), sends.clone());
        go(Box::pin(async move {
            let mut chance = SmallRng::seed_from_u64(ledger);
            for _ in 0..COMMITS {
                let batch = anything(&mut chance, &sends);
                store.ledger().commit(&lease, &batch, Timestamp::now()).await?;
            }
            Ok(())
        }));
    }
    for send_id in sends.iter().rev().take(CANCELED).copied() {
        let store = store.clone();
        go(Box::pin(async move {
            store.of(COMPANY).sends().cancel(send_id, Timestamp::now(), None, None).await.map(|_| ())
        }));
    }
    let other = store.clone();
    go(Box::pin(async move {
        for _ in 0..20 {
            other.sends().put_off_unknown(Timestamp::now().plus(Duration::from_secs(60))).await?;
            other.sends().expire(Timestamp::now(), 3).await?;
        }
        Ok(())
    }));
    for task in tasks {
        assert_eq!(task.await.unwrap().map_err(|error| error.to_string()), Ok(()));
    }
    drop(store);
    universe.end().await;
}
