//! Recipients that sends leave out, and those that are let be for a while.

use sea_orm::{ConnectionTrait, FromQueryResult};
use uuid::Uuid;

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

#[derive(FromQueryResult)]
struct Row {
    company_id: Uuid,
    recipient: i64,
    scope: i16,
    until: Option<i64>,
    provider_code: Option<i64>,
}

impl Store {
    /// All of them that hold at `now`.
    ///
    /// # Errors
    ///
    /// Those of any query; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn suppressions(&self, now: Timestamp) -> Result<Vec<Record>> {
        let sql = "SELECT company_id, recipient, scope, until, provider_code FROM suppression \
                   WHERE until IS NULL OR until > $1";
        let rows = self.rows(sql, [now.millis().into()]).await?;
        rows.iter().map(|row| Row::from_query_result(row, "")?.try_into()).collect()
    }

    /// Forgets those whose time was over at `now`. Returns how many.
    ///
    /// # Errors
    ///
    /// Those of any statement.
    pub async fn forget_suppressions(&self, now: Timestamp) -> Result<u64> {
        let sql = "DELETE FROM suppression WHERE until <= $1";
        let deleted = self.write.execute_raw(self.statement(sql, [now.millis().into()])).await?;
        Ok(deleted.rows_affected())
    }
}

impl TryFrom<Row> for Record {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let impossible = |what: String| Error::Impossible(format!("a suppression of {what}"));
        Ok(Self {
            company_id: row.company_id,
            recipient: PhoneNumber::from_i64(row.recipient)
                .ok_or_else(|| impossible(row.recipient.to_string()))?,
            scope: Suppression::from_i16(row.scope).ok_or_else(|| impossible(row.scope.to_string()))?,
            until: row.until.map(Timestamp::from_millis),
            provider_code: row.provider_code,
        })
    }
}
