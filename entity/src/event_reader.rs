//! A reader of the log of events, with its place.

use sea_orm::entity::prelude::*;

/// A reader of the log of events, with its place.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "event_reader")]
pub struct Model {
    /// A stream outside `nats`, mails to people `alerts`, a company's programs `company`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// The company; zeros for a reader of the logs of all companies.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The reader has read up to this event; for a company's programs, its log begins after it.
    pub sequence: i64,
    /// When the reader was last seen, in Unix milliseconds, to the hour.
    pub used_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
