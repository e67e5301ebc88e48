//! What a person chose to be told.

use sea_orm::entity::prelude::*;

/// What a person chose to be told.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alert_subscription")]
pub struct Model {
    /// The person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The kind of alert, by its word.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// 1 if it is wanted, else 0.
    pub wanted: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
