//! Two nodes that move the same messages at the same moment, on PostgreSQL: the events of each message are its states, in
//! their order. (SQLite has one writer.)
//!
//! A transaction is held up in its middle by a row that it needs later and that the test has locked.

use actix_web::rt;
use pombo::domain::block::pack;
use pombo::domain::send::Block;
use pombo::domain::suppression::Suppression;
use pombo::store::ledger::BlockOf;
use pombo::store::suppressions::{Says, Word};
use sea_orm::{
    ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, TransactionTrait as _,
};
use sea_orm::{Statement, Value as Bound};
use std::sync::Arc;

use super::*;
use crate::running::until;

/// The person whose suppression the test locks.
const PERSON: u64 = 99;

/// A send with two messages under way, and the database beside the store.
struct Stage {
    universe: Universe,
    store: Store,
    lease: Arc<Lease>,
    database: DatabaseConnection,
}

impl Stage {
    async fn new() -> Self {
        let universe = Universe::postgres().await;
        // Before the log has a reader, so that it is not told.
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        let opted_out = PendingWrites { suppressions: vec![opt_out()], ..PendingWrites::default() };
        commit(&universe.store, &lease, opted_out).await;
        universe.store.event_log().register(Reader::Nats, NOW).await.unwrap();
        let store = universe.store.clone();
        let recipients: Vec<_> = (0..3).map(number).collect();
        let block = Block { first_ordinal: 0, recipients: 3, packed: pack(&recipients) };
        let blocks = vec![BlockOf { send_id: Uuid::from_u128(10), block }];
        let begun = PendingWrites { blocks, ..sends(vec![send(10, Recipients::Blocks(3))]) };
        commit(&store, &lease, begun).await;
        commit(&store, &lease, mark(10, 3, State::Active)).await;
        let database = Database::connect(&universe.url).await.unwrap();
        Self { universe, store, lease: Arc::new(lease), database }
    }

    /// Locks the row that a transaction with an opt-out needs at its end.
    async fn gate(&self) -> DatabaseTransaction {
        let gate = self.database.begin().await.unwrap();
        gate.execute_unprepared("SELECT 1 FROM suppression FOR UPDATE").await.unwrap();
        gate
    }

    /// Begins to commit this batch.
    fn begin(&self, batch: PendingWrites) -> rt::task::JoinHandle<()> {
        let (store, lease) = (self.store.clone(), Arc::clone(&self.lease));
        rt::spawn(async move { commit(&store, &lease, batch).await })
    }

    /// Waits until this many transactions wait for a lock.
    async fn until_they_wait(&self, transactions: i64) {
        let sql = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until(&format!("{transactions} transactions waiting"), async || {
            self.number(sql).await == transactions
        })
        .await;
    }

