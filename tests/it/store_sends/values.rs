//! Values and references of recipients, and skipped entries: they come, are found and go with their send.

use pombo::domain::block::pack;
use pombo::domain::page::PageRequest;
use pombo::domain::request::{SkipCode, SkippedEntry};
use pombo::domain::send::{Block, Mark, Progress, Recipients, State};
use pombo::store::ledger::{
    Activation, BlockOf, NewSend, PendingWrites, PersonalSend, ReferenceOf, SkippedOf,
};
use pombo::store::sends::personal::KeptValues;
use pombo::store::{Lease, Store};
use sea_orm::{ConnectionTrait as _, Database};
use uuid::Uuid;

use super::{ACME, GLOBEX, HOUR, NOW, lease, new_send, number};
use crate::database::{Universe, stores};

const SEND: Uuid = Uuid::from_u128(10);
const SEAL: Uuid = Uuid::from_u128(77);

stores! {
    values_are_kept_until_their_time_after_the_end_and_references_as_long_as_the_send,
    a_send_that_is_not_accepted_leaves_no_values,
}

/// The first step of a send with three recipients, whose values are in two blocks.
fn first_step() -> PendingWrites {
    let values = |first_ordinal, recipients| BlockOf {
        send_id: SEND,
        block: Block { first_ordinal, recipients, packed: vec![u8::try_from(first_ordinal).unwrap(); 3] },
    };
    let numbers: Vec<_> = (0..3).map(number).collect();
    let block = Block { first_ordinal: 0, recipients: 3, packed: pack(&numbers) };
    let reference =
        |ordinal| ReferenceOf { send_id: SEND, company_id: ACME, ordinal, reference: "crm-77".to_owned() };
    PendingWrites {
        sends: vec![NewSend { state: State::Resolving, ..new_send(10, Recipients::Blocks(3)) }],
        blocks: vec![BlockOf { send_id: SEND, block }],
        personal: vec![PersonalSend { send_id: SEND, company_id: ACME, seal: SEAL }],
        values: vec![values(0, 2), values(2, 1)],
        references: vec![reference(0), reference(2)],
        ..PendingWrites::default()
    }
}

async fn accept(store: &Store, lease: &Lease) {
    store.ledger().commit(lease, &first_step(), NOW).await.unwrap();
    let entry = |index| SkippedEntry::of(SkipCode::ValueMissing, "+1", &"has no value").at(index, None);
    let part = |place, entries: std::ops::Range<u64>| SkippedOf {
        send_id: SEND,
        place,
        entries: entries.end - entries.start,
        packed: serde_json::to_string(&entries.map(entry).collect::<Vec<_>>()).unwrap(),
    };
    let batch = PendingWrites {
        activations: vec![Activation { send_id: SEND, recipients: 3, skipped: 5, instead: None }],
        skipped: vec![part(0, 0..3), part(3, 3..5)],
        ..PendingWrites::default()
    };
    store.ledger().commit(lease, &batch, NOW).await.unwrap();
}

/// How many rows the tables have that belong to sends.
async fn rows(universe: &Universe) -> usize {
    let database = Database::connect(&universe.url).await.unwrap();
    let mut rows = 0;
    for table in ["personal_send", "send_values", "message_reference", "send_skipped"] {
        let found = database.query_all_raw(sea_orm::Statement::from_string(
            database.get_database_backend(),
            format!("SELECT 1 FROM {table}"),
        ));
        rows += found.await.unwrap().len();
    }
    database.close().await.unwrap();
    rows
}

