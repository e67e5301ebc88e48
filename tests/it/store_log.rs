//! SQLite's log is copied to the file beside the commits.

use pombo::store::Store;
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection};

use crate::database::Universe;

/// Another program that writes, and does not checkpoint the log.
async fn writer(universe: &Universe) -> DatabaseConnection {
    let mut options = ConnectOptions::new(universe.url.as_str());
    options.max_connections(1).sqlx_logging(false);
    let database = Database::connect(options).await.unwrap();
    database.execute_unprepared("PRAGMA wal_autocheckpoint = 0").await.unwrap();
    database.execute_unprepared("CREATE TABLE page (content BLOB)").await.unwrap();
    database
}

/// Writes this many mebibytes.
async fn write(database: &DatabaseConnection, mebibytes: u32) {
    for _ in 0..mebibytes {
        database.execute_unprepared("INSERT INTO page VALUES (zeroblob(1048576))").await.unwrap();
    }
}

/// The number of pages in the log, and of those that are copied to the file.
async fn log(database: &DatabaseConnection) -> (i64, i64) {
    let statement =
        sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, "PRAGMA wal_checkpoint(NOOP)");
    let row = database.query_one_raw(statement).await.unwrap().unwrap();
    (row.try_get_by_index(1).unwrap(), row.try_get_by_index(2).unwrap())
}

#[tokio::test]
async fn a_long_log_is_copied_whole_and_begun_again_by_the_next_commit() {
    let universe = Universe::sqlite().await;
    let store = Store::open(&universe.options()).await.unwrap();
    let database = writer(&universe).await;
    // What making the tables wrote.
    database.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    write(&database, 1).await;
    store.copy_log().await.unwrap();
    let (_, copied) = log(&database).await;
    assert_eq!(copied, 0, "a short log is left alone");
    write(&database, 32).await;
    store.copy_log().await.unwrap();
    let (pages, copied) = log(&database).await;
    assert!(pages > 512 && pages == copied, "{pages} pages, {copied} copied");
    write(&database, 1).await;
    let (pages, _) = log(&database).await;
    assert!(pages < 512, "{pages} pages");
    database.close().await.unwrap();
    store.close().await;
    universe.end().await;
}

#[tokio::test]
async fn while_a_writer_rests_a_shorter_log_is_copied() {
    let universe = Universe::sqlite().await;
    let store = Store::open(&universe.options()).await.unwrap();
    let database = writer(&universe).await;
    database.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    database.execute_unprepared("INSERT INTO page VALUES (zeroblob(524288))").await.unwrap();
    store.copy_log_at_rest().await.unwrap();
    let (pages, copied) = log(&database).await;
    assert!(pages < 256 && copied == 0, "{pages} pages, {copied} copied");
    database.execute_unprepared("INSERT INTO page VALUES (zeroblob(786432))").await.unwrap();
    store.copy_log().await.unwrap();
    assert_eq!(log(&database).await.1, 0, "otherwise it is still short");
    store.copy_log_at_rest().await.unwrap();
    let (pages, copied) = log(&database).await;
    assert!((256..512).contains(&pages) && pages == copied, "{pages} pages, {copied} copied");
    database.close().await.unwrap();
    store.close().await;
    universe.end().await;
}

#[tokio::test]
async fn a_reader_that_stays_holds_up_nobody_and_the_log_is_copied_when_it_is_gone() {
    let universe = Universe::sqlite().await;
    let store = Store::open(&universe.options()).await.unwrap();
    let database = writer(&universe).await;
    let reader = reader_of_one_state(&universe).await;
    write(&database, 40).await;
    store.copy_log().await.unwrap();
    let (pages, copied) = log(&database).await;
    assert!(copied < pages, "pages that the reader may need are not copied");
    reader.execute_unprepared("COMMIT").await.unwrap();
    store.copy_log().await.unwrap();
    let (pages, copied) = log(&database).await;
    assert_eq!(pages, copied);
    reader.close().await.unwrap();
    database.close().await.unwrap();
    store.close().await;
    universe.end().await;
}

/// A reader that keeps one state of the database open.
async fn reader_of_one_state(universe: &Universe) -> DatabaseConnection {
    let mut options = ConnectOptions::new(universe.url.as_str());
    options.max_connections(1).sqlx_logging(false);
    let database = Database::connect(options).await.unwrap();
    database.execute_unprepared("BEGIN").await.unwrap();
    database.execute_unprepared("SELECT count(*) FROM company").await.unwrap();
    database
}
