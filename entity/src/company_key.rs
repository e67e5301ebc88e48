//! A key with which contents of a company are sealed, itself sealed.

use sea_orm::entity::prelude::*;

/// A key with which contents of a company are sealed, itself sealed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "company_key")]
pub struct Model {
    /// Time-ordered id: the newest key seals.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// The sealed key.
    pub data_key: Vec<u8>,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
