//! A person that a company writes to.

use sea_orm::entity::prelude::*;

/// A person that a company writes to.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose contact it is.
    pub company_id: Uuid,
    /// Empty when unknown.
    pub first_name: String,
    /// Empty when unknown.
    pub last_name: String,
    /// Empty when unknown.
    pub email: String,
    /// As given.
    pub phone_number: String,
    /// The number as an integer; null when not valid.
    pub phone: Option<i64>,
    /// WhatsApp's own id of the person.
    pub phone_number_lid: Option<String>,
    /// URL; empty when unknown.
    pub profile_picture: String,
    /// Every searched field without case and accents, one a line.
    pub search_text: String,
    /// The names of its tags without case and accents, one a line.
    pub tag_text: String,
    /// Its place in the company's contacts, oldest first, from 0.
    pub ordinal: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
