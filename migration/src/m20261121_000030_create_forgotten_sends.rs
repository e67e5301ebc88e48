//! Sends that are forgotten, while what they left is being removed.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The send itself is gone; of its messages and blocks those below `next_ordinal` are.
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
