//! A message text that the provider approved, rejected or is looking at.

use sea_orm::entity::prelude::*;

/// A message text that the provider approved, rejected or is looking at.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "template")]
pub struct Model {
    /// Our own number.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// Whose template it is.
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
    /// Unix milliseconds; when the provider said what the status is.
    pub status_said_at: i64,
    /// Unix milliseconds; when the provider said what the quality is.
    pub quality_said_at: i64,
    /// Unix milliseconds; when the provider said what the category is.
    pub category_said_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
