//! The last automatic answer of a kind to a person.

use sea_orm::entity::prelude::*;

/// The last automatic answer of a kind to a person.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "automatic_answer")]
pub struct Model {
    /// The company that answers.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The number under which the person is known, as an integer.
    #[sea_orm(primary_key, auto_increment = false)]
    pub recipient: i64,
    /// 1 an opt-out, 2 an opt-in, 3 nobody is there.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: i16,
    /// When the message came that it answers, in Unix milliseconds.
    pub at: i64,
    /// The channel that heard the message, and answers.
    pub channel_id: Uuid,
    /// Our id of the message.
    pub message_id: Uuid,
    /// When it is sent, or tried again, in Unix milliseconds; `None` once that is over.
    pub due_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
