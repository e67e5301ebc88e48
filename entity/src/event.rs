//! Something that the provider told and nobody else keeps.

use sea_orm::entity::prelude::*;

/// Something that the provider told and nobody else keeps.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose event it is.
    pub company_id: Uuid,
    /// The channel that heard it.
    pub channel_id: Uuid,
    /// What it is, such as `inbound_message`.
    pub kind: String,
    /// The provider's own id of it.
    pub identity: String,
    /// As the provider told it, JSON.
    pub payload: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
