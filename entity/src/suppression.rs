//! A recipient that sends skip, or hold for a while.

use sea_orm::entity::prelude::*;

/// A recipient that sends skip, or hold for a while.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "suppression")]
pub struct Model {
    /// The company that the recipient belongs to.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The number as an integer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub recipient: i64,
    /// Marketing templates 1, everything 2.
    #[sea_orm(primary_key, auto_increment = false)]
    pub scope: i16,
    /// Messages wait until this time, in Unix milliseconds; a past time has no effect. `None`: sends skip the
    /// recipient.
    pub until: Option<i64>,
    /// The provider's code for the suppression.
    pub provider_code: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// When the recipient last opted out or in, in Unix milliseconds; 0 if that never happened.
    pub said_at: i64,
    /// 1 the provider, 2 the person's preference in WhatsApp, 3 an opt-out word, 4 an operator; `None` if unknown.
    pub source: Option<i16>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
