//! A group of contacts.

use sea_orm::entity::prelude::*;

/// A group of contacts.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tag")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose tag it is.
    pub company_id: Uuid,
    /// Unique in the company.
    pub name: String,
    /// The name without case and accents, for search.
    pub name_folded: String,
    /// `#rrggbb`.
    pub color: String,
    /// How many contacts have it.
    pub contacts: i64,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
