//! A code that replaces the second factor once.

use sea_orm::entity::prelude::*;

/// A code that replaces the second factor once.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "recovery_code")]
pub struct Model {
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// SHA-256 of the code.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: Vec<u8>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
