//! Recipients that sends leave out, and those that are let be for a while.
//!
//! The ledger writes what the provider and the recipients say ([`super::ledger`]); here stands what is read,
//! and what people mend. A running service hears of the latter by the counter that it raises.

use sea_orm::{ConnectionTrait, FromQueryResult};
use serde_json::{Value, json};
use uuid::Uuid;

use super::change::{self, Change, What, Who};
use super::revision::{self, Topic};
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::Suppression;

/// One recipient of one company, and what it is left out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Whose recipient it is.
    pub company_id: Uuid,
    /// Who.
    pub recipient: PhoneNumber,
    /// Out of what.
    pub scope: Suppression,
    /// Messages wait until then; `None`: sends leave the recipient out.
    pub until: Option<Timestamp>,
    /// The provider's code that said so; `None` when the recipient or a person did.
    pub provider_code: Option<i64>,
}

/// A suppression as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// What it says.
    pub record: Record,
    /// Since when.
    pub since: Timestamp,
}

const COLUMNS: &str = "company_id, recipient, scope, until, provider_code, created_at";

#[derive(FromQueryResult)]
struct Row {
    company_id: Uuid,
    recipient: i64,
    scope: i16,
    until: Option<i64>,
    provider_code: Option<i64>,
    created_at: i64,
}

impl Store {
    /// All of them that hold at `now`.
    ///
    /// # Errors
    ///
    /// Those of any query; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn suppressions(&self, now: Timestamp) -> Result<Vec<Record>> {
        let sql = format!("SELECT {COLUMNS} FROM suppression WHERE until IS NULL OR until > $1");
        let rows = self.rows(sql, [now.millis().into()]).await?;
        rows.iter().map(|row| Ok(Kept::try_from(Row::from_query_result(row, "")?)?.record)).collect()
    }

    /// Those of one company that hold at `now`, by number.
    ///
    /// # Errors
    ///
    /// As [`Store::suppressions`].
    pub async fn suppressions_of(&self, company_id: Uuid, now: Timestamp) -> Result<Vec<Kept>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM suppression WHERE company_id = $1 AND (until IS NULL OR until > $2) \
             ORDER BY recipient, scope"
        );
        let rows = self.rows(sql, [company_id.into(), now.millis().into()]).await?;
        rows.iter().map(|row| Row::from_query_result(row, "")?.try_into()).collect()
    }

    /// Leaves a recipient out of a company's sends until that is lifted. `false` when that was so before.
    ///
    /// # Errors
    ///
    /// Those of any statement.
    pub async fn add_suppression(
        &self,
        who: &Who,
        company_id: Uuid,
        recipient: PhoneNumber,
        scope: Suppression,
    ) -> Result<bool> {
        let transaction = self.begin().await?;
        revision::bump(&transaction, Topic::Suppression).await?;
        let now = Timestamp::now();
        let before = self.suppressions_in(&transaction, company_id, recipient, now).await?;
        // Only a hold is written over: what holds for ever keeps its reason.
        let sql = "INSERT INTO suppression (company_id, recipient, scope, created_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (company_id, recipient, scope) DO UPDATE SET until = NULL, provider_code = NULL, \
                   created_at = excluded.created_at WHERE suppression.until IS NOT NULL";
        let values =
            [company_id.into(), recipient.as_i64().into(), scope.as_i16().into(), now.millis().into()];
        let added = transaction.execute_raw(self.statement(sql, values)).await?;
        if added.rows_affected() == 0 {
            transaction.rollback().await?;
            return Ok(false);
        }
        let after = self.suppressions_in(&transaction, company_id, recipient, now).await?;
        let recorded = changed(who, company_id, recipient, &before, &after);
        change::record(&transaction, &[recorded]).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Ends everything that keeps a recipient from a company's sends, and says what that was.
    ///
    /// # Errors
    ///
    /// Those of any statement.
    pub async fn lift_suppressions(
        &self,
        who: &Who,
        company_id: Uuid,
        recipient: PhoneNumber,
    ) -> Result<Vec<Kept>> {
        let transaction = self.begin().await?;
        revision::bump(&transaction, Topic::Suppression).await?;
        let lifted = self.suppressions_in(&transaction, company_id, recipient, Timestamp::now()).await?;
        if lifted.is_empty() {
            transaction.rollback().await?;
            return Ok(lifted);
        }
        let sql = "DELETE FROM suppression WHERE company_id = $1 AND recipient = $2";
        let values = [company_id.into(), recipient.as_i64().into()];
        transaction.execute_raw(self.statement(sql, values)).await?;
        let recorded = changed(who, company_id, recipient, &lifted, &[]);
        change::record(&transaction, &[recorded]).await?;
        transaction.commit().await?;
        Ok(lifted)
    }

    /// Those of one recipient of one company that hold at `now`.
    async fn suppressions_in(
        &self,
        transaction: &impl ConnectionTrait,
        company_id: Uuid,
        recipient: PhoneNumber,
        now: Timestamp,
    ) -> Result<Vec<Kept>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM suppression WHERE company_id = $1 AND recipient = $2 \
             AND (until IS NULL OR until > $3) ORDER BY scope"
        );
        let values = [company_id.into(), recipient.as_i64().into(), now.millis().into()];
        let rows = transaction.query_all_raw(self.statement(sql, values)).await?;
        rows.iter().map(|row| Row::from_query_result(row, "")?.try_into()).collect()
    }
}

/// What a person changed for one recipient, for the record.
fn changed(who: &Who, company_id: Uuid, recipient: PhoneNumber, before: &[Kept], after: &[Kept]) -> Change {
    let before = Some(before).filter(|before| !before.is_empty()).map(|before| state(company_id, before));
    Change::now(who, What::Suppression, format!("+{recipient}"), before, state(company_id, after))
}

/// What keeps a recipient from a company's sends, for the record.
fn state(company_id: Uuid, kept: &[Kept]) -> Value {
    let scopes = |until: bool| -> Vec<_> {
        let records = kept.iter().map(|kept| kept.record);
        records.filter(|record| record.until.is_some() == until).map(|record| record.scope.as_str()).collect()
    };
    json!({ "company_id": company_id, "left_out_of": scopes(false), "held_for_a_while": scopes(true) })
}

impl TryFrom<Row> for Kept {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let impossible = |what: String| Error::Impossible(format!("a suppression of {what}"));
        let record = Record {
            company_id: row.company_id,
            recipient: PhoneNumber::from_i64(row.recipient)
                .ok_or_else(|| impossible(row.recipient.to_string()))?,
            scope: Suppression::from_i16(row.scope).ok_or_else(|| impossible(row.scope.to_string()))?,
            until: row.until.map(Timestamp::from_millis),
            provider_code: row.provider_code,
        };
        Ok(Self { record, since: Timestamp::from_millis(row.created_at) })
    }
}
