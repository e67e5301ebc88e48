//! The verify tokens of webhook handshakes, sealed. Before, they were derived from the sealing key, which
//! therefore could not change.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Null until the token is first needed. Empty: the next start derives the token from the sealing key and
    // keeps it here, because providers know it.
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
