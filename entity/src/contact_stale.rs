//! A contact that changed since it was indexed.

use sea_orm::entity::prelude::*;

/// A contact that changed since it was indexed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_stale")]
pub struct Model {
    /// Whose contact it is.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// Which one.
    #[sea_orm(primary_key, auto_increment = false)]
    pub ordinal: i64,
    /// How often.
    pub changes: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
