//! Records of web sessions, in the store and sealed above it, on both databases.

use std::path::Path;
use std::sync::Arc;

use pombo::config::Secrets;
use pombo::connector::web_session::{Records, RecordsError};
use pombo::domain::secret::SealingKey;
use pombo::domain::web_session::{Change, Record};
use pombo::engine::web_session::SessionRecords;
use pombo::store::Store;
use pombo::vault::Vault;
use uuid::Uuid;

use crate::database::{Universe, stores};

fn row(key: &str, value: &[u8], mark: i64) -> Record {
    Record { key: key.to_owned(), value: value.to_vec(), mark }
}

fn put(namespace: &str, row: Record) -> Change {
    Change::Put { namespace: namespace.to_owned(), record: row }
}

async fn all(store: &Store, channel: Uuid, namespace: &str) -> Vec<Record> {
    let mut rows = store.web_sessions().namespace(channel, namespace).await.unwrap();
    rows.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    rows
}

async fn a_row_is_read_as_it_was_last_written(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    let odd = "5511988887777@s.whatsapp.net:0\u{1f}\"\\,{é} ' NULL";
    let changes = [
        put("session", row("a", &[1], 0)),
        put("session", row(odd, &[0, 255], 7)),
        put("session", row("a", &[2], 3)),
        put("prekey", row("a", &[], i64::MAX)),
    ];
    store.web_sessions().change(channel, &changes).await.unwrap();
    assert_eq!(all(store, channel, "session").await, [row(odd, &[0, 255], 7), row("a", &[2], 3)]);
    store.web_sessions().change(channel, &[put("session", row("a", &[4], 5))]).await.unwrap();
    assert_eq!(store.web_sessions().rows(channel, "session", &["a"]).await.unwrap(), [row("a", &[4], 5)]);
    assert_eq!(
        store.web_sessions().rows(channel, "prekey", &["a"]).await.unwrap(),
        [row("a", &[], i64::MAX)]
    );
    let mut both = store.web_sessions().rows(channel, "session", &["a", odd, "gone"]).await.unwrap();
    both.sort_unstable_by_key(|row| row.mark);
    assert_eq!(both, [row("a", &[4], 5), row(odd, &[0, 255], 7)]);
    assert!(store.web_sessions().rows(channel, "session", &[]).await.unwrap().is_empty());
    assert!(store.web_sessions().rows(channel, "session", &["gone"]).await.unwrap().is_empty());
}

async fn a_thousand_rows_are_written_marked_and_deleted_together(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    let keys: Vec<_> = (0..1_000).map(|key| key.to_string()).collect();
    let rows: Vec<_> = keys.iter().map(|key| put("prekey", row(key, &[7; 300], 0))).collect();
    store.web_sessions().change(channel, &rows).await.unwrap();
    let borrowed: Vec<_> = keys.iter().map(String::as_str).collect();
    assert_eq!(store.web_sessions().rows(channel, "prekey", &borrowed).await.unwrap().len(), 1_000);

    // A mark does not bring a removed record back.
    let first = keys[..600].to_vec();
    let gone = Change::Delete { namespace: "prekey".to_owned(), keys: vec!["0".to_owned()] };
    let marked = Change::Mark { namespace: "prekey".to_owned(), keys: first, mark: 1 };
    store.web_sessions().change(channel, &[gone, marked]).await.unwrap();
    let listed = store.web_sessions().namespace_keys(channel, "prekey").await.unwrap();
    assert_eq!(listed.len(), 999);
    assert_eq!(listed.iter().filter(|(_, mark)| *mark == 1).count(), 599);

    let rest = Change::Delete { namespace: "prekey".to_owned(), keys };
    store.web_sessions().change(channel, &[rest]).await.unwrap();
    assert!(all(store, channel, "prekey").await.is_empty());
}

