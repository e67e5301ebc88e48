//! A person who signs in.

use sea_orm::entity::prelude::*;

/// A person who signs in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "user_account")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The address in its folded form; unique.
    pub email: String,
    /// The name that pages show.
    pub name: String,
    /// Hash of the password; null until the person chooses one.
    pub password: Option<String>,
    /// The language of pages; null for the browser's.
    pub language: Option<String>,
    /// The zone that times are shown in; null for the browser's.
    pub time_zone: Option<String>,
    /// 1 for an operator of every company, else 0.
    pub is_operator: i16,
    /// The secret of the second factor, sealed.
    pub totp_secret: Option<Vec<u8>>,
    /// Codes of this step and of earlier ones are refused.
    pub totp_step: i64,
    /// Unix milliseconds.
    pub disabled_at: Option<i64>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Raised by each change of password or second factor.
    pub credentials_version: i64,
    /// The company whose owner invited the person; null when an operator vouches for them.
    pub vouched_by: Option<Uuid>,
    /// The person's own number, to which they get tests.
    pub phone_number: Option<i64>,
    /// When the person last signed in, in Unix milliseconds; null when that was never noted.
    pub last_sign_in_at: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
