//! What is known of a company's contacts as a whole.

use sea_orm::entity::prelude::*;

/// What is known of a company's contacts as a whole.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_book")]
pub struct Model {
    /// Whose contacts they are.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// How many; the next one's ordinal.
    pub contacts: i64,
    /// Contacts of lower ordinals are in a segment.
    pub indexed: i64,
    /// Changes of contacts of lower ordinals are noted as stale.
    pub claimed: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
