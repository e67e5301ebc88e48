//! The size of a million messages in the database: after a tag send to a local provider, and after its
//! receipts.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::StreamExt as _;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};

use crate::receipts::{AT_ONCE, BATCH, signature, webhook};
use crate::service::Service;
use crate::{Row, dispatch};

const CONTACTS: u64 = 1_000_000;
/// The tables that a send fills.
const TABLES: [&str; 3] = ["send", "recipient_block", "message"];

pub(crate) fn measure() -> Vec<Row> {
    let provider = dispatch::provider(Arc::new(AtomicU64::new(0)));
    actix_web::rt::System::new().block_on(async {
        let service = Service::start(&format!("http://{provider}"), "unlimited", 64).await;
        let tag = service.tag(CONTACTS).await;
        let (_, recipients) = service.send_to_tag(tag).await;
        while !service.store.channels().working().await.unwrap().is_empty() {
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
        let mut options = ConnectOptions::new(&service.database.url);
        options.max_connections(1).sqlx_logging(false);
        let rows = Database::connect(options).await.unwrap();
        let sent = sizes(&rows, &TABLES).await;
        let send = service.last_send().await.simple().to_string();
        for status in ["delivered", "read"] {
            tell(&service, &send, recipients, status).await;
        }
        let received = sizes(&rows, &TABLES).await;
        service.engine.stop().await;
        let row = |what, sizes: &[Size]| Row {
            what,
            ours: told(sizes, recipients),
            yardstick: format!("{recipients} messages"),
            ratio: "–".to_owned(),
            bound: "–",
        };
        vec![row("bytes for each message of a tag send, sent", &sent), row("… delivered and read", &received)]
    })
}

/// Reports a status of the first `recipients` messages to the service.
pub(crate) async fn tell(service: &Service, send: &str, recipients: u64, status: &str) {
    let (client, url) = (reqwest::Client::new(), service.hook());
    let posts = (0..recipients / BATCH).map(|batch| {
        let body = webhook(send, batch * BATCH, status);
        let request = client.post(&url).header("X-Hub-Signature-256", signature(&body)).body(body);
        async move { assert_eq!(request.send().await.unwrap().status(), 200) }
    });
    futures_util::stream::iter(posts).buffer_unordered(AT_ONCE).for_each(|()| std::future::ready(())).await;
}

/// Bytes of a table and of its indexes.
struct Size {
    table: &'static str,
    rows: i64,
    indexes: i64,
}

fn told(sizes: &[Size], messages: u64) -> String {
    let each = |bytes: i64| bytes as f64 / messages as f64;
    let of =
        |Size { table, rows, indexes }: &Size| format!("{table} {:.1} + {:.1}", each(*rows), each(*indexes));
    let all: i64 = sizes.iter().map(|size| size.rows + size.indexes).sum();
    let each_table = sizes.iter().map(of).collect::<Vec<_>>().join(", ");
    format!("{:.1} B: rows + indexes of {each_table}", each(all))
}

/// Bytes of these tables, indexes included.
pub(crate) async fn bytes(rows: &DatabaseConnection, tables: &[&'static str]) -> i64 {
    sizes(rows, tables).await.iter().map(|size| size.rows + size.indexes).sum()
}

async fn sizes(rows: &DatabaseConnection, tables: &[&'static str]) -> Vec<Size> {
    let mut sizes = Vec::new();
    for table in tables.iter().copied() {
        let sql = match rows.get_database_backend() {
            // A table in the order of its key is its own index.
            DbBackend::Sqlite => format!(
                "SELECT CAST(COALESCE(SUM(CASE schema.type WHEN 'table' THEN pgsize END), 0) AS INTEGER), \
                 CAST(COALESCE(SUM(CASE schema.type WHEN 'index' THEN pgsize END), 0) AS INTEGER) \
                 FROM sqlite_schema AS schema JOIN dbstat('main', 1) AS stat ON stat.name = schema.name \
                 WHERE schema.tbl_name = '{table}'"
            ),
            _ => format!("SELECT pg_table_size('{table}'), pg_indexes_size('{table}')"),
        };
        let statement = Statement::from_string(rows.get_database_backend(), sql);
        let row = rows.query_one_raw(statement).await.unwrap().unwrap();
        sizes.push(Size {
            table,
            rows: row.try_get_by_index(0).unwrap(),
            indexes: row.try_get_by_index(1).unwrap(),
        });
    }
    sizes
}
