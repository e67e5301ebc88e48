//! Endpoints beside other transactions, on PostgreSQL. (SQLite has one writer.)

use actix_web::rt;
use pombo::store::Error;
use pombo::store::event_log::LogBounds;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement, TransactionTrait as _};

use super::*;
use crate::running::until;

/// What a transaction does that is about to add to the log of events.
const WRITE_EVENTS: &str = "SELECT pg_advisory_xact_lock_shared(x'706f6d62'::int, x'6f6c6f67'::int)";

/// Waits until a transaction of this database waits for a lock.
async fn until_one_waits(database: &DatabaseConnection) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("a transaction that waits", async || {
        let row = database.query_one_raw(Statement::from_string(database.get_database_backend(), sql));
        row.await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap() == 1
    })
    .await;
}

/// Of a process that has just begun, and of one that knows where the log ended before.
#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_endpoint_begins_with_nothing_of_the_past_while_the_end_of_the_log_is_not_known() {
    let universe = Universe::postgres().await;
    let store = universe.store.clone();
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let acme = company(&store, "Acme").await;
    let disabled = add(&store, acme).await.id;
    store.of(acme).webhooks().disable(&ana(), disabled).await.unwrap();
    let database = Database::connect(&universe.url).await.unwrap();
    for knows in [false, true] {
        inbound(&store, &lease, acme, &format!("before {knows}")).await;
        let process = Store::open(&universe.options()).await.unwrap();
        if knows {
            process.event_log().settle().await.unwrap();
        }
        inbound(&store, &lease, acme, &format!("after {knows}")).await;
        let end = Sequence::end_of(store.event_log().settle().await.unwrap().through);
        let writer = database.begin().await.unwrap();
        writer.execute_unprepared(WRITE_EVENTS).await.unwrap();
        let (webhooks, who) = (process.of(acme).webhooks(), ana());
        let adding = webhooks.add(&who, new_endpoint());
        let (added, enabled) = tokio::join!(adding, webhooks.enable(&who, disabled, Resume::FromNow));
        assert!(matches!(added, Err(Error::Unavailable(_))), "{added:?}");
        assert!(matches!(enabled, Err(Error::Unavailable(_))), "{enabled:?}");
        writer.commit().await.unwrap();
        let added = add(&process, acme).await;
        assert_eq!(standing(&store, added.id).await.cursor, end);
        process.close().await;
    }
    assert_eq!(store.of(acme).webhooks().list().await.unwrap().len(), 3);
    database.close().await.unwrap();
    drop((store, lease));
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn endpoints_are_locked_in_their_order_when_the_log_loses_events() {
    let universe = Universe::postgres().await;
    let store = universe.store.clone();
    let lease = store.lease().acquire(&universe.options(), "test").await.unwrap();
    let acme = company(&store, "Acme").await;
    // Stored in another order than that of their ids.
    for id in (1..=8).rev() {
        let new = NewEndpoint { id: Uuid::from_u128(id), ..new_endpoint() };
        store.of(acme).webhooks().add(&ana(), new).await.unwrap().unwrap();
    }
    inbound(&store, &lease, acme, "a").await;
    let database = Database::connect(&universe.url).await.unwrap();
    let other = database.begin().await.unwrap();
    let first = format!("SELECT 1 FROM webhook_endpoint WHERE id = '{}' FOR UPDATE", Uuid::from_u128(1));
    other.execute_unprepared(&first).await.unwrap();
    let trimming = store.clone();
    let trimmed = rt::spawn(async move {
        let before = Timestamp::now().plus(Duration::from_secs(60));
        trimming.event_log().trim(LogBounds { before: Some(before), bytes: u64::MAX }).await
    });
    until_one_waits(&database).await;
    other.execute_unprepared("SELECT 1 FROM webhook_endpoint ORDER BY id FOR UPDATE").await.unwrap();
    other.commit().await.unwrap();
    trimmed.await.unwrap().unwrap();
    let lags = store.of(acme).webhooks().lags().await.unwrap();
    // The message, and the conversation that it began.
    assert!(lags.len() == 8 && lags.values().all(|lag| lag.lost == 2), "{lags:?}");
    database.close().await.unwrap();
    drop((store, lease));
    universe.end().await;
}
