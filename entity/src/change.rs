//! The record of one change that a person made.

use sea_orm::entity::prelude::*;

/// The record of one change that a person made.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "change")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Unix milliseconds.
    pub at: i64,
    /// An operator's name, `key:` and the name of a company's key, `user:` and an e-mail, `cli:` and a user's name, or
    /// `pombo`.
    pub who: String,
    /// The kind of thing, such as `tier`, `channel.tier` or `user`.
    pub what: String,
    /// The tier's name, the id of the channel or company, the operator's name or the person's e-mail.
    pub subject: String,
    /// The earlier value, as JSON.
    pub before: Option<String>,
    /// The new value, as JSON.
    pub after: String,
    /// The network address that the change came from; null for the command line and for keys.
    pub address: Option<String>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
