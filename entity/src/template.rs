//! A message text that the provider approved, rejected or still reviews.

use sea_orm::entity::prelude::*;

/// A message text that the provider approved, rejected or still reviews.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "template")]
pub struct Model {
    /// The service's own number of the template.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The company that owns the template.
    pub company_id: Uuid,
    /// The business account that it belongs to.
    pub waba_id: String,
    /// The provider's id.
    pub provider_id: String,
    /// Name; unique with the language.
    pub name: String,
    /// Language code, with an underscore.
    pub language: String,
    /// As the provider names it.
    pub category: String,
    /// As the provider names it, upper case.
    pub status: String,
    /// `POSITIONAL` or `NAMED`.
    pub parameter_format: String,
    /// The provider's JSON.
    pub components: String,
    /// As the provider names it.
    pub rejected_reason: Option<String>,
    /// As the provider names it.
    pub quality_score: Option<String>,
    /// The `template` revision that last changed it.
    pub revision: i64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
    /// When the provider last reported the status, in Unix milliseconds.
    pub status_said_at: i64,
    /// When the provider last reported the quality, in Unix milliseconds.
    pub quality_said_at: i64,
    /// When the provider last reported the category, in Unix milliseconds.
    pub category_said_at: i64,
    /// When a person archived it, in Unix milliseconds.
    pub archived_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
