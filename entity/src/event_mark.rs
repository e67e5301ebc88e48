//! What was told once and is told again only after it ended.

use sea_orm::entity::prelude::*;

/// What was told once and is told again only after it ended.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event_mark")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// A channel, a business account or a key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: Uuid,
    /// The word of a limit, or `key`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// 1 or 2 for a quota that is nearly or wholly used up; for a key, when it expires, in Unix milliseconds.
    pub level: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
