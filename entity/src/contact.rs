//! A contact of a company.

use sea_orm::entity::prelude::*;

/// A contact of a company.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the contact.
    pub company_id: Uuid,
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// E-mail address.
    pub email: String,
    /// The number, as it was given.
    pub phone_number: String,
    /// The number as an integer; `None` when it is not a valid one.
    pub phone: Option<i64>,
    /// WhatsApp's own id of the person.
    pub phone_number_lid: Option<String>,
    /// URL of a picture.
    pub profile_picture: String,
    /// Every searched field without case and accents, one per line.
    pub search_text: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// The place in the list of the company's contacts, from 0, the oldest first.
    pub ordinal: i64,
    /// The names of its tags without case and accents, one per line.
    pub tag_text: String,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
