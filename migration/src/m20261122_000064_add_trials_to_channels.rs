//! What a channel owes whose messages the provider refused: the provider accepts one before the channel is connected.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `trial_wait`: how long the channel waits between two such messages, in milliseconds. `trial_due`: no message goes
    // before. Both null while nothing is owed.
    "ALTER TABLE channel ADD COLUMN trial_wait {int}",
    "ALTER TABLE channel ADD COLUMN trial_due {int}",
];

const DOWN: &[&str] =
    &["ALTER TABLE channel DROP COLUMN trial_due", "ALTER TABLE channel DROP COLUMN trial_wait"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
