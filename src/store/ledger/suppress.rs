//! Recipients that the provider, or they themselves, want to be left out.

use sea_orm::ConnectionTrait;

use super::Batch;
use crate::clock::Timestamp;
use crate::store::dialect::{Bulk, Cell, Type};
use crate::store::{Result, Store};

const SUPPRESSION: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("scope", Type::Int),
    ("until", Type::Int),
    ("provider_code", Type::Int),
];
const LIFTED: &[(&str, Type)] = &[("company_id", Type::Uuid), ("recipient", Type::Int), ("scope", Type::Int)];

impl Store {
    pub(super) async fn suppress(
        &self,
        to: &impl ConnectionTrait,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.backend, SUPPRESSION);
        // One statement may touch a row once: the last word counts, but one for ever outlasts all others.
        let mut suppressions: Vec<_> = batch.suppressions.iter().rev().collect();
        suppressions.sort_by_key(|record| {
            (record.company_id, record.recipient, record.scope.as_i16(), record.until.is_some())
        });
        suppressions.dedup_by_key(|record| (record.company_id, record.recipient, record.scope));
        for record in suppressions {
            rows.push([
                record.company_id.into(),
                record.recipient.as_i64().into(),
                i64::from(record.scope.as_i16()).into(),
                Cell::Int(record.until.map(Timestamp::millis)),
                Cell::Int(record.provider_code),
            ]);
        }
        // Who opted out is not let back in by a hold that ends.
        self.write(to, rows, vec![now.millis().into()], |incoming, now| {
            format!(
                "INSERT INTO suppression (company_id, recipient, scope, until, provider_code, created_at) \
                 SELECT company_id, recipient, scope, until, provider_code, ${now} \
                 FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, recipient, scope) DO UPDATE SET \
                 until = CASE WHEN suppression.until IS NULL THEN NULL ELSE excluded.until END, \
                 provider_code = excluded.provider_code"
            )
        })
        .await?;
        let mut rows = Bulk::new(self.backend, LIFTED);
        for (company_id, recipient, scope) in &batch.lifted {
            rows.push([(*company_id).into(), recipient.as_i64().into(), i64::from(scope.as_i16()).into()]);
        }
        self.write(to, rows, Vec::new(), |lifted, _| {
            format!(
                "DELETE FROM suppression WHERE EXISTS (SELECT 1 FROM {lifted} AS lifted \
                 WHERE lifted.company_id = suppression.company_id \
                 AND lifted.recipient = suppression.recipient AND lifted.scope = suppression.scope)"
            )
        })
        .await?;
        Ok(())
    }
}
