//! What the columns of a company's last import held.

use sea_orm::entity::prelude::*;

/// What the columns of a company's last import held.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "contact_import_mapping")]
pub struct Model {
    /// The company.
    #[sea_orm(primary_key, auto_increment = false)]
    pub company_id: Uuid,
    /// The columns and what they held, in JSON.
    pub columns: String,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
