//! Whom a business account began a conversation with in the last hours, for the quota of templates.

use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;

impl Store {
    /// The recipients of templates of a business account since `since`, at most `limit`, the latest ones.
    ///
    /// # Errors
    ///
    /// Those of any query; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn template_recipients(
        &self,
        waba_id: &str,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<(PhoneNumber, Timestamp)>> {
        let sql = "SELECT recipient, at FROM template_recipient WHERE waba_id = $1 AND at > $2 \
                   ORDER BY at DESC LIMIT $3";
        let rows = self.rows(sql, [waba_id.into(), since.millis().into(), i64::from(limit).into()]).await?;
        rows.iter()
            .map(|row| {
                let recipient: i64 = row.try_get_by_index(0)?;
                let number = PhoneNumber::from_i64(recipient)
                    .ok_or_else(|| Error::Impossible(format!("{recipient} is no phone number")))?;
                Ok((number, Timestamp::from_millis(row.try_get_by_index(1)?)))
            })
            .collect()
    }
}
