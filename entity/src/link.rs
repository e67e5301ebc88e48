//! A link that is valid once.

use sea_orm::entity::prelude::*;

/// A link that is valid once.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "link")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// SHA-256 of the token in the link.
    pub hash: Vec<u8>,
    /// `invitation`, `reset` or `sign_in`.
    pub purpose: String,
    /// The person, by the folded e-mail.
    pub email: String,
    /// The name that an invitation suggests.
    pub name: String,
    /// The company that an invitation is to.
    pub company_id: Option<Uuid>,
    /// The role that an invitation gives.
    pub role: Option<String>,
    /// 1 when an invitation makes an operator, else 0.
    pub is_operator: i16,
    /// As in the record of changes.
    pub made_by: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub expires_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
