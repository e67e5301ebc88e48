//! What an API key may be used for, and when it was last used.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Words with spaces between them; null for everything.
    "ALTER TABLE api_key ADD COLUMN scopes TEXT",
    // To the minute; null while it was never used.
    "ALTER TABLE api_key ADD COLUMN last_used_at {int}",
];

const DOWN: &[&str] = &[
    // A key that may do less must not come to do more: it is revoked.
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
