//! A signed-in browser.

use sea_orm::entity::prelude::*;

/// A signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "user_session")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// SHA-256 of the token in the cookie.
    pub hash: Vec<u8>,
    /// The person.
    pub user_id: Uuid,
    /// The chosen company.
    pub company_id: Option<Uuid>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds; to the minute.
    pub last_used_at: i64,
    /// The network address that signed in.
    pub address: String,
    /// The browser as it calls itself.
    pub browser: String,
    /// SHA-256 of the token for programs.
    pub token_hash: Option<Vec<u8>>,
    /// The company that the token reads.
    pub token_company_id: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
