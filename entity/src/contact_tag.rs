//! One contact in one tag.

use sea_orm::entity::prelude::*;

/// One contact in one tag.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_tag")]
pub struct Model {
    /// The tag.
    #[sea_orm(primary_key, auto_increment = false)]
    pub tag_id: Uuid,
    /// The contact.
    #[sea_orm(primary_key, auto_increment = false)]
    pub contact_id: Uuid,
    /// Whose they are.
    pub company_id: Uuid,
    /// The contact's valid number, carried along.
    pub phone: Option<i64>,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
