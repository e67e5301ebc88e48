//! A rate card that an operator uploaded.

use sea_orm::entity::prelude::*;

/// A rate card that an operator uploaded.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "rate_card")]
pub struct Model {
    /// The first day on which its prices apply, as in 2026-10-01.
    #[sea_orm(primary_key, auto_increment = false)]
    pub date: String,
    /// The file.
    pub card: String,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
