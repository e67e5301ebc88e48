//! A block of a company's log of events: what one write changed.

use sea_orm::entity::prelude::*;

/// A block of a company's log of events: what one write changed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event_block")]
pub struct Model {
    /// The number, which is never used again.
    #[sea_orm(primary_key)]
    pub seq: i64,
    /// The company.
    pub company_id: Uuid,
    /// Number of entries.
    pub entries: i64,
    /// About what the block takes.
    pub bytes: i64,
    /// Unix milliseconds.
    pub written_at: i64,
    /// The entries, packed.
    pub packed: Vec<u8>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
