//! The content of earlier sends, for retries.

use uuid::Uuid;

use crate::nouns::Sends;
use crate::{Error, Result};
use domain::content::Content;
use domain::send::State;

/// The content of a send, and its channel.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The channel.
    pub channel_id: Uuid,
    /// The content.
    pub content: Content,
    /// The template that is sent, if one is.
    pub template_id: Option<i64>,
}

impl Sends<'_> {
    /// The content of the company's accepted send of this id.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn sent(self, send_id: Uuid) -> Result<Option<Sent>> {
        let company_id = self.company;
        let sql = "SELECT channel_id, content, template_id FROM send \
                   WHERE id = $1 AND company_id = $2 AND state > $3";
        let values = [send_id.into(), company_id.into(), State::Resolving.as_i16().into()];
        let Some(row) = self.store.row(sql, values).await? else { return Ok(None) };
        let stored: String = row.try_get_by_index(1)?;
        let content = serde_json::from_str(&stored)
            .map_err(|error| Error::Impossible(format!("the content of send {send_id}: {error}")))?;
        let (channel_id, template_id) = (row.try_get_by_index(0)?, row.try_get_by_index(2)?);
        Ok(Some(Sent { channel_id, content, template_id }))
    }
}
