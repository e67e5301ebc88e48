//! Records of web sessions: the keys of linked devices.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `value` is sealed to its place. `mark` is a number of the session's own, such as a time of expiry. Rows
    // come and go with the channel's connection, many at a time. They have no reference to the channel,
    // because it would be checked for each row.
    "CREATE TABLE web_session_record (
        channel_id {uuid} NOT NULL,
        namespace TEXT NOT NULL,
        key TEXT {bytewise} NOT NULL,
        value {bytes} NOT NULL,
        mark {int} NOT NULL,
        PRIMARY KEY (channel_id, namespace, key)
    ) {clustered}",
];

const DOWN: &[&str] = &["DROP TABLE web_session_record"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
