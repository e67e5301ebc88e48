//! One accepted request.

use sea_orm::entity::prelude::*;

/// One accepted request.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "send")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose send it is.
    pub company_id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// Withdrawn −1 (a tombstone), resolving 0, active 1, finished 2, canceled 3, expired 4.
    pub state: i16,
    /// What is sent, as JSON.
    pub content: String,
    /// How many.
    pub recipients: i64,
    /// The recipient, when there is one; 0 for the group that the content names.
    pub recipient: Option<i64>,
    /// Ordinals below may have been attempted.
    pub high_water: i64,
    /// Ordinals below all have a ledger row.
    pub settled: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub finished_at: Option<i64>,
    /// Runs 0, paused 1.
    pub control: i16,
    /// The template that it sends, if it does.
    pub template_id: Option<i64>,
    /// Unix milliseconds; nothing of the send starts before.
    pub due_at: Option<i64>,
    /// Unix milliseconds; as the request asked.
    pub send_at: Option<i64>,
    /// Unix milliseconds; as the request asked.
    pub expires_at: Option<i64>,
    /// Entries of the request that were left out.
    pub skipped: i64,
    /// The node that resolves its audience, while that is being done in a cluster.
    pub resolver: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
