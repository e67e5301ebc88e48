//! A conversation as it went: what the person wrote, echoes, and the company's messages of the ledger, put together by time.

use std::cmp::Reverse;
use std::collections::HashMap;

use uuid::Uuid;

use super::{Conversations, no_such_conversation};
use crate::Error;
use clock::Timestamp;
use domain::content::Content;
use domain::inbound::{Direction, InboundBody, InboundContent, MessageAuthor};
use store::conversations::{Conversation, StoredChange, StoredMessage, ThreadCursor, ThreadSide};
use store::sends::messages::Addressed;
use vault::context;

/// Messages of the ledger are found by when their sends were accepted, and placed by when they went. So many more are looked
/// at than a part has.
const SLACK: u64 = 100;
/// The most changes of one message that are shown.
const MOST_REACTIONS: usize = 20;

/// Where a part of a thread begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadFrom {
    /// The latest entries.
    Latest,
    /// The entries before a place.
    Before(ThreadCursor),
    /// The entries after a place.
    After(ThreadCursor),
}

/// A part of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// The conversation.
    pub conversation: Conversation,
    /// The entries, the earlier ones first.
    pub entries: Vec<ThreadEntry>,
    /// The place before the first entry, if there are earlier ones.
    pub earlier: Option<ThreadCursor>,
    /// The place after the last entry, from which later ones are asked for.
    pub later: Option<ThreadCursor>,
}

/// An entry of a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum ThreadEntry {
    /// What the other side wrote, or an echo.
    Written(Box<WrittenEntry>),
    /// A message of ours.
    Own(Box<OwnEntry>),
}

/// What the other side wrote, or an echo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenEntry {
    /// Our id.
    pub id: Uuid,
    /// The provider's id.
    pub provider_id: String,
    /// Who wrote it.
    pub direction: Direction,
    /// The word of its type.
    pub kind: String,
    /// When.
    pub at: Timestamp,
    /// What it says, as it was changed last; `None` when it was deleted or is not kept.
    pub body: Option<InboundBody>,
    /// When its writer changed it last.
    pub edited_at: Option<Timestamp>,
    /// When its writer deleted it, or an admin of the group.
    pub deleted_at: Option<Timestamp>,
    /// The emojis below it.
    pub reactions: Vec<ShownReaction>,
}

/// A message of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnEntry {
    /// The send and the message.
    pub message: Addressed,
    /// Whether its send went to several people.
    pub is_bulk: bool,
    /// When it went, or was accepted.
    pub at: Timestamp,
    /// What it says, with the values that the person's contact has now in place of contact fields; `None` when its send was
    /// removed meanwhile.
    pub content: Option<Content>,
    /// The emojis below it.
    pub reactions: Vec<ShownReaction>,
}

/// An emoji below a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReaction {
    /// Who put it there.
    pub direction: Direction,
    /// The author in a group: number or id.
    pub author: Option<String>,
    /// The emoji.
    pub emoji: String,
    /// When.
    pub at: Timestamp,
}

impl ThreadEntry {
    /// Its place in the thread.
    pub fn place(&self) -> ThreadCursor {
        match self {
            Self::Written(written) => ThreadCursor { at: written.at, id: written.id },
            Self::Own(own) => ThreadCursor { at: own.at, id: own.message.send_id },
        }
    }

    /// Who wrote it.
    pub fn side(&self) -> ThreadSide {
        match self {
            Self::Written(written) if written.direction == Direction::In => ThreadSide::Person,
            Self::Written(_) => ThreadSide::Echo,
            Self::Own(_) => ThreadSide::Own,
        }
    }

    /// What the other side wrote, with our id of it.
    fn body_mut(&mut self) -> Option<(Uuid, &mut InboundBody)> {
        match self {
            Self::Written(written) => Some((written.id, written.body.as_mut()?)),
            Self::Own(_) => None,
        }
    }

    fn provider_id(&self) -> Option<&str> {
        match self {
            Self::Written(written) => Some(&written.provider_id),
            Self::Own(own) => own.message.message.outcome.provider_message_id.as_deref(),
        }
    }
}

/// Another text for a message, and in a group who says so.
struct AuthoredEdit {
    author: Option<MessageAuthor>,
    at: Timestamp,
    text: Option<String>,
}

/// The changes of one message.
#[derive(Default)]
struct MessageChanges {
    /// The last edit of each author.
    edits: Vec<AuthoredEdit>,
    deleted_at: Option<Timestamp>,
    reactions: Vec<ShownReaction>,
}

