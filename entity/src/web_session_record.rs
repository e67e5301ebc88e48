//! Records of web sessions: the keys of linked devices.

use sea_orm::entity::prelude::*;

/// One record of one web session.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "web_session_record")]
pub struct Model {
    /// The channel whose session it is.
    #[sea_orm(primary_key, auto_increment = false)]
    pub channel_id: Uuid,
    /// The kind of record, by the session's own name.
    #[sea_orm(primary_key, auto_increment = false)]
    pub namespace: String,
    /// The key within the namespace.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// The content, sealed.
    pub value: Vec<u8>,
    /// A number of the session's own.
    pub mark: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
