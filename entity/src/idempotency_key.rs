//! A request that was answered under a key of the client's.

use sea_orm::entity::prelude::*;

/// A request that was answered under a key of the client's.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_key")]
pub struct Model {
    /// Who asked.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The client's key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// SHA-256 over what was asked.
    pub fingerprint: Vec<u8>,
    /// The send that came of it.
    pub send_id: Uuid,
    /// Its recipients.
    pub recipients: i64,
    /// Entries that were left out.
    pub skipped: i64,
    /// The first of them, as JSON.
    pub skipped_first: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// The whole answer, JSON, where it cannot be made again from the other columns.
    pub result: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
