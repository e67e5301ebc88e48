//! A program that people connected to a channel.

use sea_orm::entity::prelude::*;

/// A program that people connected to a channel.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "connected_program")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// 1 Chatwoot, 2 Typebot.
    pub kind: i16,
    /// The channel.
    pub channel_id: Uuid,
    /// Its API key.
    pub key_id: Uuid,
    /// Its webhook endpoint; null until it has one.
    pub webhook_id: Option<Uuid>,
    /// Its address; empty until it is known.
    pub address: String,
    /// Chatwoot's account.
    pub account: Option<i64>,
    /// The inbox in it.
    pub inbox: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
