//! Where the audiences of sends came from: tags, and the sends that they send again.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `kind`: 0 is a tag, 1 is a send whose messages are sent again.
    "CREATE TABLE send_source (
        send_id {uuid} NOT NULL,
        source_id {uuid} NOT NULL,
        kind {small} NOT NULL,
        PRIMARY KEY (send_id, source_id)
    ) {clustered}",
    "CREATE INDEX send_source_of ON send_source (source_id, send_id)",
];

const DOWN: &[&str] = &["DROP TABLE send_source"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
