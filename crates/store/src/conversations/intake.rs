//! Writes what people wrote: each message once, into its conversation, with what follows from it. Set-based: a few
//! statements for any number of messages, in the ledger's transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::change::{ConversationChange, UPDATE};
use super::words;
use crate::dialect::{Bulk, Cell, Incoming, Type};
use crate::inbound_files::AnnouncedFile;
use crate::nouns::AllConversations;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::automatic::AnswerKind;
use domain::event;
use domain::fold::fold;
use domain::inbound::{ConversationKind, ConversationState, Direction, PeerKey};
use domain::phone::PhoneNumber;

/// A message from a person, or an echo, to be written. Its contents are sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// Our id of the message, to which its contents are sealed.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// Which channel heard it.
    pub channel_id: Uuid,
    /// With whom the conversation is.
    pub with: ConversationKind,
    /// The conversation.
    pub peer: PeerKey,
    /// Other keys of the same person: conversations under them are joined to this one.
    pub others: Vec<PeerKey>,
    /// The person's number as events show it.
    pub number: Option<PhoneNumber>,
    /// The person's id.
    pub user_id: Option<String>,
    /// The name in the person's profile.
    pub name: Option<String>,
    /// The provider's id of the message.
    pub provider_id: String,
    /// Who wrote it.
    pub direction: Direction,
    /// Who of a group wrote it, as a digest, which is equal for all messages of one writer in one group;
    /// [`BY_ADMIN`](super::BY_ADMIN) for what an admin does to the message of another. `None` for an echo, and outside of groups.
    pub writer: Option<String>,
    /// The word of its content's type.
    pub kind: &'static str,
    /// The event that tells of it.
    pub r#type: event::Type,
    /// The provider's id of the message that it changes.
    pub target: Option<String>,
    /// When it was written.
    pub at: Timestamp,
    /// Whether nobody is told of it, because it is part of a history.
    pub is_past: bool,
    /// Whether it is something new to read.
    pub is_to_be_read: bool,
    /// Until when it opens the window; `None` for one that opens none.
    pub window_until: Option<Timestamp>,
    /// Whether the person came from an advertisement.
    pub is_referred: bool,
    /// The sealed body.
    pub body: Vec<u8>,
    /// Its sealed line.
    pub line: Vec<u8>,
    /// The answer that it gets by itself, if its person got none lately.
    pub answer: Option<AnswerKind>,
    /// Whether body and line are kept; otherwise only events have them.
    pub is_kept: bool,
    /// What is needed to fetch its file, sealed; empty when it has none that is to be fetched.
    pub file: Vec<u8>,
}

/// A conversation as it is before the messages of a batch.
#[derive(Debug, Clone)]
pub(super) struct KnownConversation {
    pub(super) id: Uuid,
    pub(super) state: ConversationState,
    pub(super) name: Option<String>,
    pub(super) user_id: Option<String>,
    pub(super) assigned_to: Option<Uuid>,
    /// Whether this batch began it.
    pub(super) is_new: bool,
}

pub(super) type ConversationsByPeer = HashMap<(Uuid, PeerKey), KnownConversation>;

const PEER: &[(&str, Type)] = &[("channel_id", Type::Uuid), ("peer", Type::Text)];
const CONVERSATION: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("kind", Type::Int),
    ("peer", Type::Text),
    ("user_id", Type::Text),
    ("name", Type::Text),
    ("name_folded", Type::Text),
    ("last_line", Type::Bytes),
];
const MESSAGE: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("conversation_id", Type::Uuid),
    ("provider_id", Type::Text),
    ("direction", Type::Int),
    ("writer", Type::Text),
    ("kind", Type::Text),
    ("target", Type::Text),
    ("at", Type::Int),
    ("content", Type::Bytes),
];
const CHANNEL: &[(&str, Type)] = &[("channel_id", Type::Uuid), ("company_id", Type::Uuid)];

impl Inbound {
    /// A message is the same however often it comes.
    fn place(&self) -> (Uuid, &PeerKey, &str) {
        (self.channel_id, &self.peer, &self.provider_id)
    }

    pub(super) fn key(&self) -> (Uuid, PeerKey) {
        (self.channel_id, self.peer.clone())
    }

    /// What is kept of the body.
    pub(super) fn content(&self) -> &[u8] {
        if self.is_kept { &self.body } else { &[] }
    }

