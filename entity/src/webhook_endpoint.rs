//! An endpoint that gets a company's events.

use sea_orm::entity::prelude::*;

/// An endpoint that gets a company's events.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_endpoint")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// Its address.
    pub url: String,
    /// The shape of its requests, by its word.
    pub shape: String,
    /// Whose form the shape `graph` follows, by its word.
    pub profile: String,
    /// For what a program set it; null for one that a person added.
    pub set_for: Option<String>,
    /// The types of its events, as JSON.
    pub types: String,
    /// The ids of its channels, as JSON.
    pub channels: String,
    /// The headers of its requests, sealed.
    pub headers: Option<Vec<u8>>,
    /// The secret that signs its requests, sealed.
    pub secret: Vec<u8>,
    /// The secrets that sign, too, sealed.
    pub former_secret: Option<Vec<u8>>,
    /// When the last of them ends, in Unix milliseconds.
    pub former_until: Option<i64>,
    /// The most requests at the same time.
    pub max_in_flight: i16,
    /// The most events of a request.
    pub batch: i16,
    /// 1 if numbers are masked, else 0.
    pub masks: i16,
    /// Why it is disabled, by its word; null while it is enabled.
    pub cause: Option<String>,
    /// Since when, in Unix milliseconds.
    pub cause_since: Option<i64>,
    /// All events up to this place in the log are delivered, given up, or have a retry.
    pub sequence: i64,
    /// Failed attempts in a row.
    pub failures: i64,
    /// When the first of them failed, in Unix milliseconds.
    pub failing_since: Option<i64>,
    /// When the last one failed, in Unix milliseconds.
    pub failed_at: Option<i64>,
    /// Events that left the log before the endpoint got them.
    pub lost: i64,
    /// How often a person enabled it or gave it another address.
    pub resumed: i64,
    /// How often a process began to deliver to it.
    pub begun: i64,
    /// How often there was a sign that its receiver works again.
    pub mended: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
