//! An attempt to deliver events to a webhook endpoint.

use sea_orm::entity::prelude::*;

/// An attempt to deliver events to a webhook endpoint.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_delivery")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The endpoint.
    pub endpoint_id: Uuid,
    /// When it began, in Unix milliseconds.
    pub at: i64,
    /// The id of the first event.
    pub event_id: String,
    /// The type of the first event.
    #[sea_orm(column_name = "type")]
    pub event_type: String,
    /// The place of the first event in the log; null for an example.
    pub sequence: Option<i64>,
    /// How many events the request has.
    pub events: i64,
    /// The number of the attempt, from 1.
    pub attempt: i16,
    /// The status of the answer; null without one.
    pub status: Option<i16>,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// The beginning of the answer.
    pub answer: Option<String>,
    /// Why it failed, for a person.
    pub fault: Option<String>,
    /// The kind of that fault, by its word.
    pub fault_kind: Option<String>,
    /// The id of the request, if that is not `event_id`.
    pub request_id: Option<String>,
    /// The signature of the request.
    pub signature: String,
    /// The endpoint's own headers, with commas between them.
    pub header_names: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
