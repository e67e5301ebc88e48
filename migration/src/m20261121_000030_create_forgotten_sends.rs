//! Deleted sends whose messages and blocks are still being removed.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The row of the send is gone, and so are its messages and blocks below `next_ordinal`.
    "CREATE TABLE forgotten_send (
        id {uuid} NOT NULL PRIMARY KEY,
        recipients {int} NOT NULL,
        next_ordinal {int} NOT NULL
    ) {clustered}",
];

const DOWN: &[&str] = &["DROP TABLE forgotten_send"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
