//! Trials of channels whose messages the provider refused: such a channel is connected again when the
//! provider accepts a trial message.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `trial_wait`: the pause between two trial messages, in milliseconds. `trial_due`: when the next one may
    // go. Both are null while the channel is not on trial.
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
