//! What the other side of a conversation wrote, and what was changed of its messages and of ours.

use entity::conversation_message::{Column, Entity, Model};
use entity::send;
use sea_orm::sea_query::{BinOper, Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, Order, QueryFilter, QueryOrder, QueryResult, QuerySelect,
    QueryTrait, Value,
};
use uuid::Uuid;

use super::change::may_change;
use super::impossible;
use crate::Result;
use crate::dialect::{Rows, Type};
use crate::nouns::Conversations;
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

fn message(row: Model) -> Result<StoredMessage> {
    let direction = row.direction;
    Ok(StoredMessage {
        id: row.id,
        provider_id: row.provider_id,
        direction: Direction::from_i16(direction).ok_or_else(|| impossible("direction", direction))?,
        kind: row.kind,
        at: Timestamp::from_millis(row.at),
        content: row.content,
    })
}

impl ThreadCursor {
    /// The condition that a message is before this place, or after it.
    fn has(self, than: BinOper) -> Expr {
        let place = Expr::tuple([Expr::col(Column::At), Expr::col(Column::Id)]);
        place.binary(than, Expr::tuple([Expr::val(self.at.millis()), Expr::val(self.id)]))
    }
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
        let before = before.map(|place| place.has(BinOper::SmallerThan));
        self.messages(conversation, before, Order::Desc, limit).await
    }

    /// At most `limit` messages of a conversation after a place, the earlier ones first.
    pub async fn messages_after(
        self,
        conversation: Uuid,
        after: ThreadCursor,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        self.messages(conversation, Some(after.has(BinOper::GreaterThan)), Order::Asc, limit).await
    }

    async fn messages(
        self,
        conversation: Uuid,
        from: Option<Expr>,
        order: Order,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        let messages = Entity::find()
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Target.is_null())
            .apply_if(from, |messages, from| messages.filter(from))
            .order_by(Column::At, order.clone())
            .order_by(Column::Id, order)
            .limit(limit);
        messages.all(&self.store.read).await?.into_iter().map(message).collect()
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
            "SELECT one.*, CASE WHEN {} THEN 1 ELSE 0 END AS is_allowed \
             FROM {asked} AS asked CROSS JOIN conversation_message AS one \
             LEFT JOIN conversation_message AS changed ON changed.conversation_id = one.conversation_id \
             AND changed.provider_id = one.target \
             WHERE one.conversation_id = $1 AND one.company_id = $2 AND one.target = asked.target \
             ORDER BY one.at DESC, one.id DESC LIMIT $3",
            may_change("one", "changed")
        );
        let own: [Value; 3] = [conversation.into(), self.company.into(), MOST_CHANGES.into()];
        let rows = self.store.rows(sql, own.into_iter().chain(values)).await?;
        let change = |row: &QueryResult| {
            let is_allowed = row.try_get::<i32>("", "is_allowed")? != 0;
            let change = Model::from_query_result(row, "")?;
            let target = change.target.clone().unwrap_or_default();
            Ok(StoredChange { target, change: message(change)?, is_allowed })
        };
        rows.iter().rev().map(change).collect()
    }

    /// The company's message with this id, and its conversation and channel.
    pub async fn message(self, id: Uuid) -> Result<Option<(StoredMessage, Uuid, Uuid)>> {
        let found = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        let read = |row: Model| {
            let (conversation, channel) = (row.conversation_id, row.channel_id);
            Ok((message(row)?, conversation, channel))
        };
        found.one(&self.store.read).await?.map(read).transpose()
    }

    /// The message of a conversation with this id of the provider.
    pub async fn message_named(self, conversation: Uuid, provider_id: &str) -> Result<Option<StoredMessage>> {
        let found = Entity::find()
            .filter(Column::ConversationId.eq(conversation))
            .filter(Column::ProviderId.eq(provider_id))
            .filter(Column::CompanyId.eq(self.company));
        found.one(&self.store.read).await?.map(message).transpose()
    }

    /// The provider's ids of all messages of a channel that people wrote and the company wrote elsewhere, changes of messages
    /// too. All of them are in memory at once: it is for load tests, which know their number.
    pub async fn provider_ids(self, channel: Uuid) -> Result<Vec<String>> {
        let ids = Entity::find().select_only().column(Column::ProviderId);
        let of_channel = ids.filter(Column::ChannelId.eq(channel)).filter(Column::CompanyId.eq(self.company));
        Ok(of_channel.into_tuple::<String>().all(&self.store.read).await?)
    }

    /// The stored contents of these sends, as JSON, each with the number of its recipients.
    pub async fn contents_of_sends(self, sends: &[Uuid]) -> Result<Vec<(Uuid, String, i64)>> {
        if sends.is_empty() {
            return Ok(Vec::new());
        }
        let columns = [send::Column::Id, send::Column::Content, send::Column::Recipients];
        let own = send::Entity::find().filter(send::Column::CompanyId.eq(self.company));
        let asked = own.filter(self.store.among(send::Column::Id, sends)).select_only().columns(columns);
        Ok(asked.into_tuple::<(Uuid, String, i64)>().all(&self.store.read).await?)
    }
}
