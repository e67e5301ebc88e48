//! Two services on one PostgreSQL database: the connection that holds the first one's lease ends while that
//! service is in the middle of its work, and a second one takes over. Messages that the first one still
//! accepts are delivered, messages that it refuses are not, and no recipient gets a message twice.

use std::pin::pin;
use std::time::Duration;

use sea_orm::{ConnectionTrait as _, Database, DatabaseBackend, DatabaseConnection, Statement};
use serde_json::json;
use simulator::ReceiptOptions;
use tokio::task::JoinHandle;

use crate::commit_answers::{behind, heard, once_each, to_one};
use crate::database::Universe;
use crate::harness::Answer;
use crate::postgres_proxy::{Caught, Moment, PostgresProxy};
use crate::running::{APP_SECRET, Former, Running, until, until_soon};

const CONTACTS: u64 = 600;
const FIRST_CONTACT: u64 = 5_511_900_000_000;
/// A number that is not in the tag.
const SINGLE: u64 = 5_521_900_000_000;

const NEW_SEND: &str = "INSERT INTO send ";
const NEW_BLOCKS: &str = "INSERT INTO recipient_block ";
const ACTIVATION: &str = "UPDATE send SET state = $2, recipients = $3";
const OUTCOMES: &str = "INSERT INTO message ";

/// The session that holds the lease.
const HOLDER: &str =
    "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pombo dispatch lease'";

/// The sessions that wait for another session's lock.
const KEPT: &str =
    "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// A service that is about to lose its lease.
struct Stage {
    universe: Universe,
    proxy: PostgresProxy,
    running: Running,
    rows: DatabaseConnection,
}

impl Stage {
    async fn new() -> Self {
        let universe = Universe::postgres().await;
        let (proxy, running) = behind(&universe).await;
        let rows = Database::connect(&universe.url).await.unwrap();
        Self { universe, proxy, running, rows }
    }

    /// Breaks the lease, and has another service take it before the held message is passed on; or at the same
    /// time, if the held transaction keeps other services from the lease.
    async fn taken_over(&mut self, caught: Caught) -> Former {
        let Self { universe, running, rows, proxy } = self;
        // The service would take the lease back if it could connect before the other one does.
        proxy.close();
        rows.execute_unprepared(&format!("SELECT pg_terminate_backend(pid) {HOLDER}")).await.unwrap();
        let mut taking_over = pin!(running.succeed(universe.options()));
        let is_kept = until("the lease kept by what is held", async || {
            let statement = Statement::from_string(DatabaseBackend::Postgres, KEPT);
            rows.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap() > 0
        });
        let former = tokio::select! {
            former = &mut taking_over => {
                caught.pass_on();
                former
            }
            () = is_kept => {
                caught.pass_on();
                taking_over.await
            }
        };
        proxy.open();
        former
    }

    async fn end(self, former: Former) {
        former.end().await;
        self.running.end().await;
        self.rows.close().await.unwrap();
        self.universe.end().await;
    }

    /// Breaks the lease while the answer to a request is held at this moment. That answer decides whether
    /// these numbers get the message once or not at all.
    async fn lost_at(mut self, caught: Caught, asked: JoinHandle<Answer>, numbers: std::ops::Range<u64>) {
        caught.held().await;
        aim(&self.running);
        let former = self.taken_over(caught).await;
        // The provider sends the receipts of the first service's messages in flight to its successor.
        aim(&self.running);
        let answer = asked.await.unwrap();
        let promised = match answer.status {
            202 => numbers.end - numbers.start,
            503 => 0,
            other => panic!("{other}: {}", answer.body),
        };
        // This comes before any other send, which would wake the channel and hide a forgotten message.
        until_soon("every accepted message delivered", async || {
            heard(&self.running).len() as u64 >= promised
        })
        .await;
        let after = SINGLE + 1_000;
        assert_eq!(self.running.send(&to_one(after)).await.0, 202);
        until_soon("the successor at work", async || heard(&self.running).contains_key(&after)).await;
        let store = &self.running.store;
        until_soon("every send finished", async || store.channels().working().await.unwrap().is_empty())
            .await;
        let numbers = if promised > 0 { numbers } else { 0..0 };
        assert_eq!(heard(&self.running), once_each(numbers.chain([after])), "answered {}", answer.status);
        self.end(former).await;
    }
}

