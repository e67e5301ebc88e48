//! The last replay of a webhook endpoint.

use sea_orm::entity::prelude::*;

/// The last replay of a webhook endpoint.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_replay")]
pub struct Model {
    /// The endpoint.
    #[sea_orm(primary_key, auto_increment = false)]
    pub endpoint_id: Uuid,
    /// Time-ordered id.
    pub id: Uuid,
    /// Which events a person wants once more, by its word.
    pub state: String,
    /// Their types, as JSON.
    pub types: String,
    /// When the first of them was written to the log, in Unix milliseconds.
    pub since: i64,
    /// When the last of them was written, in Unix milliseconds.
    pub until: i64,
    /// Events up to this place became retries.
    pub after_place: i64,
    /// The place of the last event.
    pub last_place: i64,
    /// Unix milliseconds.
    pub started_at: i64,
    /// Unix milliseconds; null until it ends.
    pub finished_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
