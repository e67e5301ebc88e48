//! What the messages of a batch change of their conversations, beside being written.

use std::collections::{BTreeMap, HashSet};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::BY_ADMIN;
use super::intake::{ConversationsByPeer, Inbound, KnownConversation};
use crate::dialect::{Bulk, Cell, Incoming, Type};
use crate::inbound_files::LEAVES;
use crate::nouns::AllConversations;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::inbound::{ConversationState, Direction};

pub(super) const COLUMNS: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("in_at", Type::Int),
    ("out_at", Type::Int),
    ("act_at", Type::Int),
    ("window_until", Type::Int),
    ("unread", Type::Int),
    ("referral_at", Type::Int),
    ("reopens", Type::Int),
    ("line_at", Type::Int),
    ("line_id", Type::Uuid),
    ("line_kind", Type::Text),
    ("line_direction", Type::Int),
    ("line", Type::Bytes),
];

/// Takes over what is later; `{incoming}` are the rows. An answer marks as read what came before it. The numbers are
/// [`domain::inbound::ENTRY_POINT_ANSWER`] and [`domain::inbound::ENTRY_POINT`] in milliseconds.
pub(super) const UPDATE: &str = "UPDATE conversation SET \
    unread = CASE WHEN new.out_at > 0 AND new.out_at >= new.in_at AND new.out_at >= conversation.last_inbound_at \
        THEN 0 ELSE conversation.unread + new.unread END, \
    last_inbound_at = CASE WHEN new.in_at > conversation.last_inbound_at THEN new.in_at \
        ELSE conversation.last_inbound_at END, \
    last_outbound_at = CASE WHEN new.out_at > conversation.last_outbound_at THEN new.out_at \
        ELSE conversation.last_outbound_at END, \
    last_at = CASE WHEN new.act_at > conversation.last_at THEN new.act_at ELSE conversation.last_at END, \
    window_until = CASE WHEN new.window_until > conversation.window_until THEN new.window_until \
        ELSE conversation.window_until END, \
    entry_point_until = CASE WHEN conversation.referral_at > 0 AND new.out_at >= conversation.referral_at \
        AND new.out_at <= conversation.referral_at + 86400000 THEN new.out_at + 259200000 \
        ELSE conversation.entry_point_until END, \
    referral_at = CASE WHEN new.referral_at > 0 THEN new.referral_at \
        WHEN new.out_at > 0 AND new.out_at >= conversation.referral_at THEN 0 ELSE conversation.referral_at END, \
    state = CASE WHEN new.reopens = 1 THEN 0 ELSE conversation.state END, \
    last_id = CASE WHEN new.line_at > 0 AND new.line_at >= conversation.last_line_at THEN new.line_id \
        ELSE conversation.last_id END, \
    last_kind = CASE WHEN new.line_at > 0 AND new.line_at >= conversation.last_line_at THEN new.line_kind \
        ELSE conversation.last_kind END, \
    last_direction = CASE WHEN new.line_at > 0 AND new.line_at >= conversation.last_line_at \
        THEN new.line_direction ELSE conversation.last_direction END, \
    last_line = CASE WHEN new.line_at > 0 AND new.line_at >= conversation.last_line_at THEN new.line \
        ELSE conversation.last_line END, \
    last_line_at = CASE WHEN new.line_at > conversation.last_line_at THEN new.line_at \
        ELSE conversation.last_line_at END \
    FROM {incoming} AS new WHERE conversation.id = new.id";

const AMENDMENT: &[(&str, Type)] = &[
    ("conversation_id", Type::Uuid),
    ("target", Type::Text),
    ("direction", Type::Int),
    ("writer", Type::Text),
    ("line_id", Type::Uuid),
    ("kind", Type::Text),
    ("line", Type::Bytes),
];

const WRITTEN: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("conversation_id", Type::Uuid),
    ("provider_id", Type::Text),
    ("direction", Type::Int),
    ("writer", Type::Text),
];
const IDS: &[(&str, Type)] = &[("id", Type::Uuid)];
/// The kind of a message that its writer deleted.
const DELETION: &str = "deletion";
/// The kind of another text for a message.
const EDIT: &str = "edit";

