//! Statements that PostgreSQL does not finish in time are given up: the client gets an error, and no message
//! is lost.

use std::collections::BTreeSet;
use std::time::Duration;

use pombo::store::{Options, Store};
use reqwest::Method;
use sea_orm::{
    ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait as _,
};
use serde_json::{Value, json};

use crate::database::Universe;
use crate::program::Place;
use crate::running::{Running, until_soon};

const FIRST: u64 = 5_511_900_000_000;
const BULK: u64 = 400;
/// How long a request may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The other sessions' statements that wait for a lock: process, start, and the milliseconds since then.
async fn waiting(database: &DatabaseConnection) -> Vec<(String, i64)> {
    let sql = "SELECT pid || ' ' || query_start, (EXTRACT(EPOCH FROM clock_timestamp() - query_start) * 1000)::bigint \
               FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let rows = database.query_all_raw(Statement::from_string(DbBackend::Postgres, sql)).await.unwrap();
    let waiting = rows.iter().map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap()));
    waiting.collect()
}

async fn lock(outside: &DatabaseConnection, tables: &str) -> DatabaseTransaction {
    let lock = outside.begin().await.unwrap();
    lock.execute_unprepared(&format!("LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")).await.unwrap();
    lock
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_statement_that_takes_too_long_is_given_up_and_nothing_is_lost() {
    let universe = Universe::postgres().await;
    let database = Options { statement_timeout: Duration::from_millis(300), ..universe.options() };
    let store = Store::open(&database).await.unwrap();
    let running = Running::start_on(store, database, |config| {
        config.engine.block_size = 50;
        config.engine.in_flight = 8;
        config.engine.concurrency = 8;
    })
    .await;
    let outside = Database::connect(&universe.url).await.unwrap();
    let nothing = Value::Null;

    let contacts = lock(&outside, "contact, contact_book").await;
    let list = tokio::time::timeout(PATIENCE, running.ask(Method::GET, "/api/v1/contacts", &nothing)).await;
    let list = list.expect("the list is given up while the lock is held");
    assert_eq!((list.status, list.code().as_deref()), (503, Some("service_unavailable")));
    assert_ne!(list.header("retry-after").parse::<u64>().unwrap(), 0);
    contacts.rollback().await.unwrap();
    assert_eq!(running.ask(Method::GET, "/api/v1/contacts", &nothing).await.status, 200);

    // The channel's read of messages is given up and repeated.
    let numbers: Vec<_> = (0..BULK).map(|number| FIRST + number).collect();
    let (status, body) =
        running.send(&json!({ "type": "text", "message": "hi", "phone_number": numbers })).await;
    assert_eq!(status, 202, "{body}");
    let blocks = lock(&outside, "recipient_block").await;
    let mut tried = BTreeSet::new();
    until_soon("a read of the channel given up and tried again", async || {
        tried.extend(waiting(&outside).await.into_iter().map(|(statement, _)| statement));
        tried.len() > 1
    })
    .await;
    blocks.rollback().await.unwrap();
    running.settled(BULK).await;
    assert_eq!(running.delivered(), (BULK, BULK));
    running.end().await;
    outside.close().await.unwrap();
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_command_takes_as_long_as_it_takes() {
    let universe = Universe::postgres().await;
    let place = Place::new()
        .with("POMBO__DATABASE__URL", &universe.url)
        .with("POMBO__DATABASE__STATEMENT_TIMEOUT", "100ms");
    place.json("company create Acme");
    place.write("contacts.csv", "first_name,phone_number\nAna,+5511988887777\n");
    let outside = Database::connect(&universe.url).await.unwrap();
    let contacts = lock(&outside, "contact").await;
    let import = place.command("contacts import contacts.csv --company Acme --json").spawn().unwrap();
    until_soon("an import that waits for longer than a request may", async || {
        waiting(&outside).await.iter().any(|(_, millis)| *millis > 500)
    })
    .await;
    contacts.rollback().await.unwrap();
    let ended = tokio::task::spawn_blocking(|| import.wait_with_output()).await.unwrap().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let imported: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(imported["created"], 1);
    outside.close().await.unwrap();
    universe.end().await;
}
