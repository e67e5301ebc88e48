//! A filter of contacts that a company saved.

use sea_orm::entity::prelude::*;

/// A filter of contacts that a company saved.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "saved_segment")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// Its name.
    pub name: String,
    /// What its name has in common with names that count as the same; unique in the company.
    pub identity: String,
    /// The version of its form, and what it selects, as JSON.
    pub filter: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
