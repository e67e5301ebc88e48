//! A row that an import rejected.

use sea_orm::entity::prelude::*;

/// A row that an import rejected.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_import_reject")]
pub struct Model {
    /// The import.
    #[sea_orm(primary_key, auto_increment = false)]
    pub import_id: Uuid,
    /// Its place among the rejected rows, from 0.
    #[sea_orm(primary_key, auto_increment = false)]
    pub ordinal: i64,
    /// Its line in the file, from 1.
    pub line: i64,
    /// Why it was rejected.
    pub reason: String,
    /// The same as a code; null for rows that were rejected before there were codes.
    pub code: Option<String>,
    /// What the reason names, as a JSON list.
    pub details: Option<String>,
    /// The row, as a JSON list.
    pub fields: String,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
