//! Earlier sends: their content, for retries, and when the provider took a message.

use entity::message;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::StoredLabel;
use crate::nouns::Sends;
use crate::{Error, Result};
use clock::Timestamp;
use domain::content::Content;
use domain::message::Key;
use domain::send::Label;

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
    pub async fn sent(self, send_id: Uuid) -> Result<Option<Sent>> {
        let Some(send) = self.accepted(send_id).one(&self.store.read).await? else { return Ok(None) };
        let content = serde_json::from_str(&send.content)
            .map_err(|error| Error::Impossible(format!("the content of send {send_id}: {error}")))?;
        let label = StoredLabel {
            name: send.given_name,
            name_folded: None,
            reference: send.reference,
            metadata: send.metadata,
            // The author of a retry is the one who retries.
            made_by: None,
        };
        let label = label.read()?;
        Ok(Some(Sent { channel_id: send.channel_id, content, template_id: send.template_id, label }))
    }

    /// When the provider took this message of the company, at the latest; `None` when that is not known.
    pub async fn taken_at(self, Key { send_id, ordinal }: Key) -> Result<Option<Timestamp>> {
        let message = message::Entity::find_by_id((send_id, ordinal.cast_signed()))
            .filter(message::Column::CompanyId.eq(self.company));
        let taken_at = message.one(&self.store.read).await?.and_then(|message| message.taken_at);
        Ok(taken_at.map(Timestamp::from_millis))
    }
}
