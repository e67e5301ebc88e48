//! A file that a company keeps.

use sea_orm::entity::prelude::*;

/// A file that a company keeps.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "media_file")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// 0 arriving, 1 kept, 2 removed, 3 its content is being deleted.
    pub state: i16,
    /// SHA-256 of its content; unique in the company.
    pub digest: Vec<u8>,
    /// The kind of message that it is sent as, by its word.
    pub kind: String,
    /// Its type, by its content.
    pub mime_type: String,
    /// Its length.
    pub bytes: i64,
    /// Its name.
    pub name: String,
    /// A small JPEG of a picture.
    pub thumbnail: Option<Vec<u8>>,
    /// Its author, as in the record of changes.
    pub uploaded_by: String,
    /// When it was uploaded last, in Unix milliseconds.
    pub created_at: i64,
    /// The hour of the last send with it, in Unix milliseconds.
    pub used_at: Option<i64>,
    /// When it was removed, in Unix milliseconds; null also while a send needs it.
    pub removed_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
