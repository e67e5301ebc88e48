//! The numbers that web sessions exchange messages with.

use sea_orm::entity::prelude::*;

/// One number that one web session exchanges messages with.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "web_session_contact")]
pub struct Model {
    /// The channel whose session it is.
    #[sea_orm(primary_key, auto_increment = false)]
    pub channel_id: Uuid,
    /// The number.
    #[sea_orm(primary_key, auto_increment = false)]
    pub phone: i64,
    /// Its address on WhatsApp; null if the number is not on WhatsApp or was never looked up.
    pub jid: Option<String>,
    /// The address that hides the number.
    pub lid: Option<String>,
    /// When the number was last looked up on WhatsApp, in Unix milliseconds; null if it never was.
    pub checked_at: Option<i64>,
    /// When the session first wrote to it, in Unix milliseconds.
    pub first_sent_at: Option<i64>,
    /// When the session first heard from it, in Unix milliseconds.
    pub first_heard_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
