//! The size of the database.

use sea_orm::DbBackend;

use super::{Error, Result, Store, fetch_one};

impl Store {
    /// Tables and indexes in bytes; for SQLite without its write-ahead log, which is bounded.
    pub async fn size(&self) -> Result<u64> {
        let sql = match self.backend {
            DbBackend::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            _ => "SELECT pg_database_size(current_database())",
        };
        let size: i64 = fetch_one(&self.read, sql, []).await?.unwrap_or_default();
        u64::try_from(size).map_err(|_| Error::Impossible(format!("a size of {size}")))
    }
}
