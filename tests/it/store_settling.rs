//! Deciding sends in doubt: a send that is found stays, and a send that is not found is never written.

use std::collections::HashSet;
use std::time::Duration;

use entity::{recipient_block, send};
use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::page::PageRequest;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Mark, Progress, Recipients, Schedule, State};
use pombo::store::ledger::{Activation, Answer, BlockOf, NewSend, PendingWrites, Terms};
use pombo::store::sends::StoredLabel;
use pombo::store::sends::list::Filter;
use pombo::store::{Error, Lease, Options, Store};
use sea_orm::{ConnectionTrait as _, Database, EntityTrait as _};
use url::Url;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::proxy::{Held, Proxy};
use crate::running::until;

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const PATIENCE: Duration = Duration::from_secs(30);
/// A commit that hangs is given up soon.
const TERMS: Terms = Terms { patience: Duration::from_secs(2), in_one_statement: true };
const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(3);
const ID: Uuid = Uuid::from_u128(10);
const ALL: PageRequest = PageRequest { page: 1, limit: 100 };

stores! {
    a_send_that_was_withdrawn_is_not_written_later,
    a_send_that_was_written_is_accepted_and_stays,
    an_audience_that_was_withdrawn_is_not_accepted_later,
    a_withdrawn_send_is_shown_nowhere_and_deleted_later,
    a_mark_of_a_withdrawn_send_is_ignored,
}

fn new_send(id: Uuid, state: State, recipients: Recipients) -> NewSend {
    NewSend {
        id,
        company_id: ACME,
        channel_id: CHANNEL,
        state,
        content: r#"{"type":"text","body":"hi"}"#.to_owned(),
        template_id: None,
        recipients,
        skipped: 0,
        schedule: Schedule::default(),
        label: StoredLabel::default(),
    }
}

fn number() -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000).unwrap()
}

fn block(first_ordinal: u64) -> BlockOf {
    BlockOf { send_id: ID, block: Block { first_ordinal, recipients: 1, packed: pack(&[number()]) } }
}

/// A send to one number, with an answer that is kept.
fn single(id: Uuid) -> PendingWrites {
    let answer = Answer {
        company_id: ACME,
        key: "k".to_owned(),
        fingerprint: [7; 32],
        send_id: id,
        recipients: 1,
        skipped: 0,
        skipped_first: "[]".to_owned(),
    };
    let send = new_send(id, State::Active, Recipients::One(number()));
    PendingWrites { sends: vec![send], answers: vec![answer], ..PendingWrites::default() }
}

/// The first block of an audience.
fn begun() -> PendingWrites {
    let send = new_send(ID, State::Resolving, Recipients::Blocks(1));
    PendingWrites { sends: vec![send], blocks: vec![block(0)], ..PendingWrites::default() }
}

