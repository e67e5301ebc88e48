//! One attempted message: a row of the ledger.

use sea_orm::entity::prelude::*;

/// One attempted message: a row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "message")]
pub struct Model {
    /// The send.
    #[sea_orm(primary_key, auto_increment = false)]
    pub send_id: Uuid,
    /// Position in the send, from 0.
    #[sea_orm(primary_key, auto_increment = false)]
    pub ordinal: i64,
    /// The company that owns the message.
    pub company_id: Uuid,
    /// The number as an integer; 0 for the group that the content of its send names.
    pub recipient: i64,
    /// See the domain's message states.
    pub state: i16,
    /// Number of attempts.
    pub attempts: i16,
    /// The provider's id.
    pub provider_message_id: Option<String>,
    /// The provider's last error.
    pub error_code: Option<i64>,
    /// The last error in words.
    pub error: Option<String>,
    /// When the next attempt is due, in Unix milliseconds; set while the message waits.
    pub retry_at: Option<i64>,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// When the provider accepted the message or may have, in Unix milliseconds.
    pub taken_at: Option<i64>,
    /// How the provider bills it, once it has arrived: see the ledger.
    pub billing: Option<i16>,
    /// When its recipient answered it, in Unix milliseconds.
    pub answered_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
