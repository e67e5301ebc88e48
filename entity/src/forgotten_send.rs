//! Sends that are forgotten, while what they left is being removed.

use sea_orm::entity::prelude::*;

/// A send that is gone, and whose messages and blocks are going.
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
