//! Where in a segment's texts one gram stands.

use sea_orm::entity::prelude::*;

/// Where in a segment's texts one gram stands.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_gram")]
pub struct Model {
    /// The segment.
    #[sea_orm(primary_key, auto_increment = false)]
    pub segment_id: i64,
    /// The gram's number; 0 for the lengths of the texts.
    #[sea_orm(primary_key, auto_increment = false)]
    pub gram: i64,
    /// Packed ascending numbers.
    pub places: Vec<u8>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
