//! The decisions of the database: the owner of each shard, and the nodes whose writes it accepts.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use pombo::clock::Timestamp;
use pombo::domain::block::pack;
use pombo::domain::message::{Outcome, Position, State as At};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::send::{Block, Recipients, Schedule, State};
use pombo::store::ledger::{BlockOf, NewSend, OutcomeOf, PendingWrites};
use pombo::store::nodes::{NewNode, Stage as Standing};
use pombo::store::sends::StoredLabel;
use pombo::store::{Error, Lease, Store};
use sea_orm::{ConnectionTrait as _, Database, TransactionTrait as _};

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// A node whose lease lasts this long.
async fn join(universe: &Universe, name: &str, lasts: Duration) -> Lease {
    let new = NewNode {
        cluster: "test",
        name,
        address: "127.0.0.1:1",
        version: "1",
        cores: 2,
        ..NewNode::default()
    };
    universe.store.nodes().join(&universe.options(), &new, lasts).await.unwrap()
}

fn shards(range: std::ops::Range<u128>) -> Vec<Uuid> {
    range.map(Uuid::from_u128).collect()
}

fn send(id: u128, state: State, recipients: Recipients) -> NewSend {
    NewSend {
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
    }
}

fn one(id: u128) -> PendingWrites {
    let number = PhoneNumber::from_u64(SINGLE).unwrap();
    PendingWrites {
        sends: vec![send(id, State::Active, Recipients::One(number))],
        ..PendingWrites::default()
    }
}

/// A send whose audience is not complete.
fn begun(id: u128) -> PendingWrites {
    let block =
        Block { first_ordinal: 0, recipients: 1, packed: pack(&[PhoneNumber::from_u64(SINGLE).unwrap()]) };
    PendingWrites {
        sends: vec![send(id, State::Resolving, Recipients::Blocks(1))],
        blocks: vec![BlockOf { send_id: Uuid::from_u128(id), block }],
        ..PendingWrites::default()
    }
}

