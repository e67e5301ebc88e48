//! An id of the door that speaks Graph.

use sea_orm::entity::prelude::*;

/// An id of the door that speaks Graph.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "graph_id")]
pub struct Model {
    /// The id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// The company.
    pub company_id: Uuid,
    /// 1 a web session, 2 the web sessions of a company, 3 a company.
    pub kind: i16,
    /// The channel or the company.
    pub owner_id: Uuid,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
