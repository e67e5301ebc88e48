//! A counter that rises whenever something of its topic changes.

use sea_orm::entity::prelude::*;

/// A counter that rises whenever something of its topic changes.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "revision")]
pub struct Model {
    /// `api_key`, `channel` or `tier`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub topic: String,
    /// The present count.
    pub value: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
