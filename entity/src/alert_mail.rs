//! A mail of an alert that was not sent yet.

use sea_orm::entity::prelude::*;

/// A mail of an alert that was not sent yet.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alert_mail")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The recipient.
    pub user_id: Uuid,
    /// The company that it is about.
    pub company_id: Uuid,
    /// What it tells, as JSON.
    pub items: String,
    /// How many subjects there are beside these.
    pub more: i64,
    /// Unix milliseconds.
    pub made_at: i64,
    /// How often it could not be sent.
    pub failures: i64,
    /// When it is tried next, in Unix milliseconds.
    pub next_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
