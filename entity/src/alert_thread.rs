//! What people may be told of one subject.

use sea_orm::entity::prelude::*;

/// What people may be told of one subject.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alert_thread")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The kind of alert, by its word.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// A channel or an endpoint; nil for the whole company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: Uuid,
    /// 1 while something is wrong, else 0.
    pub troubled: i64,
    /// How many facts nobody was told.
    pub untold: i64,
    /// When the first of them happened, in Unix milliseconds.
    pub since: Option<i64>,
    /// The last of them, as JSON.
    pub facts: String,
    /// When they are told, in Unix milliseconds; null while there are none.
    pub due_at: Option<i64>,
    /// Until when they wait, in Unix milliseconds.
    pub held_until: Option<i64>,
    /// 1 if people were told that it is better, else 0.
    pub told_better: i64,
    /// When people were told last, in Unix milliseconds.
    pub told_at: Option<i64>,
    /// Raised by each write.
    pub revision: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
