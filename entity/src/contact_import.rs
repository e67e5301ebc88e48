//! An import of contacts from an uploaded file.

use sea_orm::entity::prelude::*;

/// An import of contacts from an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_import")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose contacts are imported.
    pub company_id: Uuid,
    /// As the client called it.
    pub file_name: String,
    /// Where it is.
    pub state: i16,
    /// What the file is read as, in JSON.
    pub settings: String,
    /// Bytes of the file.
    pub bytes: i64,
    /// Bytes of it whose rows are written.
    pub bytes_read: i64,
    /// The same in the decoded text.
    pub position: i64,
    /// The number of the line there.
    pub line: i64,
    /// Rows that created a contact.
    pub created: i64,
    /// Rows that changed a contact.
    pub updated: i64,
    /// Rows that changed nothing.
    pub unchanged: i64,
    /// Rows that were rejected.
    pub rejected: i64,
    /// Of those, the rows that can be downloaded.
    pub rejected_kept: i64,
    /// Rows whose contact has no valid number.
    pub without_number: i64,
    /// Why it failed.
    pub failure: Option<String>,
    /// Whether chunks of the file may be left.
    pub has_chunks: i16,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// Unix milliseconds.
    pub started_at: Option<i64>,
    /// Unix milliseconds.
    pub finished_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
