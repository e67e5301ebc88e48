//! What the other side of a conversation wrote, or an echo of what the company wrote elsewhere.

use sea_orm::entity::prelude::*;

/// What the other side of a conversation wrote, or an echo of what the company wrote elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "conversation_message")]
pub struct Model {
    /// Our id, to which the content is sealed.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the message.
    pub company_id: Uuid,
    /// The channel that heard it.
    pub channel_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The provider's id.
    pub provider_id: String,
    /// 0 the person, 1 an echo.
    pub direction: i16,
    /// The word of its type.
    pub kind: String,
    /// The provider's id of the message that this one changes.
    pub target: Option<String>,
    /// When it was written, in Unix milliseconds.
    pub at: i64,
    /// The sealed body; empty when it is not kept.
    pub content: Vec<u8>,
    /// A digest of who of a group wrote it, or `admin` for what an admin does to the message of another.
    pub writer: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
