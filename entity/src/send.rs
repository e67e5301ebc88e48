//! One accepted request.

use sea_orm::entity::prelude::*;

/// One accepted request.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "send")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the send.
    pub company_id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// Withdrawn −1 (a tombstone), resolving 0, active 1, finished 2, canceled 3, expired 4.
    pub state: i16,
    /// The content, as JSON.
    pub content: String,
    /// Number of recipients.
    pub recipients: i64,
    /// The recipient, if the send has only one; 0 for the group that the content names.
    pub recipient: Option<i64>,
    /// Ordinals below may have been attempted.
    pub high_water: i64,
    /// Ordinals below all have a ledger row.
    pub settled: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub finished_at: Option<i64>,
    /// 0 runs, 1 paused.
    pub control: i16,
    /// The template that it sends, if any.
    pub template_id: Option<i64>,
    /// Unix milliseconds; nothing of the send starts before.
    pub due_at: Option<i64>,
    /// Unix milliseconds; as the request asked.
    pub send_at: Option<i64>,
    /// Unix milliseconds; as the request asked.
    pub expires_at: Option<i64>,
    /// Entries of the request that the send skipped.
    pub skipped: i64,
    /// In a cluster, the node that resolves the audience, for as long as that takes.
    pub resolver: Option<Uuid>,
    /// Why it ended, where nobody asked for it: 1, the database was restored from a backup.
    pub end_reason: Option<i16>,
    /// The caller's own name for the send.
    pub reference: Option<String>,
    /// The caller's own notes, as a JSON object of texts.
    pub metadata: Option<String>,
    /// The name that it was given; one is made for a send without it.
    pub given_name: Option<String>,
    /// The same for searches: without case and accents.
    pub given_name_folded: Option<String>,
    /// Who made it, as the record of changes names authors.
    pub made_by: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
