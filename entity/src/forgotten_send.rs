//! Deleted sends whose messages and blocks are still being removed.

use sea_orm::entity::prelude::*;

/// A deleted send whose messages and blocks are still being removed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "forgotten_send")]
pub struct Model {
    /// The send's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// How many recipients it had.
    pub recipients: i64,
    /// Messages and blocks below this ordinal are gone.
    pub next_ordinal: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
