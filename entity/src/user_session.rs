//! A browser in which a person signed in.

use sea_orm::entity::prelude::*;

/// A browser in which a person signed in.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "user_session")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// SHA-256 of the token in the browser's cookie; unique.
    pub hash: Vec<u8>,
    /// The person.
    pub user_id: Uuid,
    /// The chosen company.
    pub company_id: Option<Uuid>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds, to the minute.
    pub last_used_at: i64,
    /// The address that the person signed in from.
    pub address: String,
    /// The browser's description of itself.
    pub browser: String,
    /// SHA-256 of the token for programs; unique.
    pub token_hash: Option<Vec<u8>>,
    /// The company that this token reads.
    pub token_company_id: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