/// Whether the edit or deletion in `change` may change the message in `one`: who wrote it may, and in a group its admins. Of
/// messages that are older than the column, only the side is known.
pub(super) fn may_change(change: &str, one: &str) -> String {
    format!(
        "({one}.direction = {change}.direction AND ({one}.writer IS NULL OR {one}.writer = {change}.writer) \
         OR {change}.writer = '{BY_ADMIN}')"
    )
}

/// What changes of a conversation.
pub(super) struct ConversationChange<'a> {
    conversation: &'a KnownConversation,
    in_at: i64,
    out_at: i64,
    act_at: i64,
    window_until: i64,
    unread: i64,
    referral_at: i64,
    reopens: bool,
    line: Option<&'a Inbound>,
    /// Whether the line was deleted before it came.
    is_line_deleted: bool,
}

impl<'a> ConversationChange<'a> {
    /// The changes by these messages, in the order in which they were written, of which some were deleted before they came.
    pub(super) fn of_all(
        all: &[&'a Inbound],
        known: &'a ConversationsByPeer,
        deleted: &HashSet<Uuid>,
    ) -> BTreeMap<Uuid, Self> {
        let mut changes = BTreeMap::new();
        for message in all {
            let Some(conversation) = known.get(&message.key()) else { continue };
            let change = changes.entry(conversation.id).or_insert_with(|| Self::new(conversation));
            change.add(message, deleted.contains(&message.id));
        }
        changes
    }

    const fn new(conversation: &'a KnownConversation) -> Self {
        Self {
            conversation,
            in_at: 0,
            out_at: 0,
            act_at: 0,
            window_until: 0,
            unread: 0,
            referral_at: 0,
            reopens: false,
            line: None,
            is_line_deleted: false,
        }
    }

    /// Adds a message, which is not older than those before.
    fn add(&mut self, message: &'a Inbound, is_deleted: bool) {
        let at = message.at.millis();
        if message.target.is_none() {
            (self.line, self.is_line_deleted) = (Some(message), is_deleted);
            self.act_at = self.act_at.max(at);
        }
        if message.is_past {
            return;
        }
        self.window_until = self.window_until.max(message.window_until.map_or(0, Timestamp::millis));
        match message.direction {
            Direction::In => {
                self.in_at = self.in_at.max(at);
                self.unread += i64::from(message.is_to_be_read);
                self.reopens |= message.is_to_be_read && self.conversation.state == ConversationState::Closed;
                if message.is_referred {
                    self.referral_at = at;
                }
            }
            Direction::Echo => {
                self.out_at = self.out_at.max(at);
                self.unread = 0;
            }
        }
    }

    /// Whether it opens a closed conversation again.
    pub(super) const fn reopens(&self) -> bool {
        self.reopens
    }

    pub(super) fn cells(&self) -> [Cell<'_>; 13] {
        let line = self.line;
        let shown = line.filter(|_| !self.is_line_deleted);
        let kind = if self.is_line_deleted { DELETION } else { line.map_or("", |line| line.kind) };
        [
            self.conversation.id.into(),
            self.in_at.into(),
            self.out_at.into(),
            self.act_at.into(),
            self.window_until.into(),
            self.unread.into(),
            self.referral_at.into(),
            i64::from(self.reopens).into(),
            line.map_or(0, |line| line.at.millis()).into(),
            line.map_or(self.conversation.id, |line| line.id).into(),
            kind.into(),
            line.map_or(0, |line| i64::from(line.direction.as_i16())).into(),
            Cell::Bytes(shown.map(Inbound::kept_line).unwrap_or_default()),
        ]
    }
}

impl AllConversations<'_> {
    /// Those of these messages, which were just written, and edits of messages, whose deletions are there already: the provider
    /// repeats a message, and says nothing in order. Their contents are removed.
    pub(super) async fn deleted_before(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        known: &ConversationsByPeer,
    ) -> Result<HashSet<Uuid>> {
        let mut rows = Bulk::new(self.store.backend, WRITTEN);
        for message in all {
            let Some(conversation) = known.get(&message.key()) else { continue };
            let written = match message.target.as_deref() {
                None => message.provider_id.as_str(),
                Some(target) if message.kind == EDIT => target,
                Some(_) => continue,
            };
            rows.push([
                message.id.into(),
                conversation.id.into(),
                written.into(),
                i64::from(message.direction.as_i16()).into(),
                Cell::Text(message.writer.as_deref()),
            ]);
        }
        let may_delete = may_change("one", "new");
        let mut deleted = HashSet::new();
        for Incoming { select, values, .. } in rows.into_statements() {
            let sql = format!(
                "SELECT new.id FROM {select} AS new CROSS JOIN conversation_message AS one \
                 WHERE one.conversation_id = new.conversation_id AND one.target = new.provider_id \
                 AND one.kind = '{DELETION}' AND {may_delete}"
            );
            deleted.extend(fetch::<Uuid>(to, sql, values).await?);
        }
        let mut rows = Bulk::new(self.store.backend, IDS);
        deleted.iter().for_each(|id| rows.push([(*id).into()]));
        let sql = |incoming: &str, empty: usize| {
            format!(
                "UPDATE conversation_message SET content = ${empty} WHERE id IN (SELECT id FROM {incoming} AS gone)"
            )
        };
        self.store.write(to, rows, vec![Vec::<u8>::new().into()], sql).await?;
        Ok(deleted)
    }

