//! Where the audience of a send came from.

use sea_orm::entity::prelude::*;

/// Where the audience of a send came from.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "send_source")]
pub struct Model {
    /// The send.
    #[sea_orm(primary_key, auto_increment = false)]
    pub send_id: Uuid,
    /// The tag, or the send whose messages are sent again.
    #[sea_orm(primary_key, auto_increment = false)]
    pub source_id: Uuid,
    /// 0 for a tag, 1 for a send.
    pub kind: i16,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
