//! A note on a contact.

use sea_orm::entity::prelude::*;

/// A note on a contact.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_note")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the contact.
    pub company_id: Uuid,
    /// The contact.
    pub contact_id: Uuid,
    /// The author, as the record of changes names authors.
    pub author: String,
    /// The text.
    pub body: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
