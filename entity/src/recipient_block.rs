//! A packed slice of a send's recipients.

use sea_orm::entity::prelude::*;

/// A packed slice of a send's recipients.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "recipient_block")]
pub struct Model {
    /// The send.
    #[sea_orm(primary_key, auto_increment = false)]
    pub send_id: Uuid,
    /// Ordinal of the first recipient in it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub first_ordinal: i64,
    /// Number of recipients in it.
    pub recipients: i64,
    /// Ascending numbers, packed.
    pub packed: Vec<u8>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