async fn values_are_kept_until_their_time_after_the_end_and_references_as_long_as_the_send(
    universe: &Universe,
) {
    let (store, lease) = (&universe.store, lease(universe).await);
    accept(store, &lease).await;
    assert_eq!(store.sends().values_kept(SEND).await.unwrap(), KeptValues::Here(SEAL));
    let at = async |ordinal| {
        store.sends().values_at(SEND, ordinal).await.unwrap().map(|block| block.first_ordinal)
    };
    assert_eq!([at(0).await, at(1).await, at(2).await, at(3).await], [Some(0), Some(0), Some(2), None]);
    let found = store.of(ACME).sends().with_reference("crm-77", 10).await.unwrap();
    assert_eq!(found, [(SEND, 0), (SEND, 2)]);
    assert!(store.of(GLOBEX).sends().with_reference("crm-77", 10).await.unwrap().is_empty());
    let page = PageRequest { page: 2, limit: 2 };
    let skipped = store.of(ACME).sends().skipped(SEND, page).await.unwrap().unwrap();
    let places: Vec<_> = skipped.records.iter().map(|entry| entry.index).collect();
    assert_eq!((places, skipped.total), (vec![Some(2), Some(3)], 5));
    assert!(store.of(GLOBEX).sends().skipped(SEND, page).await.unwrap().is_none());

    // While it runs, nothing is removed, whatever its age.
    assert!(!store.retention().remove_values(&lease, NOW.plus(HOUR)).await.unwrap().more);
    let progress = Progress { high_water: 3, settled: 3 };
    let mark = Mark { send_id: SEND, progress, state: State::Finished, due_at: None };
    let batch = PendingWrites { marks: vec![mark], ..PendingWrites::default() };
    store.ledger().commit(&lease, &batch, NOW).await.unwrap();
    let numbers = [number(2)].into();
    assert_eq!(store.of(ACME).sends().over_with_values(&numbers).await.unwrap(), [(SEND, SEAL)]);
    assert!(store.of(GLOBEX).sends().over_with_values(&numbers).await.unwrap().is_empty());
    assert_eq!(store.sends().ordinals_of(SEND, &numbers).await.unwrap(), [2]);
    let was = store.sends().values_at(SEND, 2).await.unwrap().unwrap();
    assert!(store.sends().replace_values(SEND, &was, vec![9]).await.unwrap());
    assert!(!store.sends().replace_values(SEND, &was, vec![8]).await.unwrap(), "another erasure was first");
    assert_eq!(store.sends().values_at(SEND, 2).await.unwrap(), Some(Block { packed: vec![9], ..was }));
    store.sends().erase_references(SEND, &[2]).await.unwrap();
    assert!(!store.retention().remove_values(&lease, NOW.minus(HOUR)).await.unwrap().more);
    while store.retention().remove_values(&lease, NOW).await.unwrap().more {}
    assert_eq!(store.sends().values_kept(SEND).await.unwrap(), KeptValues::Gone);
    assert_eq!(at(0).await, None);
    let references = store.sends().references(SEND, (0, 3)).await.unwrap();
    assert_eq!(references.into_iter().collect::<Vec<_>>(), [(0, "crm-77".to_owned())]);

    let mut cursor = pombo::store::retention::Cursor::default();
    store.retention().remove_sends(&lease, NOW, &mut cursor, 10).await.unwrap();
    while store.retention().remove_messages(&lease, 10).await.unwrap().more {}
    assert_eq!(rows(universe).await, 0);
}

async fn a_send_that_is_not_accepted_leaves_no_values(universe: &Universe) {
    let (store, lease) = (&universe.store, lease(universe).await);
    store.ledger().commit(&lease, &first_step(), NOW).await.unwrap();
    assert!(store.of(ACME).sends().with_reference("crm-77", 10).await.unwrap().is_empty());
    assert_eq!(rows(universe).await, 5);
    store.ledger().settle(&[SEND], NOW, HOUR).await.unwrap();
    assert_eq!(rows(universe).await, 0, "withdrawn while the process lives");
    let next = PendingWrites {
        sends: vec![NewSend { state: State::Resolving, ..new_send(11, Recipients::Blocks(3)) }],
        personal: vec![PersonalSend { send_id: Uuid::from_u128(11), company_id: ACME, seal: SEAL }],
        ..PendingWrites::default()
    };
    store.ledger().commit(&lease, &next, NOW).await.unwrap();
    assert_eq!(rows(universe).await, 1);
    assert_eq!(store.sends().remove_unresolved(&lease).await.unwrap(), 1);
    assert_eq!(rows(universe).await, 0, "removed by the next process");
}
