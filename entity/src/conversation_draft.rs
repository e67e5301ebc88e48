//! An answer that a user has begun to write in a conversation.

use sea_orm::entity::prelude::*;

/// An answer that a user has begun to write in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "conversation_draft")]
pub struct Model {
    /// The conversation.
    #[sea_orm(primary_key, auto_increment = false)]
    pub conversation_id: Uuid,
    /// The author.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// The company that owns the conversation.
    pub company_id: Uuid,
    /// The text, sealed to the ids of both.
    pub text: Vec<u8>,
    /// When the user typed last, in Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
