//! The scopes of an API key, and the time of its last use.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Scopes with spaces between them; null for all scopes.
    "ALTER TABLE api_key ADD COLUMN scopes TEXT",
    // Rounded to the minute; null for a key that was never used.
    "ALTER TABLE api_key ADD COLUMN last_used_at {int}",
];

const DOWN: &[&str] = &[
    // Without the column, a key with limited scopes would get all scopes, so it is revoked.
    "UPDATE api_key SET revoked_at = created_at WHERE scopes IS NOT NULL AND revoked_at IS NULL",
    "ALTER TABLE api_key DROP COLUMN last_used_at",
    "ALTER TABLE api_key DROP COLUMN scopes",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
