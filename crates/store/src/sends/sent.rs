//! Earlier sends: their content, for retries, and when the provider took a message.

use uuid::Uuid;

use super::StoredLabel;
use crate::nouns::Sends;
use crate::{Error, Result, fetch_one};
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
    /// The caller's own words on it.
    pub label: Label,
}

impl Sends<'_> {
    /// The content of the company's accepted send of this id.
    pub async fn sent(self, send_id: Uuid) -> Result<Option<Sent>> {
        let sql = "SELECT channel_id, content, template_id, reference, metadata FROM send \
                   WHERE id = $1 AND company_id = $2 AND state > $3";
        let values = [send_id.into(), self.company.into(), State::Resolving.as_i16().into()];
        let row = fetch_one::<(_, String, _, _, _)>(&self.store.read, sql, values).await?;
        let Some((channel_id, stored, template_id, reference, metadata)) = row else { return Ok(None) };
        let content = serde_json::from_str(&stored)
            .map_err(|error| Error::Impossible(format!("the content of send {send_id}: {error}")))?;
        let label = StoredLabel { reference, metadata }.read()?;
        Ok(Some(Sent { channel_id, content, template_id, label }))
    }

    /// When the provider took this message of the company, at the latest; `None` when that is not known.
    pub async fn taken_at(self, Key { send_id, ordinal }: Key) -> Result<Option<Timestamp>> {
        let sql = "SELECT taken_at FROM message WHERE send_id = $1 AND ordinal = $2 AND company_id = $3";
        let values = [send_id.into(), ordinal.cast_signed().into(), self.company.into()];
        let taken_at = fetch_one::<Option<i64>>(&self.store.read, sql, values).await?.flatten();
        Ok(taken_at.map(Timestamp::from_millis))
    }
}
