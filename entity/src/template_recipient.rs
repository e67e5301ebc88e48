//! When a business account last began a conversation with somebody.

use sea_orm::entity::prelude::*;

/// When a business account last began a conversation with somebody.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "template_recipient")]
pub struct Model {
    /// The provider's id of the business account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub waba_id: String,
    /// The number as an integer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub recipient: i64,
    /// Unix milliseconds.
    pub at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
