//! The role of a person in a company.

use sea_orm::entity::prelude::*;

/// The role of a person in a company.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "membership")]
pub struct Model {
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The role, by its word.
    pub role: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