async fn changes_are_made_in_their_order(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    let clear = Change::Clear { namespace: "mac".to_owned() };
    let changes = [
        put("mac", row("old", &[1], 0)),
        put("key", row("kept", &[2], 0)),
        clear,
        put("mac", row("new", &[3], 0)),
    ];
    store.web_sessions().change(channel, &changes).await.unwrap();
    assert_eq!(all(store, channel, "mac").await, [row("new", &[3], 0)]);
    assert_eq!(all(store, channel, "key").await, [row("kept", &[2], 0)]);
    store.web_sessions().change(channel, &[]).await.unwrap();
}

async fn a_key_is_found_by_how_it_begins(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    let keys = ["5511@s.whatsapp.net", "551199:3@lid", "5512"];
    let changes: Vec<_> = keys.iter().map(|key| put("session", row(key, &[1], 0))).collect();
    store.web_sessions().change(channel, &changes).await.unwrap();
    let expected = [
        ("5511@", true),
        ("5511:", false),
        ("551199:", true),
        ("55119", true),
        ("5512", true),
        ("56", false),
        ("", true),
    ];
    for (beginning, is_there) in expected {
        let found = store.web_sessions().has_key(channel, "session", beginning).await.unwrap();
        assert_eq!(found, is_there, "{beginning}");
    }
    assert!(!store.web_sessions().has_key(channel, "identity", "").await.unwrap());
    assert!(!store.web_sessions().has_key(Uuid::now_v7(), "session", "").await.unwrap());
}

async fn only_one_of_many_takers_gets_a_row(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    store.web_sessions().change(channel, &[put("sent", row("m", &[9], 4))]).await.unwrap();
    let takers = (0..8).map(|_| store.web_sessions().take_row(channel, "sent", "m"));
    let taken = futures_util::future::try_join_all(takers).await.unwrap();
    assert_eq!(taken.into_iter().flatten().collect::<Vec<_>>(), [row("m", &[9], 4)]);
    assert!(all(store, channel, "sent").await.is_empty());
}

async fn old_rows_are_deleted_and_rows_that_never_age_stay(universe: &Universe) {
    let (store, channel) = (&universe.store, Uuid::now_v7());
    let rows = [("never", 0), ("old", 10), ("just", 20), ("new", 30)];
    let changes: Vec<_> = rows.iter().map(|(key, mark)| put("sent", row(key, &[1], *mark))).collect();
    store.web_sessions().change(channel, &changes).await.unwrap();
    assert_eq!(store.web_sessions().delete_rows_below(channel, "sent", 20).await.unwrap(), 1);
    let left: Vec<_> = all(store, channel, "sent").await.into_iter().map(|row| row.key).collect();
    assert_eq!(left, ["just", "never", "new"]);
}

async fn no_call_reaches_the_rows_of_another_channel(universe: &Universe) {
    let (store, mine, other) = (&universe.store, Uuid::now_v7(), Uuid::now_v7());
    store.web_sessions().change(other, &[put("sent", row("a", &[1], 5))]).await.unwrap();
    let before = all(store, other, "sent").await;

    assert!(store.web_sessions().rows(mine, "sent", &["a"]).await.unwrap().is_empty());
    assert!(store.web_sessions().rows(mine, "sent", &["a", "b"]).await.unwrap().is_empty());
    assert!(store.web_sessions().namespace_keys(mine, "sent").await.unwrap().is_empty());
    assert_eq!(store.web_sessions().take_row(mine, "sent", "a").await.unwrap(), None);
    assert_eq!(store.web_sessions().delete_rows_below(mine, "sent", i64::MAX).await.unwrap(), 0);
    let keys = || vec!["a".to_owned()];
    let changes = [
        Change::Mark { namespace: "sent".to_owned(), keys: keys(), mark: 9 },
        Change::Delete { namespace: "sent".to_owned(), keys: keys() },
        Change::Clear { namespace: "sent".to_owned() },
        put("sent", row("a", &[2], 6)),
    ];
    store.web_sessions().change(mine, &changes).await.unwrap();
    assert_eq!(store.web_sessions().wipe(mine).await.unwrap(), 1);
    assert_eq!(all(store, other, "sent").await, before);
}

