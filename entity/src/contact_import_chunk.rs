//! A piece of an uploaded file.

use sea_orm::entity::prelude::*;

/// A piece of an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_import_chunk")]
pub struct Model {
    /// The import.
    #[sea_orm(primary_key, auto_increment = false)]
    pub import_id: Uuid,
    /// Its place in the file, from 0.
    #[sea_orm(primary_key, auto_increment = false)]
    pub ordinal: i64,
    /// The piece.
    pub bytes: Vec<u8>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
