//! The answers that are kept for requests with an `Idempotency-Key`.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::request::{Skipped, SkippedEntry};
use pombo::domain::send::{Recipients, Schedule};
use pombo::store::ledger::{Answer, NewSend, PendingWrites};
use pombo::store::{Lease, Store};
use sea_orm::{ConnectionTrait as _, Database};
use uuid::Uuid;

use super::{ACME, GLOBEX, HOUR, NOW, lease, new_send, number};
use crate::database::{Universe, stores};

stores! {
    an_answer_is_given_again_until_it_is_too_old,
    an_answer_about_a_withdrawn_send_is_ignored,
    answers_are_removed_in_steps_the_oldest_first,
}

/// Accepts a send, and keeps the answer under `key`.
async fn accept(store: &Store, lease: &Lease, id: u128, key: &str, at: Timestamp) {
    let first = [SkippedEntry {
        input: "n/a \"\\".to_owned(),
        reason: "has no digits".to_owned(),
        code: None,
        index: None,
        field: None,
    }];
    let answer = Answer {
        company_id: ACME,
        key: key.to_owned(),
        fingerprint: [u8::try_from(id).unwrap(); 32],
        send_id: Uuid::from_u128(id),
        recipients: 1,
        skipped: 7,
        skipped_first: serde_json::to_string(&first).unwrap(),
    };
    let schedule = Schedule { send_at: Some(at), expires_at: None };
    let send = NewSend { schedule, ..new_send(id, Recipients::One(number(0))) };
    let batch = PendingWrites { sends: vec![send], answers: vec![answer], ..PendingWrites::default() };
    store.ledger().commit(lease, &batch, at).await.unwrap();
}

async fn an_answer_is_given_again_until_it_is_too_old(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    let hostile = r#"'";--\{}[]$1%_"#;
    accept(store, &lease, 10, hostile, NOW).await;
    let before = NOW.minus(HOUR);
    let kept = store.of(ACME).answers().find(hostile, before).await.unwrap().unwrap();
    assert_eq!((kept.send_id, kept.fingerprint, kept.recipients), (Uuid::from_u128(10), [10; 32], 1));
    let entry = SkippedEntry {
        input: "n/a \"\\".to_owned(),
        reason: "has no digits".to_owned(),
        code: None,
        index: None,
        field: None,
    };
    let entries = serde_json::to_string(&[entry]).unwrap();
    assert_eq!(kept.skipped, Skipped::kept(7, &entries).unwrap());
    assert_eq!(kept.schedule, Schedule { send_at: Some(NOW), expires_at: None });
    assert_eq!(store.of(GLOBEX).answers().find(hostile, before).await.unwrap(), None);
    assert_eq!(store.of(ACME).answers().find("other", before).await.unwrap(), None);
    assert_eq!(store.of(ACME).answers().find(hostile, NOW).await.unwrap(), None, "the answer is too old now");

    accept(store, &lease, 11, hostile, NOW.plus(HOUR)).await;
    let kept = store.of(ACME).answers().find(hostile, before).await.unwrap().unwrap();
    assert_eq!((kept.send_id, kept.fingerprint), (Uuid::from_u128(11), [11; 32]));
}

async fn an_answer_about_a_withdrawn_send_is_ignored(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    accept(store, &lease, 10, "k", NOW).await;
    // The send was withdrawn while its audience was being written.
    let database = Database::connect(&universe.url).await.unwrap();
    database.execute_unprepared("UPDATE send SET state = 0").await.unwrap();
    database.close().await.unwrap();
    let patience = Duration::from_secs(30);
    assert!(store.ledger().settle(&[Uuid::from_u128(10)], NOW, patience).await.unwrap().is_empty());
    assert_eq!(store.of(ACME).answers().find("k", NOW.minus(HOUR)).await.unwrap(), None);
    accept(store, &lease, 11, "k", NOW).await;
    let kept = store.of(ACME).answers().find("k", NOW.minus(HOUR)).await.unwrap().unwrap();
    assert_eq!(kept.send_id, Uuid::from_u128(11));
}

async fn answers_are_removed_in_steps_the_oldest_first(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    for age in 0..5_u32 {
        accept(store, &lease, 10 + u128::from(age), &format!("k{age}"), NOW.minus(age * HOUR)).await;
    }
    let is_kept = async |age: u32| {
        store.of(ACME).answers().find(&format!("k{age}"), NOW.minus(9 * HOUR)).await.unwrap().is_some()
    };
    let before = NOW.minus(HOUR);
    assert_eq!(store.retention().remove_answers(before, 2).await.unwrap(), 2);
    assert_eq!([is_kept(2).await, is_kept(3).await, is_kept(4).await], [true, false, false]);
    assert_eq!(store.retention().remove_answers(before, 2).await.unwrap(), 1);
    assert_eq!(store.retention().remove_answers(before, 2).await.unwrap(), 0);
    assert_eq!([is_kept(0).await, is_kept(1).await, is_kept(2).await], [true, true, false]);
    assert!(store.of(ACME).sends().find(Uuid::from_u128(14), NOW).await.unwrap().is_some(), "the sends stay");
}
