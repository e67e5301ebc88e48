//! A number that the provider knows as another one.

use sea_orm::entity::prelude::*;

/// A number that the provider knows as another one.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "person_number")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The number.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i64,
    /// The number under which its person is known.
    pub person: i64,
    /// Unix milliseconds.
    pub learned_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
