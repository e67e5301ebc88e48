//! A link that lets a person in once.

use sea_orm::entity::prelude::*;

/// A link that lets a person in once.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "link")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// SHA-256 of its token; unique.
    pub hash: Vec<u8>,
    /// Its purpose, by its word.
    pub purpose: String,
    /// The person's e-mail, folded.
    pub email: String,
    /// The name that an invitation suggests.
    pub name: String,
    /// The company that an invitation is to, or whose owner made the link.
    pub company_id: Option<Uuid>,
    /// The role in that company, by its word.
    pub role: Option<String>,
    /// 1 if an invitation makes an operator, else 0.
    pub is_operator: i16,
    /// Its author, as in the record of changes.
    pub made_by: String,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub expires_at: i64,
    /// The version of the person's credentials when it was made; null for an invitation.
    pub credentials_version: Option<i64>,
    /// The person who invites; null for an operator's key and the command line.
    pub inviter_id: Option<Uuid>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
