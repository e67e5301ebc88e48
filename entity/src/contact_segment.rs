//! Some thousand neighbouring contacts that are indexed for search.

use sea_orm::entity::prelude::*;

/// Some thousand neighbouring contacts that are indexed for search.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_segment")]
pub struct Model {
    /// Counted.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Whose contacts they are.
    pub company_id: Uuid,
    /// The ordinal of the first.
    pub first: i64,
    /// How many.
    pub contacts: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