    /// Applies edits and deletions to the line of the list, and removes the contents and files of what was deleted, by those who
    /// [may](may_change). A message that comes after its change is shown as it was changed. Edits of what was
    /// `deleted` change nothing.
    pub(super) async fn amend(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        known: &ConversationsByPeer,
        deleted: &HashSet<Uuid>,
    ) -> Result<()> {
        let rows = |kinds: &[&str]| {
            // Of several changes of one message, the last one.
            let mut last = BTreeMap::new();
            let is_asked =
                |message: &&&Inbound| kinds.contains(&message.kind) && !deleted.contains(&message.id);
            for message in all.iter().filter(is_asked) {
                let (Some(conversation), Some(target)) =
                    (known.get(&message.key()), message.target.as_deref())
                else {
                    continue;
                };
                let writer = message.writer.as_deref();
                last.insert((conversation.id, target, message.direction.as_i16(), writer), message);
            }
            let mut rows = Bulk::new(self.store.backend, AMENDMENT);
            for ((conversation, target, direction, writer), message) in last {
                rows.push([
                    conversation.into(),
                    target.into(),
                    i64::from(direction).into(),
                    Cell::Text(writer),
                    message.id.into(),
                    message.kind.into(),
                    Cell::Bytes(message.kept_line()),
                ]);
            }
            rows
        };
        let may = may_change("new", "one");
        let line = |incoming: &str, _: usize| {
            format!(
                "UPDATE conversation SET last_id = new.line_id, last_kind = new.kind, last_line = new.line \
                 FROM {incoming} AS new WHERE conversation.id = new.conversation_id \
                 AND EXISTS (SELECT 1 FROM conversation_message AS one WHERE one.id = conversation.last_id \
                 AND (one.provider_id = new.target OR one.target = new.target) AND {may})"
            )
        };
        self.store.write(to, rows(&[EDIT, DELETION]), Vec::new(), line).await?;
        let content = |incoming: &str, empty: usize| {
            format!(
                "UPDATE conversation_message SET content = ${empty} WHERE id IN (SELECT one.id \
                 FROM {incoming} AS new CROSS JOIN conversation_message AS one \
                 WHERE one.conversation_id = new.conversation_id AND {may} \
                 AND (one.provider_id = new.target OR (one.target = new.target AND one.kind = '{EDIT}')))"
            )
        };
        self.store.write(to, rows(&[DELETION]), vec![Vec::<u8>::new().into()], content).await?;
        let file = |incoming: &str, empty: usize| {
            format!(
                "UPDATE inbound_file SET {LEAVES}, source = ${empty} WHERE state <> 3 AND message_id IN (SELECT one.id \
                 FROM {incoming} AS new CROSS JOIN conversation_message AS one \
                 WHERE one.conversation_id = new.conversation_id AND {may} \
                 AND one.provider_id = new.target)"
            )
        };
        self.store.write(to, rows(&[DELETION]), vec![Vec::<u8>::new().into()], file).await?;
        Ok(())
    }
}