    async fn number(&self, sql: &str) -> i64 {
        let statement = Statement::from_string(self.database.get_database_backend(), sql);
        self.database.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    async fn state(&self, ordinal: u64) -> At {
        let sql = format!("SELECT state::bigint FROM message WHERE ordinal = {ordinal}");
        At::from_i16(i16::try_from(self.number(&sql).await).unwrap()).unwrap()
    }

    /// Two batches at once: the first is held up after it moved its messages, and the second begins meanwhile.
    async fn at_once(&self, first: PendingWrites, second: PendingWrites) {
        let gate = self.gate().await;
        let first = self.begin(PendingWrites { suppressions: vec![opt_out()], ..first });
        self.until_they_wait(1).await;
        let second = self.begin(second);
        self.until_they_wait(2).await;
        gate.commit().await.unwrap();
        first.await.unwrap();
        second.await.unwrap();
    }

    async fn end(self) {
        self.database.close().await.unwrap();
        drop((self.store, self.lease));
        self.universe.end().await;
    }
}

fn opt_out() -> Word {
    Word {
        company_id: ACME,
        recipient: number(PERSON),
        scope: Suppression::Marketing,
        said_at: Timestamp::now(),
        says: Says::Stop { provider_code: None },
    }
}

fn sent() -> PendingWrites {
    outcomes(vec![outcome(10, 0, At::Sent)])
}

fn delivered() -> PendingWrites {
    receipts(10, &[(0, At::Delivered)])
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_receipt_during_the_commit_of_the_outcome_has_its_event_after_the_outcomes() {
    let stage = Stage::new().await;
    stage.at_once(sent(), delivered()).await;
    assert_eq!(told(&stage.store).await, types(&[("message.sent", 0), ("message.delivered", 0)]));
    assert_eq!(stage.state(0).await, At::Delivered);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_outcome_during_the_commit_of_the_receipt_has_no_event_after_the_receipts() {
    let stage = Stage::new().await;
    stage.at_once(delivered(), sent()).await;
    assert_eq!(told(&stage.store).await, types(&[("message.delivered", 0)]));
    assert_eq!(stage.state(0).await, At::Delivered);
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn both_orders_hold_for_a_message_that_was_announced_for_a_retry() {
    for is_receipt_first in [false, true] {
        let stage = Stage::new().await;
        commit(&stage.store, &stage.lease, outcomes(vec![outcome(10, 0, At::Sending)])).await;
        if is_receipt_first {
            stage.at_once(delivered(), sent()).await;
            assert_eq!(told(&stage.store).await, types(&[("message.delivered", 0)]));
        } else {
            stage.at_once(sent(), delivered()).await;
            assert_eq!(told(&stage.store).await, types(&[("message.sent", 0), ("message.delivered", 0)]));
        }
        assert_eq!(stage.state(0).await, At::Delivered);
        stage.end().await;
    }
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_receipt_that_two_nodes_write_is_one_event() {
    let stage = Stage::new().await;
    commit(&stage.store, &stage.lease, sent()).await;
    stage.at_once(delivered(), delivered()).await;
    stage.at_once(receipts(10, &[(0, At::Read)]), delivered()).await;
    let expected = [("message.sent", 0), ("message.delivered", 0), ("message.read", 0)];
    assert_eq!(told(&stage.store).await, types(&expected));
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_message_that_is_delivered_while_its_send_is_canceled_has_one_event() {
    let stage = Stage::new().await;
    commit(&stage.store, &stage.lease, outcomes(vec![outcome(10, 0, At::Queued)])).await;
    let gate = stage.gate().await;
    let heard = stage.begin(PendingWrites { suppressions: vec![opt_out()], ..delivered() });
    stage.until_they_wait(1).await;
    let store = stage.store.clone();
    let canceled =
        rt::spawn(async move { store.of(ACME).sends().cancel(Uuid::from_u128(10), NOW, None, None).await });
    stage.until_they_wait(2).await;
    gate.commit().await.unwrap();
    heard.await.unwrap();
    canceled.await.unwrap().unwrap();
    assert_eq!(stage.state(0).await, At::Delivered);
    let about_messages = told(&stage.store).await.into_iter().filter(|(_, ordinal)| ordinal.is_some());
    assert_eq!(about_messages.collect::<Vec<_>>(), types(&[("message.delivered", 0)]));
    stage.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_inbound_message_that_two_nodes_write_is_one_event() {
    let stage = Stage::new().await;
    let inbound = || wrote((ACME, CHANNEL), "wamid.a", NOW);
    // The same conversation, which the transaction of the test takes back.
    let gate = stage.database.begin().await.unwrap();
    let sql = "INSERT INTO conversation (id, company_id, channel_id, kind, peer, last_id, last_line, created_at) \
               VALUES ($1, $2, $3, 0, $4, $1, '', 1)";
    let values: [Bound; 4] = [Uuid::now_v7().into(), ACME.into(), CHANNEL.into(), ana().to_string().into()];
    let insert = Statement::from_sql_and_values(gate.get_database_backend(), sql, values);
    gate.execute_raw(insert).await.unwrap();
    let both =
        [(); 2].map(|()| stage.begin(PendingWrites { inbound: vec![inbound()], ..PendingWrites::default() }));
    stage.until_they_wait(2).await;
    gate.rollback().await.unwrap();
    for written in both {
        written.await.unwrap();
    }
    let kinds: Vec<_> = told(&stage.store).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["conversation.opened", "message.received"]);
    stage.end().await;
}

/// The receipts of a batch are written in two steps: of messages with a row, and of those without one. A row that
/// appears between the two is in neither.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_receipt_whose_message_gets_its_row_between_the_two_steps_is_not_lost() {
    let stage = Stage::new().await;
    commit(&stage.store, &stage.lease, sent()).await;
    // The first step waits for this message, and does not see the other one, which is written meanwhile.
    let gate = stage.database.begin().await.unwrap();
    gate.execute_unprepared("SELECT 1 FROM message WHERE ordinal = 0 FOR UPDATE").await.unwrap();
    let heard = stage.begin(receipts(10, &[(0, At::Delivered), (1, At::Delivered)]));
    stage.until_they_wait(1).await;
    commit(&stage.store, &stage.lease, outcomes(vec![outcome(10, 1, At::Sent)])).await;
    gate.commit().await.unwrap();
    heard.await.unwrap();
    assert_eq!([stage.state(0).await, stage.state(1).await], [At::Delivered; 2]);
    let mut events = told(&stage.store).await;
    events.sort_by_key(|(_, ordinal)| *ordinal);
    let of = |ordinal| [("message.sent", ordinal), ("message.delivered", ordinal)];
    assert_eq!(events, types(&[of(0), of(1)].concat()));
    stage.end().await;
}

/// Block numbers are given before the commit, so that a later one may be there first.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn no_reader_passes_a_block_that_is_not_committed_yet() {
    let stage = Stage::new().await;
    let log = stage.store.event_log();
    let before = log.settle().await.unwrap();
    assert!(before.is_all);
    let gate = stage.gate().await;
    let first = stage.begin(PendingWrites { suppressions: vec![opt_out()], ..sent() });
    stage.until_they_wait(1).await;
    commit(&stage.store, &stage.lease, receipts(10, &[(1, At::Delivered)])).await;
    for _ in 0..3 {
        let settled = log.settle().await.unwrap();
        assert_eq!(
            (settled.through, settled.is_all),
            (before.through, false),
            "a reader would pass the first block"
        );
    }
    gate.commit().await.unwrap();
    first.await.unwrap();
    assert!(log.settle().await.unwrap().is_all);
    assert_eq!(told(&stage.store).await, types(&[("message.sent", 0), ("message.delivered", 1)]));
    stage.end().await;
}
