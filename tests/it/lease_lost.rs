//! A process that lost the lease on dispatching, because its connection broke, accepts no more messages.

use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Recipients, Schedule, State};
use pombo::store::ledger::{Activation, BlockOf, NewSend, PendingWrites};
use pombo::store::sends::StoredLabel;
use pombo::store::{Error, Lease};
use reqwest::Method;
use sea_orm::{ConnectionTrait as _, Database, Statement, TransactionTrait as _};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::commit_answers::behind;
use crate::database::Universe;
use crate::outage::{assert_unavailable, ready, single};
use crate::postgres_proxy::Moment;
use crate::running::{Running, until};

const FIRST: u64 = 5_511_900_000_000;

/// Breaks the connection that holds the lease, and takes it as another process does.
async fn take_over(universe: &Universe) -> Lease {
    let database = Database::connect(&universe.url).await.unwrap();
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'pombo dispatch lease'";
    let mut lease = None;
    until("the lease", async || {
        // Repeated, because the earlier process may have taken it back.
        database.execute_unprepared(sql).await.unwrap();
        lease = universe.store.lease().acquire(&universe.options(), "another process").await.ok();
        lease.is_some()
    })
    .await;
    database.close().await.unwrap();
    lease.unwrap()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_process_without_the_lease_accepts_neither_single_sends_nor_audiences() {
    for is_single in [true, false] {
        let universe = Universe::postgres().await;
        let running = Running::start(&universe, |_| {}).await;
        let tag = running.tag("everyone", FIRST, 200).await;
        assert_eq!(ready(&running).await, 200);
        let lease = take_over(&universe).await;
        let answer = if is_single {
            single(&running, FIRST).await
        } else {
            let body = json!({ "type": "text", "message": "hi", "contact_tag_id": tag });
            let path = format!("/api/v1/chat/{}/messages", running.channel);
            running.ask(Method::POST, &path, &body).await
        };
        assert_unavailable(&answer, "a send after the lease was lost");
        until("not ready", async || ready(&running).await == 503).await;
        assert_eq!(running.delivered().0, 0);
        running.end().await;
        drop(lease);
        universe.end().await;
    }
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_audience_whose_beginning_another_process_removed_is_not_accepted() {
    let universe = Universe::postgres().await;
    let (proxy, running) = behind(&universe).await;
    let tag = running.tag("everyone", FIRST, 600).await;
    // The service learns that the first blocks are written when they are removed.
    let caught = proxy.catch(Moment::CommitAnswer("INSERT INTO recipient_block "));
    let asked = running.begin_send(&json!({ "type": "text", "message": "hi", "contact_tag_id": tag }));
    caught.held().await;
    let lease = take_over(&universe).await;
    let removed = universe.store.sends().remove_unresolved(&lease).await.unwrap();
    assert_eq!(removed, 1, "the beginning of the audience");
    caught.pass_on();
    let answer = asked.await.unwrap();
    assert_unavailable(&answer, "an audience of which a part is gone");
    let sends = running.ask(Method::GET, "/api/v1/chat", &Value::Null).await;
    assert_eq!(sends.status, 200, "{}", sends.body);
    running.end().await;
    drop(lease);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn nothing_of_an_older_epoch_is_written_once_the_lease_is_taken() {
    let universe = Universe::postgres().await;
    let (store, now) = (&universe.store, Timestamp::now());
    let old = store.lease().acquire(&universe.options(), "one process").await.unwrap();
    let send = |id: u128, state, recipients| NewSend {
        id: Uuid::from_u128(id),
        company_id: Uuid::from_u128(1),
        channel_id: Uuid::from_u128(2),
        state,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients,
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    };
    let number = PhoneNumber::from_u64(FIRST).unwrap();
    let block = |first_ordinal| Block { first_ordinal, recipients: 1, packed: pack(&[number]) };
    let id = Uuid::from_u128(10);
    let begun = PendingWrites {
        sends: vec![send(10, State::Resolving, Recipients::Blocks(1))],
        blocks: vec![BlockOf { send_id: id, block: block(0) }],
        ..PendingWrites::default()
    };
    store.ledger().commit(&old, &begun, now).await.unwrap();

    let new = take_over(&universe).await;
    assert!(matches!(store.sends().remove_unresolved(&old).await, Err(Error::Fenced)), "removing");
    for (what, batch) in [
        (
            "extending",
            PendingWrites {
                blocks: vec![BlockOf { send_id: id, block: block(1) }],
                ..PendingWrites::default()
            },
        ),
        (
            "activating",
            PendingWrites {
                activations: vec![Activation { send_id: id, recipients: 1, skipped: 0, instead: None }],
                ..PendingWrites::default()
            },
        ),
        (
            "accepting one",
            PendingWrites {
                sends: vec![send(11, State::Active, Recipients::One(number))],
                ..PendingWrites::default()
            },
        ),
        (
            "accepting an audience",
            PendingWrites {
                sends: vec![send(12, State::Active, Recipients::Blocks(1))],
                blocks: vec![BlockOf { send_id: Uuid::from_u128(12), block: block(0) }],
                ..PendingWrites::default()
            },
        ),
    ] {
        let written = store.ledger().commit(&old, &batch, now).await;
        assert!(matches!(written, Err(Error::Fenced)), "{what}: {written:?}");
    }
    assert_eq!(store.sends().remove_unresolved(&new).await.unwrap(), 1);
    for (what, batch) in [
        (
            "extending",
            PendingWrites {
                blocks: vec![BlockOf { send_id: id, block: block(1) }],
                ..PendingWrites::default()
            },
        ),
        (
            "activating",
            PendingWrites {
                activations: vec![Activation { send_id: id, recipients: 1, skipped: 0, instead: None }],
                ..PendingWrites::default()
            },
        ),
    ] {
        let written = store.ledger().commit(&new, &batch, now).await;
        assert!(matches!(written, Err(Error::Missing(_))), "{what} what is gone: {written:?}");
    }
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn taking_the_lease_waits_for_sends_that_are_being_accepted() {
    let universe = Universe::postgres().await;
    let (store, now) = (&universe.store, Timestamp::now());
    let old = store.lease().acquire(&universe.options(), "one process").await.unwrap();
    let number = PhoneNumber::from_u64(FIRST).unwrap();
    let database = Database::connect(&universe.url).await.unwrap();
    // The statement that accepts the send has the lease's row, and waits for another transaction that has the send's
    // id.
    let lock = database.begin().await.unwrap();
    let sql = format!(
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at) \
         VALUES ('{id}', '{id}', '{id}', 1, '', 1, 0, 0, 1)",
        id = Uuid::from_u128(10)
    );
    lock.execute_unprepared(&sql).await.unwrap();
    let send = NewSend {
        id: Uuid::from_u128(10),
        company_id: Uuid::from_u128(1),
        channel_id: Uuid::from_u128(2),
        state: State::Active,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients: Recipients::One(number),
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    };
    let batch = PendingWrites { sends: vec![send], ..PendingWrites::default() };
    let accepting = store.ledger().commit(&old, &batch, now);
    let waits_for_a_lock = async |query: &str| {
        let sql = format!(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' \
             AND query LIKE '%{query}%'"
        );
        let statement = Statement::from_string(database.get_database_backend(), sql);
        !database.query_all_raw(statement).await.unwrap().is_empty()
    };
    let taking = async {
        until("the send waits", async || waits_for_a_lock("INTO send").await).await;
        let seen = async {
            until("the new holder waits", async || waits_for_a_lock("INTO lease").await).await;
            lock.rollback().await.unwrap();
        };
        let (lease, ()) = futures_util::join!(take_over(&universe), seen);
        lease
    };
    let (accepted, _lease) = futures_util::join!(accepting, taking);
    accepted.unwrap();
    assert_eq!(
        store
            .of(Uuid::from_u128(1))
            .sends()
            .find(Uuid::from_u128(10), now)
            .await
            .unwrap()
            .unwrap()
            .recipients,
        1
    );
    database.close().await.unwrap();
    universe.end().await;
}
