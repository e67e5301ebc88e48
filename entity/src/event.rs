//! Something that the provider reported and no other table keeps.

use sea_orm::entity::prelude::*;

/// Something that the provider reported and no other table keeps.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that the event belongs to.
    pub company_id: Uuid,
    /// The channel that received it.
    pub channel_id: Uuid,
    /// The kind of event, such as `inbound_message`.
    pub kind: String,
    /// The provider's id of the event.
    pub identity: String,
    /// The provider's JSON.
    pub payload: String,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
