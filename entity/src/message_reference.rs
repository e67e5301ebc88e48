//! The caller's own name for a message.

use sea_orm::entity::prelude::*;

/// The caller's own name for a message.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "message_reference")]
pub struct Model {
    /// The send.
    #[sea_orm(primary_key, auto_increment = false)]
    pub send_id: Uuid,
    /// Position in the send, from 0.
    #[sea_orm(primary_key, auto_increment = false)]
    pub ordinal: i64,
    /// The company that owns the message.
    pub company_id: Uuid,
    /// The name.
    pub reference: String,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
