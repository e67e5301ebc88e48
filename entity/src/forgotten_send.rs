//! A removed send with remains.

use sea_orm::entity::prelude::*;

/// A removed send with remains.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "forgotten_send")]
pub struct Model {
    /// The id that it had.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Number of recipients.
    pub recipients: i64,
    /// Messages and blocks of lower ordinals are removed.
    pub next_ordinal: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
