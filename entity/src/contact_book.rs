//! A company's totals of contacts, which a change of its contacts locks.

use sea_orm::entity::prelude::*;

/// A company's totals of contacts, which a change of its contacts locks.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_book")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The next contact's ordinal: the number of contacts, deleted ones included.
    pub contacts: i64,
    /// Contacts of lower ordinals are in the search index.
    pub indexed: i64,
    /// Contacts of lower ordinals are indexed, or are being indexed.
    pub claimed: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
