//! An uploaded file of contacts or recipients, and the progress of its import.

use sea_orm::entity::prelude::*;

/// An uploaded file of contacts or recipients, and the progress of its import.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_import")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the file.
    pub company_id: Uuid,
    /// The file's name, as the client gave it.
    pub file_name: String,
    /// Arriving 0, ready 1, running 2, finished 3, failed 4, canceled 5, being removed 9.
    pub state: i16,
    /// How the file is read, as JSON.
    pub settings: String,
    /// Bytes of the file.
    pub bytes: i64,
    /// Bytes of it whose rows are written.
    pub bytes_read: i64,
    /// Bytes of the decoded file whose rows are written.
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
    /// The rejected rows that are kept.
    pub rejected_kept: i64,
    /// Accepted rows without a valid number.
    pub without_number: i64,
    /// Why it failed, in a sentence.
    pub failure: Option<String>,
    /// 1 while pieces of the file are stored.
    pub has_chunks: i16,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// Unix milliseconds.
    pub started_at: Option<i64>,
    /// Unix milliseconds.
    pub finished_at: Option<i64>,
    /// Rows whose names look wrongly decoded, so that the contacts kept theirs.
    pub names_kept: i64,
    /// Rows with a malformed e-mail address.
    pub emails_left_out: i64,
    /// 0 contacts, 1 the recipients of a new send.
    pub purpose: i16,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
