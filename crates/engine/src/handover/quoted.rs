//! The message that an answer quotes: WhatsApp's apps show what the answer says of it, and not what they have.

use super::outgoing::WebChannel;
use domain::content::Stored;
use domain::inbound::{Direction, InboundBody, MessageAuthor, PeerKey};
use domain::phone::PhoneNumber;
use driver::{Jid, MessageId, Quoted};
use store::conversations::{Conversation, StoredMessage};
use vault::context;

impl WebChannel {
    /// The message that this one answers, if it answers one. One that the conversation does not have is taken for the
    /// account's own, without words; and so is one that cannot be read now, because the answer matters more.
    pub(super) async fn quoted(
        &self,
        content: &Stored,
        recipient: Option<PhoneNumber>,
        to: &Jid,
    ) -> Option<Quoted> {
        let message = MessageId::parse(content.quotes.as_deref()?).ok()?;
        let peer = match (recipient, &content.group) {
            (Some(number), _) => PeerKey::of_number(number),
            (None, group) => PeerKey::of_group(group.as_deref()?),
        };
        let found = self.find_quoted(&peer, message.as_str()).await;
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(channel.id = %self.channel, %error, "cannot read the message that an answer quotes");
            None
        });
        let Some((conversation, stored, body)) = found else {
            return Some(Quoted { message, author: None, line: String::new() });
        };
        let author = match stored.direction {
            Direction::Echo => None,
            Direction::In => Some(author(&conversation, body.as_ref()).unwrap_or_else(|| to.clone())),
        };
        let line = body.map(|body| body.content.line()).unwrap_or_default();
        Some(Quoted { message, author, line })
    }

    async fn find_quoted(
        &self,
        peer: &PeerKey,
        id: &str,
    ) -> store::Result<Option<(Conversation, StoredMessage, Option<InboundBody>)>> {
        let stored = self.store.of(self.company).conversations();
        let Some(conversation) = stored.find_with(self.channel, peer).await? else { return Ok(None) };
        let Some(message) = stored.message_named(conversation.id, id).await? else { return Ok(None) };
        let opened = self.contents.open(&message.content, &context::inbound_body(message.id)).await?;
        let body = opened.and_then(|json| InboundBody::from_json(&json));
        Ok(Some((conversation, message, body)))
    }
}

/// The address of the person who wrote a message.
fn author(conversation: &Conversation, body: Option<&InboundBody>) -> Option<Jid> {
    match (conversation.peer.group(), body.and_then(|body| body.author.as_ref())) {
        (Some(_), Some(author)) => author_address(author),
        (Some(_), None) => None,
        (None, _) => conversation.user_id.as_deref().and_then(|id| Jid::parse(id).ok()),
    }
}

/// The address of an author in a group: the one that hides the number, by which WhatsApp knows the members of most groups,
/// else the number's.
pub(crate) fn author_address(author: &MessageAuthor) -> Option<Jid> {
    let hidden = author.user_id.as_deref().and_then(|id| Jid::parse(id).ok());
    hidden.or_else(|| PhoneNumber::parse(author.number.as_deref()?).ok().map(Jid::person))
}
