//! Endpoints beside other transactions, on PostgreSQL. (SQLite has one writer.)

use pombo::store::Error;
use sea_orm::{ConnectionTrait as _, Database, TransactionTrait as _};

use super::*;

/// What a transaction does that is about to add to the log of events.
const WRITE_EVENTS: &str = "SELECT pg_advisory_xact_lock_shared(x'706f6d62'::int, x'6f6c6f67'::int)";

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
