//! A send whose recipients have values of their own.

use sea_orm::entity::prelude::*;

/// A send whose recipients have values of their own.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "personal_send")]
pub struct Model {
    /// The send.
    #[sea_orm(primary_key, auto_increment = false)]
    pub send_id: Uuid,
    /// The company that owns the send.
    pub company_id: Uuid,
    /// What its blocks of values are sealed to.
    pub seal: Uuid,
    /// 0 while the values are kept, 1 once they are removed, 2 while they are being removed.
    pub gone: i16,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