/// A single send, at this moment of its acceptance.
async fn a_single_at(moment: Moment) {
    let stage = Stage::new().await;
    let caught = stage.proxy.catch(moment);
    let asked = stage.running.begin_send(&to_one(SINGLE));
    Box::pin(stage.lost_at(caught, asked, SINGLE..SINGLE + 1)).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_single_that_is_written_after_the_lease_was_lost_is_refused_or_delivered() {
    Box::pin(a_single_at(Moment::Request(NEW_SEND))).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_single_that_was_written_before_the_lease_was_lost_is_delivered() {
    Box::pin(a_single_at(Moment::CommitAnswer(NEW_SEND))).await;
}

/// A send to a tag whose audience is written in steps, at this moment of its acceptance.
async fn an_audience_at(passes: u32, moment: Moment) {
    let stage = Stage::new().await;
    let tag = stage.running.tag("everyone", FIRST_CONTACT, CONTACTS).await;
    let caught = stage.proxy.catch_after(passes, moment);
    let body = json!({ "type": "text", "message": "hi", "contact_tag_id": tag });
    let asked = stage.running.begin_send(&body);
    Box::pin(stage.lost_at(caught, asked, FIRST_CONTACT..FIRST_CONTACT + CONTACTS)).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_first_step_is_written_after_the_lease_was_lost_is_refused_or_delivered() {
    Box::pin(an_audience_at(0, Moment::CommitRequest(NEW_BLOCKS))).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_first_step_was_written_before_the_lease_was_lost_is_refused_or_delivered() {
    Box::pin(an_audience_at(0, Moment::CommitAnswer(NEW_BLOCKS))).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_further_step_is_written_after_the_lease_was_lost_is_refused_or_delivered() {
    Box::pin(an_audience_at(1, Moment::CommitRequest(NEW_BLOCKS))).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_last_step_is_written_after_the_lease_was_lost_is_refused_or_delivered() {
    Box::pin(an_audience_at(0, Moment::CommitRequest(ACTIVATION))).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_last_step_was_written_before_the_lease_was_lost_is_delivered() {
    Box::pin(an_audience_at(0, Moment::CommitAnswer(ACTIVATION))).await;
}

/// Directs the receipts to this service, soon after each message.
fn aim(running: &Running) {
    let short = Duration::from_millis(20);
    let options = ReceiptOptions::to(running.hook(running.channel), APP_SECRET);
    let options = ReceiptOptions { delivered_after: short, read_after: short, ..options };
    running.simulator.aim_receipts(Some(options)).unwrap();
}

/// A send under way, at this moment of a commit that says what was sent.
async fn dispatching_at(moment: Moment) {
    let mut stage = Stage::new().await;
    let tag = stage.running.tag("everyone", FIRST_CONTACT, CONTACTS).await;
    stage.running.simulator.script(&json!({ "latency": "40ms" })).unwrap();
    aim(&stage.running);
    stage.running.send_to_tag(tag, CONTACTS).await;
    until("some messages", async || stage.running.delivered().0 > CONTACTS / 8).await;
    let caught = stage.proxy.catch(moment);
    caught.held().await;
    assert!(
        stage.running.delivered().1 < CONTACTS,
        "the takeover came too late to be in the middle of the send"
    );
    let former = stage.taken_over(caught).await;
    aim(&stage.running);
    former.fenced().await;
    let everyone = once_each(FIRST_CONTACT..FIRST_CONTACT + CONTACTS);
    until_soon("everybody reached", async || heard(&stage.running).len() == everyone.len()).await;
    let store = &stage.running.store;
    until_soon("the send finished", async || store.channels().working().await.unwrap().is_empty()).await;
    assert_eq!(heard(&stage.running), everyone);
    stage.end(former).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn outcomes_that_are_written_after_the_lease_was_lost_repeat_no_message() {
    dispatching_at(Moment::CommitRequest(OUTCOMES)).await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn outcomes_that_were_written_before_the_lease_was_lost_repeat_no_message() {
    dispatching_at(Moment::CommitAnswer(OUTCOMES)).await;
}
