//! Changes that change nothing.

use pombo::accounts::{Email, Language, Role};
use pombo::clock::Timestamp;
use pombo::store::changes::Filter;
use pombo::store::users::NewUser;
use pombo::store::{ContactChange, Edited};
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::json;

use super::{ALL, ana, tier};
use crate::database::{Universe, stores};
use crate::store_contacts::{all, draft};

stores!(what_changes_nothing_is_neither_written_nor_recorded);

/// A number that is another one once another connection has written.
async fn writes(on: &DatabaseConnection) -> String {
    let (sql, is_sqlite) = match on.get_database_backend() {
        DbBackend::Sqlite => ("PRAGMA data_version", true),
        // The versions of the rows that a change writes, or only locks, before it is committed.
        _ => (
            "SELECT CONCAT_WS('|', (SELECT STRING_AGG(xmin::text, ',') FROM company),
                 (SELECT STRING_AGG(xmin::text, ',') FROM tier), (SELECT STRING_AGG(xmin::text, ',') FROM tag),
                 (SELECT STRING_AGG(xmin::text, ',') FROM contact), (SELECT STRING_AGG(xmin::text, ',') FROM contact_book),
                 (SELECT STRING_AGG(xmin::text, ',') FROM membership),
                 (SELECT STRING_AGG(xmin::text, ',') FROM user_account),
                 (SELECT STRING_AGG(xmin::text, ',') FROM change))",
            false,
        ),
    };
    let row =
        on.query_one_raw(Statement::from_string(on.get_database_backend(), sql)).await.unwrap().unwrap();
    if is_sqlite {
        row.try_get_by_index::<i64>(0).unwrap().to_string()
    } else {
        row.try_get_by_index(0).unwrap()
    }
}

async fn what_changes_nothing_is_neither_written_nor_recorded(universe: &Universe) {
    let (store, now) = (&universe.store, Timestamp::now());
    let company = store.companies().add(&ana(), "acme", "standard").await.unwrap();
    let email = Email::parse("bea@example.com").unwrap();
    let new = NewUser {
        email: &email,
        name: "Bea",
        password: None,
        language: None,
        time_zone: None,
        is_operator: false,
        membership: Some((company.id, Role::Owner)),
        vouched_by: None,
    };
    let bea = store.users().add(&ana(), new).await.unwrap();
    let slow = [tier("x", &json!({"kind": "a", "pace": 1}))];
    store.tiers().apply(&ana(), &slow).await.unwrap();
    let tags = [("vip".to_owned(), Some("#112233".to_owned()))];
    let tag = store.of(company.id).tags().write(&ana(), &tags, now).await.unwrap()[0].0;
    store.of(company.id).contacts().upsert(&[draft("Ana", "", "5511988887000", &["t"])], now).await.unwrap();
    let contact = all(store, company.id).await[0].id;
    let change = ContactChange {
        first_name: Some("Carla".to_owned()),
        tags: Some(vec!["vip".to_owned()]),
        ..ContactChange::default()
    };
    assert_eq!(
        store.of(company.id).contacts().change(&ana(), contact, &change, now).await.unwrap(),
        Edited::Done
    );
    let renamed = store.companies().change(&ana(), &company, "acme 2", "standard").await.unwrap();
    let spanish = Some(Language::Spanish);
    store.users().set_profile(&ana(), &bea, "Beatriz", spanish, None).await.unwrap();

    // One connection, because SQLite counts the writes of others for each.
    let options = ConnectOptions::new(&universe.url).max_connections(1).to_owned();
    let database = Database::connect(options).await.unwrap();
    let seen = async || {
        let recorded = store.changes().page(Filter::default(), ALL).await.unwrap().total;
        (recorded, store.revisions().await.unwrap(), writes(&database).await)
    };
    let before = seen().await;
    assert!(store.tiers().apply(&ana(), &slow).await.unwrap().is_empty());
    store.of(company.id).tags().write(&ana(), &tags, now).await.unwrap();
    let same = store.of(company.id).tags().change(&ana(), tag, Some("vip"), Some("#112233")).await.unwrap();
    assert_eq!(same, Edited::Done);
    assert_eq!(
        store.of(company.id).contacts().change(&ana(), contact, &change, now).await.unwrap(),
        Edited::Done
    );
    assert_eq!(store.of(company.id).contacts().merge(&ana(), contact, &[], now).await.unwrap(), Edited::Done);
    store.companies().change(&ana(), &renamed, "acme 2", "standard").await.unwrap();
    store.of(company.id).members().set_role(&ana(), &bea, Role::Owner).await.unwrap();
    // These compare with what was read before another request changed it.
    store.companies().change(&ana(), &company, "acme 2", "standard").await.unwrap();
    store.users().set_profile(&ana(), &bea, "Beatriz", spanish, None).await.unwrap();
    assert_eq!(seen().await, before);
    assert!(
        !store
            .tiers()
            .apply(&ana(), &[tier("x", &json!({"kind": "a", "pace": 2}))])
            .await
            .unwrap()
            .is_empty()
    );
    assert_ne!(seen().await.2, before.2, "what changes something is seen");
    database.close().await.unwrap();
}
