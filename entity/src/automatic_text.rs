//! What a company answers by itself.

use sea_orm::entity::prelude::*;

/// What a company answers by itself.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "automatic_text")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The answer to an opt-out; `None` for no answer.
    pub stop_text: Option<String>,
    /// The answer to an opt-in.
    pub start_text: Option<String>,
    /// The answer while nobody is there.
    pub away_text: Option<String>,
    /// A line for each day from Monday on, with the spans in which somebody answers.
    pub hours: String,
    /// The time zone of the hours.
    pub time_zone: String,
    /// 1: people are not told that their messages were read.
    pub hides_reading: i16,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
