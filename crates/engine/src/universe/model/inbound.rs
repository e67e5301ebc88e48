//! What people write: a message is the same however often it comes.

use uuid::Uuid;

use super::Model;
use domain::inbound::PeerKey;
use store::conversations::Inbound;

/// A row of the messages of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InboundRow {
    pub(super) channel_id: Uuid,
    pub(super) peer: PeerKey,
    pub(crate) provider_id: String,
}

impl InboundRow {
    /// Whether it is this message.
    pub(crate) fn is_of(&self, message: &Inbound) -> bool {
        (self.channel_id, &self.peer, &self.provider_id)
            == (message.channel_id, &message.peer, &message.provider_id)
    }
}

impl Model {
    /// All messages of conversations.
    pub(crate) fn inbound(&self) -> impl Iterator<Item = &InboundRow> {
        self.inbound.iter()
    }

    /// Writes the messages that are not there yet.
    pub(super) fn keep_inbound(&mut self, messages: &[Inbound]) {
        for message in messages {
            if self.inbound.iter().any(|kept| kept.is_of(message)) {
                continue;
            }
            self.inbound.push(InboundRow {
                channel_id: message.channel_id,
                peer: message.peer.clone(),
                provider_id: message.provider_id.clone(),
            });
        }
    }
}
