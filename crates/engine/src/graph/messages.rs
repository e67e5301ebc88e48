//! Messages by the ids that programs know: ours for what went through Pombo, the provider's for everything else.

use uuid::Uuid;

use super::GraphDoor;
use crate::Error;
use domain::channel::{Channel, Kind};
use domain::graph::message_key;
use domain::inbound::Direction;
use domain::phone::PhoneNumber;

/// The message that an id names, as far as it can be told to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphMessage {
    /// The provider's id of it.
    Known(String),
    /// It went into this channel, and the provider does not have it yet.
    NotYet,
    /// The company sent no such message through this channel.
    Unknown,
}

impl GraphDoor<'_> {
    /// The provider's id of the message of a channel that a program names: an id of ours is translated, others are the provider's
    /// already.
    pub async fn message(&self, channel: Uuid, id: &str) -> Result<GraphMessage, Error> {
        let id = id.trim();
        let Some(key) = message_key(id) else { return Ok(GraphMessage::Known(id.to_owned())) };
        let records = self.engine.records_of(self.company).await?;
        let own = records.of(self.company);
        Ok(match own.graph_ids().provider_id(channel, key).await? {
            Some(known) => GraphMessage::Known(known),
            None if own.graph_ids().is_sent_through(channel, key.send_id).await? => GraphMessage::NotYet,
            None => GraphMessage::Unknown,
        })
    }

    /// The number of the person with this id within the business, if the company heard of the person by both.
    pub async fn number_of_user(&self, id: &str) -> Result<Option<PhoneNumber>, Error> {
        let numbers = self.engine.0.shared.numbers_of_users(self.company, vec![id]).await?;
        Ok(numbers.into_values().next())
    }

    /// Whether the account itself wrote a message that a reaction is below, as the id that the program gave says.
    pub async fn is_own(&self, channel: Uuid, id: &str) -> Result<bool, Error> {
        if message_key(id.trim()).is_some() {
            return Ok(true);
        }
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).graph_ids().message(channel, id.trim()).await?;
        Ok(found.is_none_or(|message| message.direction == Direction::Echo))
    }

    /// Marks a message of a person, and those before it, as read, and lets the person see that; and perhaps that somebody types an
    /// answer. `false` when the channel has no such message.
    ///
    /// # Errors
    ///
    /// As [`crate::Conversations::mark_read_and_tell`] and [`crate::Conversations::show_typing`].
    pub async fn mark_read(&self, channel: &Channel, id: &str, is_typing: bool) -> Result<bool, Error> {
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).graph_ids().message(channel.id, id.trim()).await?;
        drop(records);
        let Some(message) = found.filter(|message| message.direction == Direction::In) else {
            return Ok(false);
        };
        let conversations = self.engine.conversations(self.company);
        // A business account shows both at once.
        if is_typing && channel.kind == Kind::BusinessAccount {
            conversations.mark_read(message.conversation_id, message.at).await?;
        } else {
            conversations.mark_read_and_tell(message.conversation_id, message.at).await?;
        }
        if is_typing {
            conversations.show_typing(message.conversation_id, true).await?;
        }
        Ok(true)
    }
}
