//! What the other side of a conversation wrote, and what was changed of its messages and of ours.

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::change::may_change;
use super::impossible;
use crate::contacts::signed;
use crate::dialect::{Rows, Type};
use crate::nouns::Conversations;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::inbound::Direction;

const TARGET: &[(&str, Type)] = &[("target", Type::Text)];
/// The most changes of one part of a thread that are read: the latest ones.
const MOST_CHANGES: i64 = 2_000;

/// Who wrote an entry of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadSide {
    /// The person, or somebody in the group.
    Person,
    /// The company on its own phone, or with another program.
    Echo,
    /// The company, through Pombo.
    Own,
}

impl ThreadSide {
    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    pub(super) const fn from_i16(number: i16) -> Option<Self> {
        match number {
            0 => Some(Self::Person),
            1 => Some(Self::Echo),
            2 => Some(Self::Own),
            _ => None,
        }
    }
}

/// A place in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadCursor {
    /// When the entry at this place was written.
    pub at: Timestamp,
    /// Our id of it.
    pub id: Uuid,
}

/// A message that the other side wrote, or an echo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Our id, to which the content is sealed.
    pub id: Uuid,
    /// The provider's id.
    pub provider_id: String,
    /// Who wrote it.
    pub direction: Direction,
    /// The word of its type.
    pub kind: String,
    /// When it was written.
    pub at: Timestamp,
    /// The sealed body; empty when it is not kept.
    pub content: Vec<u8>,
}

/// A reaction to a message, an edit of it or its deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChange {
    /// The provider's id of the message that it is about.
    pub target: String,
    /// The change.
    pub change: StoredMessage,
    /// Whether who made it may edit or delete the message.
    pub is_allowed: bool,
}

const COLUMNS: &str = "id, provider_id, direction, kind, at, content";

fn message(row: &QueryResult) -> Result<StoredMessage> {
    let direction: i16 = row.try_get_by_index(2)?;
    Ok(StoredMessage {
        id: row.try_get_by_index(0)?,
        provider_id: row.try_get_by_index(1)?,
        direction: Direction::from_i16(direction).ok_or_else(|| impossible("direction", direction))?,
        kind: row.try_get_by_index(3)?,
        at: Timestamp::from_millis(row.try_get_by_index(4)?),
        content: row.try_get_by_index(5)?,
    })
}

impl Conversations<'_> {
    /// At most `limit` messages of a conversation before a place, or the latest ones; the later ones first. Changes of messages
    /// are not among them.
    pub async fn messages_before(
        self,
        conversation: Uuid,
        before: Option<ThreadCursor>,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        self.messages(conversation, before.map(|place| ("<", place)), "DESC", limit).await
    }

    /// At most `limit` messages of a conversation after a place, the earlier ones first.
    pub async fn messages_after(
        self,
        conversation: Uuid,
        after: ThreadCursor,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        self.messages(conversation, Some((">", after)), "ASC", limit).await
    }

    async fn messages(
        self,
        conversation: Uuid,
        from: Option<(&str, ThreadCursor)>,
        order: &str,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        let mut values: Vec<Value> = vec![conversation.into(), self.company.into(), signed(limit).into()];
        let mut of_place = String::new();
        if let Some((than, ThreadCursor { at, id })) = from {
            values.extend([at.millis().into(), id.into()]);
            of_place = format!(" AND (at, id) {than} ($4, $5)");
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM conversation_message WHERE conversation_id = $1 AND company_id = $2 \
             AND target IS NULL{of_place} ORDER BY at {order}, id {order} LIMIT $3"
        );
        self.store.rows(sql, values).await?.iter().map(message).collect()
    }

    /// The changes of messages with these ids of the provider, the earlier ones first.
    pub async fn changes_of(self, conversation: Uuid, targets: &[&str]) -> Result<Vec<StoredChange>> {
        let mut asked = Rows::new(self.store.backend, TARGET);
        targets.iter().for_each(|target| asked.push([(*target).into()]));
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(4);
        let sql = format!(
            "SELECT one.id, one.provider_id, one.direction, one.kind, one.at, one.content, one.target, \
             CASE WHEN {} THEN 1 ELSE 0 END FROM {asked} AS asked CROSS JOIN conversation_message AS one \
             LEFT JOIN conversation_message AS changed ON changed.conversation_id = one.conversation_id \
             AND changed.provider_id = one.target \
             WHERE one.conversation_id = $1 AND one.company_id = $2 AND one.target = asked.target \
             ORDER BY one.at DESC, one.id DESC LIMIT $3",
            may_change("one", "changed")
        );
        let own: [Value; 3] = [conversation.into(), self.company.into(), MOST_CHANGES.into()];
        let rows = self.store.rows(sql, own.into_iter().chain(values)).await?;
        let change = |row: &QueryResult| {
            let is_allowed = row.try_get_by_index::<i32>(7)? != 0;
            Ok(StoredChange { target: row.try_get_by_index(6)?, change: message(row)?, is_allowed })
        };
        rows.iter().rev().map(change).collect()
    }

    /// The company's message with this id, and its conversation and channel.
    pub async fn message(self, id: Uuid) -> Result<Option<(StoredMessage, Uuid, Uuid)>> {
        let sql = format!(
            "SELECT {COLUMNS}, conversation_id, channel_id FROM conversation_message \
             WHERE id = $1 AND company_id = $2"
        );
        let row = self.store.row(sql, [id.into(), self.company.into()]).await?;
        let read =
            |row: &QueryResult| Ok((message(row)?, row.try_get_by_index(6)?, row.try_get_by_index(7)?));
        row.as_ref().map(read).transpose()
    }

    /// The message of a conversation with this id of the provider.
    pub async fn message_named(self, conversation: Uuid, provider_id: &str) -> Result<Option<StoredMessage>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversation_message \
             WHERE conversation_id = $1 AND provider_id = $2 AND company_id = $3"
        );
        let values = [conversation.into(), provider_id.into(), self.company.into()];
        self.store.row(sql, values).await?.as_ref().map(message).transpose()
    }

    /// The provider's ids of all messages of a channel that people wrote and the company wrote elsewhere, changes of messages
    /// too. All of them are in memory at once: it is for load tests, which know their number.
    pub async fn provider_ids(self, channel: Uuid) -> Result<Vec<String>> {
        let sql = "SELECT provider_id FROM conversation_message WHERE channel_id = $1 AND company_id = $2";
        fetch(&self.store.read, sql.to_owned(), [channel.into(), self.company.into()]).await
    }

    /// The stored contents of these sends, as JSON, each with the number of its recipients.
    pub async fn contents_of_sends(self, sends: &[Uuid]) -> Result<Vec<(Uuid, String, i64)>> {
        if sends.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = Rows::of_ids(self.store.backend, sends).select(2);
        let sql = format!(
            "SELECT send.id, send.content, send.recipients FROM {asked} AS asked JOIN send ON send.id = asked.id \
             WHERE send.company_id = $1"
        );
        fetch(&self.store.read, sql, [self.company.into()].into_iter().chain(values)).await
    }
}
