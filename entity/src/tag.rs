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
    /// Background work that is left: 0 none, 1 the tag was renamed, 2 it was deleted.
    pub upkeep: i16,
    /// The last contact that this work reached.
    pub upkeep_after: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
