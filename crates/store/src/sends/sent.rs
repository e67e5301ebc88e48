//! Earlier sends: their content, for retries, and when the provider took a message.

use uuid::Uuid;

use super::StoredLabel;
use crate::nouns::Sends;
use crate::{Error, Result};
use clock::Timestamp;
use domain::content::Content;
use domain::message::Key;
use domain::send::{Label, State};

/// The content of a send, and its channel.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The channel.
    pub channel_id: Uuid,
    /// The content.
    pub content: Content,
    /// The template that is sent, if one is.
    pub template_id: Option<i64>,
    /// What is noted on it, without its author.
    pub label: Label,
}

impl Sends<'_> {
    /// The content of the company's accepted send of this id.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn sent(self, send_id: Uuid) -> Result<Option<Sent>> {
        let company_id = self.company;
        let sql = "SELECT channel_id, content, template_id, given_name, reference, metadata FROM send \
                   WHERE id = $1 AND company_id = $2 AND state > $3";
        let values = [send_id.into(), company_id.into(), State::Resolving.as_i16().into()];
        let Some(row) = self.store.row(sql, values).await? else { return Ok(None) };
        let stored: String = row.try_get_by_index(1)?;
        let content = serde_json::from_str(&stored)
            .map_err(|error| Error::Impossible(format!("the content of send {send_id}: {error}")))?;
        let (channel_id, template_id) = (row.try_get_by_index(0)?, row.try_get_by_index(2)?);
        let label = StoredLabel {
            name: row.try_get_by_index(3)?,
            name_folded: None,
            reference: row.try_get_by_index(4)?,
            metadata: row.try_get_by_index(5)?,
            // The author of a retry is the one who retries.
            made_by: None,
        };
        Ok(Some(Sent { channel_id, content, template_id, label: label.read()? }))
    }

    /// When the provider took this message of the company, at the latest; `None` when that is not known.
    pub async fn taken_at(self, Key { send_id, ordinal }: Key) -> Result<Option<Timestamp>> {
        let sql = "SELECT taken_at FROM message WHERE send_id = $1 AND ordinal = $2 AND company_id = $3";
        let values = [send_id.into(), ordinal.cast_signed().into(), self.company.into()];
        let Some(row) = self.store.row(sql, values).await? else { return Ok(None) };
        let taken_at: Option<i64> = row.try_get_by_index(0)?;
        Ok(taken_at.map(Timestamp::from_millis))
    }
}
