//! Writes the events of what people wrote, in the order in which they wrote it.

use std::collections::{BTreeMap, HashSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::change::ConversationChange;
use super::intake::{ConversationsByPeer, Inbound, KnownConversation};
use crate::Result;
use crate::nouns::AllConversations;
use clock::Timestamp;
use domain::event;
use domain::event::log::{ConversationFact, Fact, FactKind, LogEntry, WroteFact};
use domain::inbound::ConversationKind;
use domain::phone::PhoneNumber;

impl Inbound {
    fn told(&self, conversation_id: Uuid) -> LogEntry {
        let group = self.peer.group().map(str::to_owned);
        let is_of_person = group.is_none();
        let what = FactKind::Wrote(Box::new(WroteFact {
            r#type: self.r#type.as_str().to_owned(),
            id: self.id,
            conversation_id,
            provider_message_id: self.provider_id.clone(),
            from: self.number.filter(|_| is_of_person).map(PhoneNumber::as_i64),
            user_id: self.user_id.clone().filter(|_| is_of_person),
            name: self.name.clone(),
            group,
            sealed: self.body.clone(),
        }));
        LogEntry::Fact(Fact { channel_id: Some(self.channel_id), at: self.at, what })
    }

    fn told_of(&self, conversation: &KnownConversation) -> LogEntry {
        let r#type = if conversation.is_new {
            event::Type::ConversationOpened
        } else {
            event::Type::ConversationReopened
        };
        let what = FactKind::Conversation(ConversationFact {
            r#type: r#type.as_str().to_owned(),
            id: conversation.id,
            number: self.peer.number().map(PhoneNumber::as_i64),
            user_id: self.user_id.clone().filter(|_| self.with == ConversationKind::Person),
            assigned_to: conversation.assigned_to,
            by: None,
        });
        LogEntry::Fact(Fact { channel_id: Some(self.channel_id), at: self.at, what })
    }
}

impl AllConversations<'_> {
    /// Writes the events of a batch of messages. Messages that come as part of a history have none.
    pub(super) async fn tell(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        known: &ConversationsByPeer,
        changes: &BTreeMap<Uuid, ConversationChange<'_>>,
        now: Timestamp,
    ) -> Result<()> {
        let log = self.store.event_log();
        if !log.is_read(to).await? {
            return Ok(());
        }
        let (mut told, mut begun) = (Vec::new(), HashSet::new());
        for message in all.iter().filter(|message| !message.is_past) {
            let Some(conversation) = known.get(&message.key()) else { continue };
            let is_reopened = changes.get(&conversation.id).is_some_and(ConversationChange::reopens);
            if (conversation.is_new || is_reopened) && begun.insert(conversation.id) {
                told.push((message.company_id, message.told_of(conversation)));
            }
            told.push((message.company_id, message.told(conversation.id)));
        }
        log.tell(to, told, now).await
    }
}