impl Conversations<'_> {
    /// At most `limit` entries of a conversation.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn thread(&self, id: Uuid, from: ThreadFrom, limit: u64) -> Result<Thread, Error> {
        let records = self.engine.records_of(self.company).await?;
        let stored = records.of(self.company).conversations();
        let conversation = stored.find(id).await?.ok_or_else(no_such_conversation)?;
        let written = match from {
            ThreadFrom::Latest => stored.messages_before(id, None, limit + 1).await?,
            ThreadFrom::Before(place) => stored.messages_before(id, Some(place), limit + 1).await?,
            ThreadFrom::After(place) => stored.messages_after(id, place, limit + 1).await?,
        };
        let own = self.own(records.of(self.company), &conversation, from, limit + SLACK).await?;
        let mut entries: Vec<_> = self.written(written).await?;
        entries.extend(own.into_iter().map(|own| ThreadEntry::Own(Box::new(own))));
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_forwards = matches!(from, ThreadFrom::After(_));
        if is_forwards {
            entries.sort_by_key(ThreadEntry::place);
        } else {
            entries.sort_by_key(|entry| Reverse(entry.place()));
        }
        let more = entries.len() > most;
        entries.truncate(most);
        if !is_forwards {
            entries.reverse();
        }
        let targets: Vec<_> = entries.iter().filter_map(ThreadEntry::provider_id).collect();
        let changes = stored.changes_of(id, &targets).await?;
        drop(records);
        let mut changes = self.changes(changes).await?;
        entries.iter_mut().for_each(|entry| entry.apply(&mut changes));
        let bodies = entries.iter_mut().filter_map(ThreadEntry::body_mut).collect();
        self.engine.0.shared.media.tell_files(bodies).await;
        let (first, last) = (entries.first().map(ThreadEntry::place), entries.last().map(ThreadEntry::place));
        let earlier = first.filter(|_| more || is_forwards);
        Ok(Thread { conversation, entries, earlier, later: last })
    }

    /// What the person wrote, opened.
    async fn written(&self, stored: Vec<StoredMessage>) -> Result<Vec<ThreadEntry>, Error> {
        let mut entries = Vec::with_capacity(stored.len());
        for message in stored {
            let body = self.body(&message).await?;
            let StoredMessage { id, provider_id, direction, kind, at, content: _ } = message;
            entries.push(ThreadEntry::Written(Box::new(WrittenEntry {
                id,
                provider_id,
                direction,
                kind,
                at,
                body,
                edited_at: None,
                deleted_at: None,
                reactions: Vec::new(),
            })));
        }
        Ok(entries)
    }

    /// The body of a message as it may be shown; `None` when it is not kept or does not open.
    async fn body(&self, message: &StoredMessage) -> Result<Option<InboundBody>, Error> {
        Ok(self.whole_body(message).await?.map(InboundBody::public))
    }

    /// The body of a message with the keys of its file, for fetching the file.
    pub(crate) async fn whole_body(&self, message: &StoredMessage) -> Result<Option<InboundBody>, Error> {
        let context = context::inbound_body(message.id);
        let opened = self.engine.0.shared.contents.open(&message.content, &context).await?;
        Ok(opened.and_then(|json| InboundBody::from_json(&json)))
    }

    /// What was changed of each message, by the provider's id.
    async fn changes(
        &self,
        stored: Vec<StoredChange>,
    ) -> Result<HashMap<String, Vec<(Direction, MessageChanges)>>, Error> {
        let mut all = HashMap::<String, Vec<(Direction, MessageChanges)>>::new();
        for StoredChange { target, change, is_allowed } in stored {
            let body = self.body(&change).await?;
            let of = all.entry(target).or_default();
            let place = of.iter().position(|(direction, _)| *direction == change.direction);
            let place = place.unwrap_or_else(|| {
                of.push((change.direction, MessageChanges::default()));
                of.len() - 1
            });
            if let Some((_, changes)) = of.get_mut(place) {
                changes.add(&change, is_allowed, body);
            }
        }
        Ok(all)
    }
}

impl MessageChanges {
    /// Adds a change, which is not older than those before. A deletion counts if it is allowed.
    fn add(&mut self, change: &StoredMessage, is_allowed: bool, body: Option<InboundBody>) {
        match change.kind.as_str() {
            "deletion" if is_allowed => self.deleted_at = Some(change.at),
            "deletion" => {}
            "edit" => {
                let author = body.as_ref().and_then(|body| body.author.clone());
                let text = match body.map(|body| body.content) {
                    Some(InboundContent::Edit { text, .. }) => text,
                    _ => None,
                };
                self.edits.retain(|before| !is_same_author(before.author.as_ref(), author.as_ref()));
                self.edits.push(AuthoredEdit { author, at: change.at, text });
            }
            _ => {
                let Some(InboundBody { content: InboundContent::Reaction { emoji, .. }, author, .. }) = body
                else {
                    return;
                };
                let author = author.and_then(|author| author.number.or(author.user_id));
                // Each person has one emoji below a message.
                self.reactions.retain(|before| before.author != author);
                if let Some(emoji) = emoji.filter(|_| self.reactions.len() < MOST_REACTIONS) {
                    let (direction, at) = (change.direction, change.at);
                    self.reactions.push(ShownReaction { direction, author, emoji, at });
                }
            }
        }
    }
}

impl ThreadEntry {
    /// Takes over the changes of this message. Everybody may react, only its writer may edit it, and an admin of the group may
    /// delete it, too.
    fn apply(&mut self, all: &mut HashMap<String, Vec<(Direction, MessageChanges)>>) {
        let Some(changes) = self.provider_id().and_then(|id| all.remove(id)) else { return };
        for (direction, MessageChanges { edits, deleted_at, reactions }) in changes {
            match self {
                Self::Own(own) => own.reactions.extend(reactions),
                Self::Written(written) => {
                    written.reactions.extend(reactions);
                    if direction == written.direction {
                        written.edit(edits);
                    }
                    if deleted_at.is_some() {
                        written.deleted_at = deleted_at;
                        written.body = None;
                    }
                }
            }
        }
    }
}

impl WrittenEntry {
    /// Takes over the last edit by its writer.
    fn edit(&mut self, edits: Vec<AuthoredEdit>) {
        let author = self.body.as_ref().and_then(|body| body.author.clone());
        let mut edits = edits.into_iter();
        let own = edits.find(|edit| is_same_author(edit.author.as_ref(), author.as_ref()));
        let Some(AuthoredEdit { author: _, at, text }) = own else { return };
        self.edited_at = Some(at);
        if let Some(body) = &mut self.body {
            body.content.edit(text.as_deref());
        }
    }
}

/// Whether two messages on one side of a conversation have the same writer: in a group everybody can name the message of
/// another. Outside of groups no writer is named.
fn is_same_author(one: Option<&MessageAuthor>, other: Option<&MessageAuthor>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
    let is_same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    is_same(&one.number, &other.number) || is_same(&one.user_id, &other.user_id)
}

#[cfg(test)]
mod tests;
