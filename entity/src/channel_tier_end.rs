//! The end of a tier that a channel has for a while.

use sea_orm::entity::prelude::*;

/// The end of a tier that a channel has for a while.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "channel_tier_end")]
pub struct Model {
    /// The channel.
    #[sea_orm(primary_key, auto_increment = false)]
    pub channel_id: Uuid,
    /// The tier that counts again then.
    pub tier: String,
    /// The channel's own options that count again then, as JSON.
    pub own_options: Option<String>,
    /// Unix milliseconds.
    pub ends_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
