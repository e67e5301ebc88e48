//! The clock of the database's server.

use std::time::Instant;

use sea_orm::DbBackend;

use super::{Error, Result, fetch_one};
use crate::nouns::Nodes;
use clock::Timestamp;
use clock::database::Reading;

impl Nodes<'_> {
    /// Reads the clock of the database's server; `None` for SQLite, whose clock is this machine's.
    pub async fn read_clock(self) -> Result<Option<Reading>> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(None);
        }
        let sql = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT";
        let asked = Instant::now();
        let row = fetch_one(&self.store.read, sql, []).await?;
        let (answered, local) = (Instant::now(), Timestamp::local());
        let micros =
            row.ok_or_else(|| Error::Impossible("a SELECT without a table has no row".to_owned()))?;
        Ok(Some(Reading { asked, answered, micros, local }))
    }
}
