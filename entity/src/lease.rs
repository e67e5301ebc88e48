//! Who may dispatch.

use sea_orm::entity::prelude::*;

/// Who may dispatch.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "lease")]
pub struct Model {
    /// What is leased.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// Raised by every new holder; the ledger's writes are fenced with it.
    pub epoch: i64,
    /// Which process took it, for a person to read.
    pub holder: String,
    /// Unix milliseconds.
    pub acquired_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