fn vault(byte: u8) -> Arc<Vault> {
    let secrets =
        Secrets { key: Some(SealingKey::new([byte; 32])), previous_keys: Vec::new(), key_file: None };
    Arc::new(Vault::open(&secrets, Path::new("/nowhere")).unwrap().0)
}

fn keep(namespace: &str, key: &str, value: &[u8]) -> Change {
    let record = Record { key: key.to_owned(), value: value.to_vec(), mark: 3 };
    Change::Put { namespace: namespace.to_owned(), record }
}

async fn records_are_sealed_in_the_table_and_open_again(universe: &Universe) {
    let (store, channel) = (universe.store.clone(), Uuid::now_v7());
    let records = SessionRecords::new(store.clone(), vault(1), channel);
    let secret = b"a private key, to be sure";
    // So many records that another thread seals them.
    let changes = (0..100).map(|key| keep("identity", &key.to_string(), secret)).collect();
    records.apply(changes).await.unwrap();
    assert!(records.list("identity").await.unwrap().iter().all(|record| record.value == secret));
    assert_eq!(records.list("identity").await.unwrap().len(), 100);
    let one = Record { key: "7".to_owned(), value: secret.to_vec(), mark: 3 };
    assert_eq!(records.read("identity", &["7"]).await.unwrap(), std::slice::from_ref(&one));
    for row in store.web_sessions().namespace(channel, "identity").await.unwrap() {
        assert!(!row.value.windows(7).any(|window| window == b"private"));
    }
    assert_eq!(records.take("identity", "7").await.unwrap(), Some(one));
    assert_eq!(records.list_keys("identity").await.unwrap().len(), 99);
    assert_eq!(records.delete_below("identity", 4).await.unwrap(), 99);
    records.apply(vec![keep("identity", "a", secret), keep("session", "b", &[])]).await.unwrap();
    assert_eq!(records.read("session", &["b"]).await.unwrap()[0].value, b"");
    records.wipe().await.unwrap();
    assert!(records.list("identity").await.unwrap().is_empty());
}

async fn a_sealed_value_opens_in_its_place_only(universe: &Universe) {
    let (store, channel) = (universe.store.clone(), Uuid::now_v7());
    let records = SessionRecords::new(store.clone(), vault(1), channel);
    records.apply(vec![keep("identity", "a", b"secret")]).await.unwrap();
    let sealed = store.web_sessions().namespace(channel, "identity").await.unwrap().remove(0).value;

    let elsewhere = Uuid::now_v7();
    store.web_sessions().change(elsewhere, &[put("identity", row("a", &sealed, 0))]).await.unwrap();
    let moved = [put("session", row("a", &sealed, 0)), put("identity", row("b", &sealed, 0))];
    store.web_sessions().change(channel, &moved).await.unwrap();
    let other = SessionRecords::new(store.clone(), vault(1), elsewhere);
    let rekeyed = SessionRecords::new(store, vault(2), channel);
    for (records, namespace, key) in [
        (&other, "identity", "a"),
        (&records, "session", "a"),
        (&records, "identity", "b"),
        (&rekeyed, "identity", "a"),
    ] {
        let read = records.read(namespace, &[key]).await;
        assert!(matches!(read, Err(RecordsError::DoNotOpen(_))), "{namespace} {key}");
    }
    assert_eq!(records.read("identity", &["a"]).await.unwrap()[0].value, b"secret");
}

stores! {
    a_row_is_read_as_it_was_last_written,
    a_thousand_rows_are_written_marked_and_deleted_together,
    changes_are_made_in_their_order,
    a_key_is_found_by_how_it_begins,
    only_one_of_many_takers_gets_a_row,
    old_rows_are_deleted_and_rows_that_never_age_stay,
    no_call_reaches_the_rows_of_another_channel,
    records_are_sealed_in_the_table_and_open_again,
    a_sealed_value_opens_in_its_place_only,
}
