//! A note about a conversation, which the person never sees.

use sea_orm::entity::prelude::*;

/// A note about a conversation, which the person never sees.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "conversation_note")]
pub struct Model {
    /// Time-ordered id, to which the text is sealed.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the note.
    pub company_id: Uuid,
    /// The conversation.
    pub conversation_id: Uuid,
    /// The author, as the record of changes names authors.
    pub author: String,
    /// The sealed text.
    pub text: Vec<u8>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// When the author changed it last, in Unix milliseconds.
    pub edited_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
