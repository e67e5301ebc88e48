//! A file that a person sent.

use sea_orm::entity::prelude::*;

/// A file that a person sent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "inbound_file")]
pub struct Model {
    /// The message.
    #[sea_orm(primary_key, auto_increment = false)]
    pub message_id: Uuid,
    /// The company that owns the message.
    pub company_id: Uuid,
    /// The channel that heard it.
    pub channel_id: Uuid,
    /// To be fetched 0, kept 1, missing 2, leaving 3, missing with a content to be deleted 4.
    pub state: i16,
    /// The word of the message's type; once it is kept, what the file is by its content.
    pub kind: String,
    /// What is needed to fetch it, sealed; empty once that is over.
    pub source: Vec<u8>,
    /// Attempts that did not succeed.
    pub attempts: i64,
    /// The next attempt, in Unix milliseconds; while the content is being stored, when that is given up.
    pub next_at: i64,
    /// When its message came, in Unix milliseconds.
    pub received_at: i64,
    /// Why it is missing, or was not kept at the last attempt.
    pub reason: Option<i16>,
    /// SHA-256 of the content, from before it is stored until it is deleted.
    pub digest: Option<Vec<u8>>,
    /// Its type, by its content.
    pub mime_type: Option<String>,
    /// Its length.
    pub bytes: i64,
    /// Its name.
    pub name: Option<String>,
    /// A small picture of it.
    pub thumbnail: Option<Vec<u8>>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
