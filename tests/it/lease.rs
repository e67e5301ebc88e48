//! The session that holds the lock on dispatching breaks while the service is idle.

use std::time::Duration;

use pombo::store::{Error, Lease};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::json;

use crate::database::Universe;
use crate::running::{Running, until};

/// The sessions of this database that hold the lock.
const HOLDERS: &str = "SELECT activity.pid FROM pg_stat_activity AS activity \
                       JOIN pg_locks ON pg_locks.pid = activity.pid \
                       WHERE activity.datname = current_database() AND locktype = 'advisory' AND granted";

async fn holders(database: &DatabaseConnection) -> Vec<i32> {
    let rows = database.query_all_raw(Statement::from_string(DbBackend::Postgres, HOLDERS)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Ends these sessions; returns when they are gone.
async fn end(database: &DatabaseConnection, sessions: &[i32]) {
    for session in sessions {
        let sql = format!("SELECT pg_terminate_backend({session}, 10000)");
        database.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await.unwrap();
    }
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_process_whose_lock_was_lost_takes_it_again() {
    let universe = Universe::postgres().await;
    let running = Running::start(&universe, |_| {}).await;
    let outside = Database::connect(&universe.url).await.unwrap();
    let before = holders(&outside).await;
    assert_eq!(before.len(), 1);
    end(&outside, &before).await;

    until("the lock held again", async || {
        holders(&outside).await.iter().any(|session| !before.contains(session))
    })
    .await;
    let second = universe.store.lease().acquire(&universe.options(), "a second process").await;
    assert!(matches!(second, Err(Error::Taken(_))), "{second:?}");
    let body = json!({ "type": "text", "message": "hi", "phone_number": "+5511900000001" });
    assert_eq!(running.send(&body).await.0, 202);
    running.settled(1).await;
    assert!(running.engine().ready().obstacles.is_empty());
    running.end().await;
    outside.close().await.unwrap();
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_process_that_does_nothing_notices_that_another_one_took_over() {
    let universe = Universe::postgres().await;
    let running = Running::start(&universe, |_| {}).await;
    let outside = Database::connect(&universe.url).await.unwrap();
    let taken = loop {
        end(&outside, &holders(&outside).await).await;
        // The first service may have taken it again at this moment.
        match universe.store.lease().acquire(&universe.options(), "a second process").await {
            Err(Error::Taken(_)) => {}
            taken => break taken.unwrap(),
        }
    };
    let noticed = tokio::time::timeout(Duration::from_secs(30), running.engine().fenced()).await;
    assert!(noticed.is_ok(), "the process goes on as if nothing had happened");
    assert!(!running.engine().ready().obstacles.is_empty());
    drop::<Lease>(taken);
    running.end().await;
    outside.close().await.unwrap();
    universe.end().await;
}