    /// What is kept of the line.
    pub(super) fn kept_line(&self) -> &[u8] {
        if self.is_kept { &self.line } else { &[] }
    }

    fn announced(&self) -> AnnouncedFile<'_> {
        AnnouncedFile {
            message_id: self.id,
            company_id: self.company_id,
            channel_id: self.channel_id,
            kind: self.kind,
            source: &self.file,
        }
    }
}

impl AllConversations<'_> {
    /// Writes messages that are not written yet, in the transaction of `to`.
    pub(crate) async fn keep(
        self,
        to: &impl ConnectionTrait,
        inbound: &[Inbound],
        now: Timestamp,
    ) -> Result<()> {
        if inbound.is_empty() {
            return Ok(());
        }
        let mut all: Vec<_> = inbound.iter().collect();
        all.sort_by(|one, other| one.place().cmp(&other.place()));
        all.dedup_by(|next, kept| next.place() == kept.place());
        self.join_known(to, &all).await?;
        let known = self.conversations_of(to, &all, now).await?;
        let kept = self.insert_messages(to, &all, &known).await?;
        all.retain(|message| kept.contains(&message.id));
        // In the order in which they were written: the last one of a conversation is its line.
        all.sort_by_key(|message| (message.at, message.id));
        if all.is_empty() {
            return Ok(());
        }
        let deleted = self.deleted_before(to, &all, &known).await?;
        let changes = ConversationChange::of_all(&all, &known, &deleted);
        let mut rows = Bulk::new(self.store.backend, super::change::COLUMNS);
        changes.values().for_each(|change| rows.push(change.cells()));
        self.store.write(to, rows, Vec::new(), |incoming, _| UPDATE.replace("{incoming}", incoming)).await?;
        let files = all.iter().filter(|message| !deleted.contains(&message.id));
        let files = files.map(|message| message.announced());
        self.store.inbound_files().queue(to, files, now).await?;
        self.store.automatic().note(to, &all, now).await?;
        self.amend(to, &all, &known, &deleted).await?;
        self.rename(to, &all, &known).await?;
        self.tell(to, &all, &known, &changes, now).await
    }

    /// The conversations of these messages, whose rows are locked from now on. Those that are not there yet begin.
    async fn conversations_of(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        now: Timestamp,
    ) -> Result<ConversationsByPeer> {
        let wanted: BTreeMap<_, _> = all.iter().map(|message| (message.key(), *message)).collect();
        let mut known = self.known(to, wanted.keys()).await?;
        let missing: BTreeMap<_, _> = wanted.iter().filter(|(key, _)| !known.contains_key(*key)).collect();
        if missing.is_empty() {
            return Ok(known);
        }
        let mut rows = Bulk::new(self.store.backend, CONVERSATION);
        let mut begun = HashSet::new();
        for message in missing.values() {
            let (id, folded) = (Uuid::now_v7(), message.name.as_deref().map(fold));
            begun.insert(id);
            rows.push([
                id.into(),
                message.company_id.into(),
                message.channel_id.into(),
                i64::from(message.with.as_i16()).into(),
                message.peer.as_str().into(),
                Cell::Text(message.user_id.as_deref()),
                Cell::Text(message.name.as_deref()),
                Cell::Text(folded.as_deref()),
                Cell::Bytes(&[]),
            ]);
        }
        let insert = |incoming: &str, now: usize| {
            format!(
                "INSERT INTO conversation (id, company_id, channel_id, kind, peer, user_id, name, name_folded, \
                 last_id, last_line, created_at) \
                 SELECT id, company_id, channel_id, kind, peer, user_id, name, name_folded, id, last_line, ${now} \
                 FROM {incoming} AS incoming WHERE TRUE ORDER BY channel_id, peer \
                 ON CONFLICT (channel_id, peer) DO NOTHING"
            )
        };
        self.store.write(to, rows, vec![now.millis().into()], insert).await?;
        let mut words = Vec::new();
        for (key, mut conversation) in self.known(to, missing.keys().copied()).await? {
            conversation.is_new = begun.contains(&conversation.id);
            if conversation.is_new
                && let Some(message) = missing.get(&key)
            {
                let of = words::of(message.name.as_deref(), &message.peer);
                words.extend(of.into_iter().map(|word| (message.company_id, word, conversation.id)));
            }
            known.insert(key, conversation);
        }
        // A message without a conversation would be lost.
        if known.len() < wanted.len() {
            return Err(super::removed_meanwhile());
        }
        self.add_words(to, &words).await?;
        self.note_channels(to, missing.into_values(), now).await?;
        Ok(known)
    }

    /// The conversations under these keys, locked in the order of their ids.
    async fn known<'k>(
        self,
        to: &impl ConnectionTrait,
        keys: impl Iterator<Item = &'k (Uuid, PeerKey)>,
    ) -> Result<ConversationsByPeer> {
        let mut asked = Bulk::new(self.store.backend, PEER);
        keys.for_each(|(channel, peer)| asked.push([(*channel).into(), peer.as_str().into()]));
        let mut known = HashMap::new();
        for Incoming { select, values, .. } in asked.into_statements() {
            let sql = format!(
                "SELECT conversation.id, conversation.channel_id, conversation.peer, conversation.state, \
                 conversation.name, conversation.user_id, conversation.assigned_to FROM {select} AS asked CROSS JOIN conversation \
                 WHERE conversation.channel_id = asked.channel_id AND conversation.peer = asked.peer \
                 ORDER BY conversation.id{}",
                self.store.locking_of("conversation")
            );
            type Columns = (Uuid, Uuid, String, i16, Option<String>, Option<String>, Option<Uuid>);
            for (id, channel, peer, state, name, user_id, assigned_to) in
                fetch::<Columns>(to, sql, values).await?
            {
                let state = super::state(state)?;
                let conversation = KnownConversation { id, state, name, user_id, assigned_to, is_new: false };
                known.insert((channel, PeerKey::from_stored(peer)), conversation);
            }
        }
        Ok(known)
    }

    /// Inserts the messages that are not there yet. Returns their ids.
    async fn insert_messages(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        known: &ConversationsByPeer,
    ) -> Result<HashSet<Uuid>> {
        let mut rows = Bulk::new(self.store.backend, MESSAGE);
        for message in all {
            let Some(conversation) = known.get(&message.key()) else { continue };
            rows.push([
                message.id.into(),
                message.company_id.into(),
                message.channel_id.into(),
                conversation.id.into(),
                message.provider_id.as_str().into(),
                i64::from(message.direction.as_i16()).into(),
                Cell::Text(message.writer.as_deref()),
                message.kind.into(),
                Cell::Text(message.target.as_deref()),
                message.at.millis().into(),
                Cell::Bytes(message.content()),
            ]);
        }
        let mut kept = HashSet::new();
        for Incoming { select, values, .. } in rows.into_statements() {
            // What was kept before there were conversations is not taken for new when the provider repeats it.
            let sql = format!(
                "INSERT INTO conversation_message (id, company_id, channel_id, conversation_id, provider_id, \
                 direction, writer, kind, target, at, content) \
                 SELECT id, company_id, channel_id, conversation_id, provider_id, direction, writer, kind, target, at, content \
                 FROM {select} AS incoming WHERE NOT EXISTS (SELECT 1 FROM event \
                 WHERE event.channel_id = incoming.channel_id AND event.kind = '{FORMER}' \
                 AND event.identity = incoming.provider_id) \
                 ON CONFLICT (conversation_id, provider_id) DO NOTHING RETURNING id"
            );
            kept.extend(fetch::<Uuid>(to, sql, values).await?);
        }
        Ok(kept)
    }

    /// Notes that inbound messages of these channels are recorded from now on.
    async fn note_channels<'m>(
        self,
        to: &impl ConnectionTrait,
        messages: impl Iterator<Item = &'m &'m Inbound>,
        now: Timestamp,
    ) -> Result<()> {
        let heard = messages.filter(|message| message.window_until.is_some());
        let channels: BTreeMap<_, _> =
            heard.map(|message| (message.channel_id, message.company_id)).collect();
        let mut rows = Bulk::new(self.store.backend, CHANNEL);
        channels.into_iter().for_each(|(channel, company)| rows.push([channel.into(), company.into()]));
        let sql = |incoming: &str, now: usize| {
            format!(
                "INSERT INTO conversation_channel (channel_id, company_id, recorded_since) \
                 SELECT channel_id, company_id, ${now} FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (channel_id) DO UPDATE SET recorded_since = excluded.recorded_since \
                 WHERE conversation_channel.recorded_since = 0"
            )
        };
        self.store.write(to, rows, vec![now.millis().into()], sql).await?;
        Ok(())
    }
}

/// The kind of the events that were messages from people before there were conversations.
const FORMER: &str = "inbound_message";
