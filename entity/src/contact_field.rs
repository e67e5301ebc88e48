//! An own field of a company's contacts.

use sea_orm::entity::prelude::*;

/// An own field of a company's contacts.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_field")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the field.
    pub company_id: Uuid,
    /// The key by which templates and programs know it.
    pub key: String,
    /// The name that people gave it.
    pub name: String,
    /// Text, number or date.
    pub kind: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// 1 for a field that was deleted, and is being removed from contacts.
    pub removed: i16,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
