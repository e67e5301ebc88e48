//! The sources of new sends' audiences.

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::PendingWrites;
use crate::dialect::{Bulk, Rows, Type};
use crate::nouns::Ledger;
use crate::{Result, execute};

const SOURCE: &[(&str, Type)] = &[("send_id", Type::Uuid), ("source_id", Type::Uuid), ("kind", Type::Int)];

impl Ledger<'_> {
    pub(super) async fn insert_sources(self, to: &impl ConnectionTrait, batch: &PendingWrites) -> Result<()> {
        if batch.sources.is_empty() {
            return Ok(());
        }
        let mut sources: Vec<_> =
            batch.sources.iter().map(|row| (row.send_id, row.source.id(), row.source.kind())).collect();
        sources.sort_unstable();
        let mut rows = Bulk::new(self.store.backend, SOURCE);
        for (send_id, source_id, kind) in sources {
            rows.push([send_id.into(), source_id.into(), i64::from(kind).into()]);
        }
        self.store
            .write(to, rows, Vec::new(), |incoming, _| {
                format!(
                    "INSERT INTO send_source (send_id, source_id, kind) \
                 SELECT send_id, source_id, kind FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (send_id, source_id) DO NOTHING"
                )
            })
            .await?;
        Ok(())
    }

    /// Removes the sources of sends that the same transaction removes.
    pub(crate) async fn remove_sources(self, to: &impl ConnectionTrait, sends: &[Uuid]) -> Result<()> {
        let (rows, values) = Rows::of_ids(self.store.backend, sends).select(1);
        let sql = format!("DELETE FROM send_source WHERE send_id IN (SELECT id FROM {rows} AS gone)");
        execute(to, sql, values).await?;
        Ok(())
    }
}