fn activation() -> PendingWrites {
    PendingWrites {
        activations: vec![Activation { send_id: ID, recipients: 1, skipped: 0, instead: None }],
        ..PendingWrites::default()
    }
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

async fn settle(store: &Store) -> HashSet<Uuid> {
    store.ledger().settle(&[ID], NOW, PATIENCE).await.unwrap()
}

async fn a_send_that_was_withdrawn_is_not_written_later(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    assert_eq!(settle(store).await, HashSet::new());
    let alone = PendingWrites { answers: Vec::new(), ..single(ID) };
    for late in [alone, single(ID), begun()] {
        let written = store.ledger().commit(&lease, &late, NOW).await;
        assert!(matches!(written, Err(Error::Taken(_))), "{written:?}");
    }
    assert_eq!(store.of(ACME).answers().find("k", NOW.minus(DAY)).await.unwrap(), None);
    // Asked again, because the answer got lost.
    assert_eq!(settle(store).await, HashSet::new());
    store.ledger().commit(&lease, &single(Uuid::from_u128(11)), NOW).await.unwrap();
    let kept = store.of(ACME).answers().find("k", NOW.minus(DAY)).await.unwrap().unwrap();
    assert_eq!(kept.send_id, Uuid::from_u128(11), "the repeated request");
}

async fn a_send_that_was_written_is_accepted_and_stays(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    store.ledger().commit(&lease, &single(ID), NOW).await.unwrap();
    for _ in 0..2 {
        assert_eq!(settle(store).await, HashSet::from([ID]));
    }
    store.of(ACME).sends().cancel(ID, NOW, None, None).await.unwrap();
    assert_eq!(settle(store).await, HashSet::from([ID]), "one that is over was accepted too");
    assert!(store.of(ACME).sends().find(ID, NOW).await.unwrap().is_some());
}

async fn an_audience_that_was_withdrawn_is_not_accepted_later(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    store.ledger().commit(&lease, &begun(), NOW).await.unwrap();
    assert_eq!(settle(store).await, HashSet::new());
    let extension = PendingWrites { blocks: vec![block(1)], ..PendingWrites::default() };
    for late in [extension, activation()] {
        let written = store.ledger().commit(&lease, &late, NOW).await;
        assert!(matches!(written, Err(Error::Missing(_))), "{written:?}");
    }
    let rows = Database::connect(&universe.url).await.unwrap();
    assert!(recipient_block::Entity::find().all(&rows).await.unwrap().is_empty());
    rows.close().await.unwrap();
}

async fn a_withdrawn_send_is_shown_nowhere_and_deleted_later(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    store.ledger().commit(&lease, &begun(), NOW).await.unwrap();
    assert_eq!(settle(store).await, HashSet::new());
    let listed = store.of(ACME).sends().page(ALL, &Filter::default(), NOW).await.unwrap();
    assert_eq!((listed.total, listed.records.len()), (0, 0));
    assert!(store.of(ACME).sends().find(ID, NOW).await.unwrap().is_none());
    assert!(store.of(ACME).sends().snapshot(ID).await.unwrap().is_none());
    assert!(store.of(ACME).sends().cancel(ID, NOW, None, None).await.unwrap().is_none());
    assert_eq!(store.sends().queued(CHANNEL, NOW).await.unwrap(), 0);
    assert_eq!(store.sends().remove_unresolved(&lease).await.unwrap(), 0);

    assert_eq!(
        store.retention().remove_withdrawn(&lease, NOW.minus(DAY), 10).await.unwrap().others,
        0,
        "too young"
    );
    assert_eq!(store.retention().remove_withdrawn(&lease, NOW, 10).await.unwrap().others, 1);
    let rows = Database::connect(&universe.url).await.unwrap();
    assert!(send::Entity::find().all(&rows).await.unwrap().is_empty());
    rows.close().await.unwrap();
}

async fn a_mark_of_a_withdrawn_send_is_ignored(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    assert_eq!(settle(store).await, HashSet::new());
    let progress = Progress { high_water: 1, settled: 0 };
    let mark = Mark { send_id: ID, progress, state: State::Active, due_at: None };
    let found = store
        .ledger()
        .commit(&lease, &PendingWrites { marks: vec![mark], ..PendingWrites::default() }, NOW)
        .await
        .unwrap();
    assert_eq!(found.gone, [ID]);
    assert_eq!(settle(store).await, HashSet::new());
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_activation_whose_commit_hangs_is_settled_when_the_commit_is_over() {
    let universe = Universe::postgres().await;
    let mut url = Url::parse(&universe.url).unwrap();
    let proxy =
        Proxy::to(format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap_or(5432)));
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(proxy.address.port())).unwrap();
    let behind = Store::open(&Options { url: url.into(), ..universe.options() }).await.unwrap();
    let (store, lease) = (&universe.store, lease(&universe).await);
    behind.ledger().commit(&lease, &begun(), NOW).await.unwrap();

    proxy.hold(Held::Request, b"COMMIT");
    let short = Duration::from_millis(300);
    let written = behind.ledger().commit_on(TERMS, &lease, &activation(), NOW).await;
    assert!(matches!(written, Err(Error::InDoubt(_))), "{written:?}");
    let settled = store.ledger().settle(&[ID], NOW, short).await;
    assert!(matches!(settled, Err(Error::Unavailable(_))), "while the commit hangs: {settled:?}");
    proxy.let_go();
    until("the commit answered", async || proxy.is_answered()).await;
    assert_eq!(settle(store).await, HashSet::from([ID]));

    // A statement that hangs before the commit request is never committed: that is certain at once.
    let other = single(Uuid::from_u128(11));
    proxy.hold(Held::Request, b"INSERT INTO idempotency_key");
    let written = behind.ledger().commit_on(TERMS, &lease, &other, NOW).await;
    assert!(matches!(written, Err(Error::Unavailable(_))), "{written:?}");
    proxy.let_go();
    until("the statement answered", async || proxy.is_answered()).await;
    assert!(store.of(ACME).sends().find(Uuid::from_u128(11), NOW).await.unwrap().is_none());
    behind.close().await;
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_send_that_is_being_written_is_settled_after_the_write() {
    let universe = Universe::postgres().await;
    let store = &universe.store;
    let database = Database::connect(&universe.url).await.unwrap();
    // The process that writes the send has its row, and does not go on.
    let writing = sea_orm::TransactionTrait::begin(&database).await.unwrap();
    let sql = format!(
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at) \
         VALUES ('{ID}', '{ACME}', '{CHANNEL}', 1, '', 1, 0, 0, 1)"
    );
    writing.execute_unprepared(&sql).await.unwrap();
    let short = Duration::from_millis(300);
    let settled = store.ledger().settle(&[ID], NOW, short).await;
    assert!(matches!(settled, Err(Error::Unavailable(_))), "while it is written: {settled:?}");
    let settling = store.ledger().settle(&[ID], NOW, PATIENCE);
    let committing = async { writing.commit().await.unwrap() };
    let (settled, ()) = futures_util::join!(settling, committing);
    assert_eq!(settled.unwrap(), HashSet::from([ID]));
    database.close().await.unwrap();
    universe.end().await;
}
