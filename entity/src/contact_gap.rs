//! Ordinals of deleted contacts, counted by block.

use sea_orm::entity::prelude::*;

/// Ordinals of deleted contacts, counted by block.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_gap")]
pub struct Model {
    /// Whose contacts they were.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The number of the block.
    #[sea_orm(primary_key, auto_increment = false)]
    pub block: i64,
    /// How many of its ordinals have no contact.
    pub removed: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
