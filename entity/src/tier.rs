//! A named set of rates and quotas.

use sea_orm::entity::prelude::*;

/// A named set of rates and quotas.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tier")]
pub struct Model {
    /// Unique name.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The tier as one JSON document.
    pub settings: String,
    /// The `tier` revision that last changed it.
    pub revision: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
