//! The keys that seal the secrets of this database, each with a value by which a process proves that it has the key.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &["CREATE TABLE sealing_key (
        key_id {bytes} NOT NULL PRIMARY KEY,
        proof {bytes} NOT NULL,
        added_at {int} NOT NULL
    ) {strict}"];

const DOWN: &[&str] = &["DROP TABLE sealing_key"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