async fn has_send(store: &Store, id: u128) -> bool {
    let now = Timestamp::now();
    store.of(Uuid::from_u128(1)).sends().find(Uuid::from_u128(id), now).await.unwrap().is_some()
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn nodes_that_race_for_a_thousand_lapsed_channels_get_each_channel_once() {
    let universe = Universe::postgres().await;
    let store = &universe.store;
    let all = shards(1..1_001);
    let mut owner = join(&universe, "first", Duration::ZERO).await;
    assert_eq!(store.shards().claim(&owner, &all).await.unwrap().len(), all.len());
    for round in 0..10 {
        let rivals = [join(&universe, "one", LONG).await, join(&universe, "other", LONG).await];
        // While the fence is open, no other node gets its shards.
        assert!(store.shards().claim(&rivals[0], &all).await.unwrap().is_empty());
        let id = owner.node().unwrap();
        let claims = rivals.iter().map(async |rival| {
            let closed = store.nodes().close_fence(id).await.unwrap();
            let mut won = Vec::new();
            for (place, some) in all.chunks(50).enumerate() {
                // The two writers meet somewhere in the middle.
                let some = if rival.node() < rivals[0].node() || place % 2 == 0 { some } else { &all[..] };
                won.extend(store.shards().claim(rival, some).await.unwrap());
            }
            (closed, won.into_iter().collect::<BTreeSet<_>>())
        });
        let won = join_all(claims).await;
        assert_eq!(won.iter().filter(|(closed, _)| *closed).count(), 1, "one closes the fence");
        let (one, other) = (&won[0].1, &won[1].1);
        assert!(one.is_disjoint(other), "round {round}: {} have two owners", one.intersection(other).count());
        assert_eq!(one.len() + other.len(), all.len());
        for (rival, won) in rivals.iter().zip([one, other]) {
            for shard in won.iter().take(5) {
                assert_eq!(
                    store.shards().owner_of(*shard).await.unwrap().unwrap().node,
                    rival.node().unwrap()
                );
            }
        }
        // The next round begins with one owner whose lease has lapsed.
        let next = join(&universe, "next", Duration::ZERO).await;
        for rival in &rivals {
            store.nodes().leave(rival.node().unwrap()).await.unwrap();
        }
        assert_eq!(store.shards().claim(&next, &all).await.unwrap().len(), all.len());
        owner = next;
    }
    drop(owner);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_node_whose_fence_is_closed_writes_nothing_and_renews_nothing() {
    let universe = Universe::postgres().await;
    let (store, now) = (&universe.store, Timestamp::now());
    let (old, new) = (join(&universe, "old", LONG).await, join(&universe, "new", LONG).await);
    let id = old.node().unwrap();
    store.ledger().commit(&old, &begun(10), now).await.unwrap();
    store.ledger().commit(&new, &begun(11), now).await.unwrap();
    assert!(!store.nodes().close_fence(id).await.unwrap(), "the node's lease lasts");
    store.nodes().renew(id, Duration::ZERO).await.unwrap();
    let seen = store.nodes().renew(new.node().unwrap(), LONG).await.unwrap();
    assert!(seen[0].is_alive() && !seen[1].is_alive() && seen[1].id == id);
    // The node may come back until another node closes its fence.
    store.ledger().commit(&old, &one(12), now).await.unwrap();
    assert!(store.nodes().renew(id, Duration::ZERO).await.is_ok());
    assert!(store.nodes().close_fence(id).await.unwrap());
    for (what, batch) in [("one statement", one(13)), ("a transaction", begun(14))] {
        let written = store.ledger().commit(&old, &batch, now).await;
        assert!(matches!(written, Err(Error::Fenced)), "{what}: {written:?}");
    }
    assert!(matches!(store.nodes().renew(id, LONG).await, Err(Error::Fenced)));
    assert!(matches!(store.shards().claim(&old, &shards(1..2)).await, Err(Error::Fenced)));
    assert!(matches!(store.lease().confirm(&old).await, Err(Error::Fenced)));
    // The rows that the node left are cleaned up, and other nodes' rows stay.
    assert_eq!(store.nodes().clear_up_after(&new, id, now).await.unwrap(), 1);
    assert!(!has_send(store, 10).await && has_send(store, 12).await && !has_send(store, 13).await);
    assert_eq!(store.nodes().remove_abandoned(&new).await.unwrap(), 0, "the other audience is being written");
    let seen = store.nodes().renew(new.node().unwrap(), LONG).await.unwrap();
    assert_eq!(seen.len(), 1, "nothing is left of it");
    let kept = store.nodes().all().await.unwrap();
    assert!(kept.iter().any(|node| node.id == id && node.stage == Standing::Gone));
    drop((old, new));
    universe.end().await;
}

/// A canceled send into which its channel put its message back, because it had not heard of the cancel.
async fn put_back_after_a_cancel(store: &Store, owner: &Lease, id: u128) {
    let (now, send_id, company_id) = (Timestamp::now(), Uuid::from_u128(id), Uuid::from_u128(1));
    store.ledger().commit(owner, &one(id), now).await.unwrap();
    store.of(company_id).sends().cancel(send_id, now, None, None).await.unwrap();
    let outcome = Outcome {
        position: Position { ordinal: 0, recipient: None },
        state: At::Queued,
        attempts: 1,
        provider_message_id: None,
        error: None,
        retry_at: Some(now),
        taken_at: None,
    };
    let put_back = vec![OutcomeOf { send_id, company_id, outcome }];
    store
        .ledger()
        .commit(owner, &PendingWrites { outcomes: put_back, ..PendingWrites::default() }, now)
        .await
        .unwrap();
    assert_eq!(first_of(store, id).await, At::Queued);
}

/// The state of a send's first message.
async fn first_of(store: &Store, id: u128) -> At {
    store.sends().message_states(Uuid::from_u128(id), &[0]).await.unwrap()[&0]
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn messages_that_a_dead_node_put_back_in_a_canceled_send_end_whichever_node_clears_up() {
    let universe = Universe::postgres().await;
    let store = &universe.store;
    let (old, new) = (join(&universe, "old", LONG).await, join(&universe, "new", LONG).await);
    let id = old.node().unwrap();
    put_back_after_a_cancel(store, &old, 12).await;
    store.nodes().renew(id, Duration::ZERO).await.unwrap();
    assert!(store.nodes().close_fence(id).await.unwrap());
    // The dead node did the housekeeping, and no other node does it yet.
    store.nodes().clear_up_after(&new, id, Timestamp::now()).await.unwrap();
    assert_eq!(first_of(store, 12).await, At::Canceled);
    drop((old, new));
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn messages_that_a_channel_put_back_in_a_canceled_send_end_when_it_is_given_away() {
    let universe = Universe::postgres().await;
    let (store, owner) = (&universe.store, join(&universe, "owner", LONG).await);
    assert_eq!(store.shards().claim(&owner, &shards(2..3)).await.unwrap().len(), 1);
    put_back_after_a_cancel(store, &owner, 12).await;
    store.shards().release(&owner, &shards(2..3), Timestamp::now()).await.unwrap();
    assert_eq!(first_of(store, 12).await, At::Canceled);
    assert!(store.shards().owner_of(Uuid::from_u128(2)).await.unwrap().is_none());
    drop(owner);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_note_stays_for_the_new_owner_whatever_the_former_one_did() {
    let universe = Universe::postgres().await;
    let store = &universe.store;
    let (old, new) = (join(&universe, "old", LONG).await, join(&universe, "new", LONG).await);
    let [former, present] = [&old, &new].map(|lease| lease.node().unwrap());
    let shard = Uuid::from_u128(2);
    let note = store.notes().add(Some(shard), "look", "{}").await.unwrap();
    let has_removed = async |node| store.notes().remove_of_owner(note, shard, node).await.unwrap();
    assert!(!has_removed(former).await, "nobody owns the shard");
    store.shards().claim(&old, &[shard]).await.unwrap();
    store.nodes().renew(former, Duration::ZERO).await.unwrap();
    assert!(store.nodes().close_fence(former).await.unwrap());
    assert!(!has_removed(former).await, "its fence is closed");
    store.shards().claim(&new, &[shard]).await.unwrap();
    assert!(!has_removed(former).await && store.notes().has(note).await.unwrap());
    assert!(has_removed(present).await && !store.notes().has(note).await.unwrap());
    drop((old, new));
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn closing_a_fence_waits_for_sends_that_are_being_accepted() {
    let universe = Universe::postgres().await;
    let (store, now) = (&universe.store, Timestamp::now());
    let old = join(&universe, "old", Duration::ZERO).await;
    let database = Database::connect(&universe.url).await.unwrap();
    // The statement that accepts the send has the fence, and waits for another transaction that has the send's id.
    let lock = database.begin().await.unwrap();
    let id = Uuid::from_u128(10);
    let sql = format!(
        "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at) \
         VALUES ('{id}', '{id}', '{id}', 1, '', 1, 0, 0, 1)"
    );
    lock.execute_unprepared(&sql).await.unwrap();
    let batch = one(10);
    let accepting = store.ledger().commit(&old, &batch, now);
    let waits = async |query: &str| {
        let sql = format!(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' \
             AND query LIKE '%{query}%'"
        );
        let statement = sea_orm::Statement::from_string(database.get_database_backend(), sql);
        !database.query_all_raw(statement).await.unwrap().is_empty()
    };
    let closing = async {
        until("the send waits", async || waits("INTO send").await).await;
        let seen = async {
            until("the other node waits", async || waits("UPDATE node_fence").await).await;
            lock.rollback().await.unwrap();
        };
        futures_util::join!(store.nodes().close_fence(old.node().unwrap()), seen).0
    };
    let (accepted, closed) = futures_util::join!(accepting, closing);
    accepted.unwrap();
    assert!(closed.unwrap());
    assert!(has_send(store, 10).await);
    database.close().await.unwrap();
    drop(old);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn nodes_and_a_process_that_dispatches_alone_keep_each_other_out() {
    let universe = Universe::postgres().await;
    let (store, options) = (&universe.store, universe.options());
    let node = join(&universe, "one", LONG).await;
    assert!(matches!(store.lease().acquire(&options, "alone").await, Err(Error::Taken(_))));
    drop(node);
    let mut alone = None;
    until("the lock free", async || {
        alone = store.lease().acquire(&options, "alone").await.ok();
        alone.is_some()
    })
    .await;
    let new =
        NewNode { cluster: "test", name: "two", address: "", version: "1", cores: 1, ..NewNode::default() };
    assert!(matches!(store.nodes().join(&options, &new, LONG).await, Err(Error::Taken(_))));
    // A node that did not notice its fence writes nothing.
    let live = store.nodes().all().await.unwrap().into_iter().filter(|node| node.is_alive()).count();
    assert_eq!(live, 0);
    drop(alone);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn one_node_has_a_key_until_it_gives_it_back_or_is_gone() {
    let universe = Universe::postgres().await;
    let store = &universe.store;
    let (one, other) = (join(&universe, "one", Duration::ZERO).await, join(&universe, "other", LONG).await);
    let [one, other] = [&one, &other].map(|lease| lease.node().unwrap());
    let company = Uuid::from_u128(1);
    assert!(store.nodes().claim_key(one, company, "a").await.unwrap());
    assert!(!store.nodes().claim_key(other, company, "a").await.unwrap());
    assert!(store.nodes().claim_key(other, Uuid::from_u128(2), "a").await.unwrap());
    store.nodes().release_key(one, company, "a").await.unwrap();
    assert!(store.nodes().claim_key(other, company, "a").await.unwrap());
    store.nodes().release_key(other, company, "a").await.unwrap();
    assert!(store.nodes().claim_key(one, company, "a").await.unwrap());
    assert!(store.nodes().close_fence(one).await.unwrap());
    assert!(store.nodes().claim_key(other, company, "a").await.unwrap());
    universe.end().await;
}
