//! A new send that somebody is writing.

use sea_orm::entity::prelude::*;

/// A new send that somebody is writing.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "draft")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company.
    pub company_id: Uuid,
    /// The person who kept it last.
    pub user_id: Uuid,
    /// 1 if it was saved for the company, 0 if it was kept by itself.
    pub is_saved: i16,
    /// The name of the send.
    pub name: String,
    /// The chosen channel.
    pub channel_id: Option<Uuid>,
    /// The kind of the message.
    pub kind: String,
    /// The fields, as a browser encodes them.
    pub content: String,
    /// Unix milliseconds.
    pub kept_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
