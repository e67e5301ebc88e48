//! A company.

use sea_orm::entity::prelude::*;

/// A company.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "company")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Unique name.
    pub name: String,
    /// The tier that new channels of this company take.
    pub tier: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// The country of its contacts' numbers that a person set, in two letters.
    pub country: Option<String>,
    /// Since when nobody of the company comes in, in Unix milliseconds.
    pub disabled_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
