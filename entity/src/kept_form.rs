//! A form of the console that a session keeps for a while.

use sea_orm::entity::prelude::*;

/// A form of the console that a session keeps for a while.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "kept_form")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The session.
    pub session_id: Uuid,
    /// The fields, as a browser encodes them.
    pub content: String,
    /// Unix milliseconds.
    pub kept_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
