//! A database of its own for every test, on both kinds.
//!
//! SQLite tests always run. PostgreSQL tests run when `POMBO_TEST_POSTGRES` names a server
//! (`postgres://user:password@host:port`), where each creates a database and drops it at its end.
//!
//! The schema is made once in a run, and copied for each test: its migrations would take longer than most tests. On a server,
//! the database with it stays, and a run a day later drops it.

use std::time::{Duration, SystemTime};

use pombo::store::{Options, Store};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Makes two tests of each function that takes a [`Universe`]: one on SQLite, one on PostgreSQL.
macro_rules! stores {
    ($($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[actix_web::test]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::sqlite().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
        mod postgres {
            $(
                #[actix_web::test]
                #[ignore = "needs PostgreSQL: run scripts/test"]
                async fn $behaviour() {
                    let universe = $crate::database::Universe::postgres().await;
                    super::$behaviour(&universe).await;
                    universe.end().await;
                }
            )*
        }
    };
}
pub(crate) use stores;

/// A store of one test's own.
pub(crate) struct Universe {
    /// The store under test.
    pub(crate) store: Store,
    /// The address of the database, for rows that the store has no call for.
    pub(crate) url: String,
    place: Place,
}

enum Place {
    File(TempDir),
    Server { admin: DatabaseConnection, database: String },
}

impl Universe {
    /// In a file that is removed with the test.
    pub(crate) async fn sqlite() -> Self {
        let (directory, url) = file();
        std::fs::write(file_of(&directory), schema_file().await).unwrap();
        Self { store: open(&url).await, url, place: Place::File(directory) }
    }

    /// In a new database of the server that the environment names.
    pub(crate) async fn postgres() -> Self {
        let server = std::env::var("POMBO_TEST_POSTGRES").expect("POMBO_TEST_POSTGRES names no server");
        let server = server.trim_end_matches('/');
        let admin = Database::connect(format!("{server}/postgres")).await.unwrap();
        let database = format!("pombo_test_{}", Uuid::now_v7().simple());
        let schema = schema_database(&admin, server).await;
        admin.execute_unprepared(&format!("CREATE DATABASE {database} TEMPLATE {schema}")).await.unwrap();
        let url = format!("{server}/{database}");
        Self { store: open(&url).await, url, place: Place::Server { admin, database } }
    }

    /// The options that opened the store.
    pub(crate) fn options(&self) -> Options {
        options(&self.url)
    }

    /// Closes the store and removes its data. Fails if transactions on PostgreSQL deadlocked.
    pub(crate) async fn end(self) {
        self.store.close().await;
        match self.place {
            Place::File(directory) => directory.close().unwrap(),
            Place::Server { admin, database } => {
                let deadlocks = deadlocks(&admin, &database).await;
                admin.execute_unprepared(&format!("DROP DATABASE {database} WITH (FORCE)")).await.unwrap();
                assert_eq!(deadlocks, 0, "transactions waited for each other");
            }
        }
    }
}

/// A directory for a database's file, and the database's address.
fn file() -> (TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", file_of(&directory).display());
    (directory, url)
}

fn file_of(directory: &TempDir) -> std::path::PathBuf {
    directory.path().join("pombo.db")
}

/// A file with the schema and nothing else.
async fn schema_file() -> &'static [u8] {
    static FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let make = || async {
        let (directory, url) = file();
        open(&url).await.close().await;
        std::fs::read(file_of(&directory)).unwrap()
    };
    FILE.get_or_init(make).await
}

/// The beginning of the names of databases with the schema and nothing else; what follows says when they were made.
const SCHEMAS: &str = "pombo_test_schema_";
/// Such a database is of a run that ended.
const LONG_AGO: Duration = Duration::from_hours(24);

/// The name of a database with the schema and nothing else.
async fn schema_database(admin: &DatabaseConnection, server: &str) -> &'static str {
    static NAME: OnceCell<String> = OnceCell::const_new();
    let make = || async {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let backend = admin.get_database_backend();
        let all = "SELECT datname FROM pg_database WHERE starts_with(datname, $1)";
        let all = Statement::from_sql_and_values(backend, all, [SCHEMAS.into()]);
        for found in admin.query_all_raw(all).await.unwrap() {
            let name = found.try_get_by_index::<String>(0).unwrap();
            let made = name[SCHEMAS.len()..].split('_').next().unwrap().parse().map(Duration::from_secs);
            if made.is_ok_and(|made| made + LONG_AGO < now) {
                admin.execute_unprepared(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
            }
        }
        let name = format!("{SCHEMAS}{}_{}", now.as_secs(), std::process::id());
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        open(&format!("{server}/{name}")).await.close().await;
        name
    };
    NAME.get_or_init(make).await
}

/// The number of deadlocks in this database. A session reports them at its end or within a second, so this
/// waits for the sessions that end now, but not for sessions that the test still has.
async fn deadlocks(admin: &DatabaseConnection, database: &str) -> i64 {
    let number = async |sql: &str| {
        let statement = Statement::from_sql_and_values(admin.get_database_backend(), sql, [database.into()]);
        admin.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap()
    };
    for _ in 0..20 {
        if number("SELECT count(*) FROM pg_stat_activity WHERE datname = $1").await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    number("SELECT deadlocks FROM pg_stat_database WHERE datname = $1").await
}

fn options(url: &str) -> Options {
    Options {
        url: url.to_owned(),
        connections: 9,
        acquire_timeout: Duration::from_secs(10),
        statement_timeout: Duration::ZERO,
        synchronous_full: false,
        migrate: true,
    }
}

async fn open(url: &str) -> Store {
    Store::open(&options(url)).await.unwrap()
}
