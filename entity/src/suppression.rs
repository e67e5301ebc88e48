//! A recipient that sends skip, or hold for a while.

use sea_orm::entity::prelude::*;

/// A recipient that sends skip, or hold for a while.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "suppression")]
pub struct Model {
    /// Whose recipient it is.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The number as an integer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub recipient: i64,
    /// Marketing templates 1, everything 2.
    #[sea_orm(primary_key, auto_increment = false)]
    pub scope: i16,
    /// Unix milliseconds; messages wait until then. `None`: sends leave the recipient out. One that has passed holds
    /// nobody.
    pub until: Option<i64>,
    /// The provider's code that said so.
    pub provider_code: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds; when it was last said whether sends leave the recipient out, 0 when that was never said.
    pub said_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
