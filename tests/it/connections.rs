//! Requests that read delay neither accepting nor dispatching: each has connections of its own to the
//! database.

use std::time::Duration;

use futures_util::future::{join, join_all};
use reqwest::Method;
use sea_orm::{
    ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement, TransactionTrait as _,
};
use serde_json::{Value, json};

use crate::database::Universe;
use crate::running::{Running, until};

const LISTS: usize = 20;
const SINGLES: u64 = 20;
/// More than one stored block holds, so that dispatching has to read.
const BULK: u64 = 1_200;
const FIRST: u64 = 5_511_900_000_000;

/// The number of sessions that wait for a lock in this database.
async fn waiting(database: &DatabaseConnection) -> i64 {
    let sql = "SELECT COUNT(*) FROM pg_stat_activity \
               WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let row =
        database.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await.unwrap().unwrap();
    row.try_get_by_index(0).unwrap()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn lists_that_hang_hold_up_neither_accepting_nor_dispatching() {
    let universe = Universe::postgres().await;
    let running = Running::start(&universe, |config| {
        config.engine.block_size = 500;
        config.database.acquire_timeout = Duration::from_secs(1);
    })
    .await;
    let text = |to: Value| json!({ "type": "text", "message": "hi", "phone_number": to });
    assert_eq!(running.send(&text(json!(FIRST))).await.0, 202);
    running.settled(1).await;

    let outside = Database::connect(&universe.url).await.unwrap();
    let lock = outside.begin().await.unwrap();
    lock.execute_unprepared("LOCK TABLE contact, contact_book IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let nothing = Value::Null;
    let lists = join_all((0..LISTS).map(|_| running.ask(Method::GET, "/api/v1/contacts", &nothing)));
    let others = async {
        until("a list that waits for the lock", async || waiting(&outside).await > 0).await;
        for single in 1..=SINGLES {
            let (status, answer) = running.send(&text(json!(FIRST + single))).await;
            assert_eq!(status, 202, "single {single}: {answer}");
        }
        let numbers: Vec<_> = (0..BULK).map(|number| FIRST + 1_000 + number).collect();
        let (status, answer) = running.send(&text(json!(numbers))).await;
        assert_eq!((status, answer["recipients_count"].as_u64()), (202, Some(BULK)), "{answer}");
        let all = 1 + SINGLES + BULK;
        until("everything delivered", async || running.delivered().0 >= all).await;
        assert_eq!(running.delivered(), (all, all));
        assert!(waiting(&outside).await > 0, "the lists still hang");
        // The readers' share is used up: other readers are asked to retry.
        let sends = running.ask(Method::GET, "/api/v1/sends", &nothing).await;
        assert_eq!((sends.status, sends.code().as_deref()), (503, Some("service_unavailable")));
        assert_eq!(running.ask(Method::GET, "/readyz", &nothing).await.status, 200);
        lock.rollback().await.unwrap();
    };
    let (lists, ()) = join(lists, others).await;
    assert!(lists.iter().any(|list| list.status == 200), "a list that had its connection is answered");
    assert!(lists.iter().all(|list| [200, 503].contains(&list.status)));
    until("lists answered again", async || {
        running.ask(Method::GET, "/api/v1/sends", &nothing).await.status == 200
    })
    .await;
    running.end().await;
    outside.close().await.unwrap();
    universe.end().await;
}
