//! The words of webhook handshakes, sealed: they were derived from the sealing key before, which could never change.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Null while nobody asked for the word. Empty: the word that the sealing key gives is kept here at the next start,
    // because providers know it.
    "ALTER TABLE channel ADD COLUMN verify_token {bytes}",
    "UPDATE channel SET verify_token = CAST('' AS {bytes}) WHERE kind = 'business_account'",
];

const DOWN: &[&str] = &["ALTER TABLE channel DROP COLUMN verify_token"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
