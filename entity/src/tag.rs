//! A tag of contacts.

use sea_orm::entity::prelude::*;

/// A tag of contacts.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tag")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// Its name; unique in the company.
    pub name: String,
    /// The name, folded.
    pub name_folded: String,
    /// `#` and six hexadecimal digits.
    pub color: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// How many contacts have it.
    pub contacts: i64,
    /// 1 it was renamed, 2 it was deleted, and its contacts follow; else 0.
    pub upkeep: i16,
    /// The last contact that followed.
    pub upkeep_after: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
