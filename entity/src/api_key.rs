//! A company's API key; the key itself is never stored.

use sea_orm::entity::prelude::*;

/// A company's API key; the key itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_key")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the key.
    pub company_id: Uuid,
    /// The company's name for it.
    pub name: String,
    /// The first characters, by which a person recognises the key.
    pub prefix: String,
    /// SHA-256 of the key.
    pub hash: Vec<u8>,
    /// Unix milliseconds.
    pub expires_at: Option<i64>,
    /// Unix milliseconds.
    pub revoked_at: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Scopes with spaces between them; null for all scopes.
    pub scopes: Option<String>,
    /// Unix milliseconds; to the minute.
    pub last_used_at: Option<i64>,
    /// Ids of channels with spaces between them; null for all channels.
    pub channels: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
