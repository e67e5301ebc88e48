//! The times at which opt-outs and the states of templates were reported: the latest report counts, even if
//! it arrives first.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // When the recipient, the provider or a person last opted the recipient out or in; 0 while the provider
    // only holds the recipient for a while. A recipient who opted in again keeps the row, with a past
    // `until`, so that an older report that arrives later changes nothing.
    "ALTER TABLE suppression ADD COLUMN said_at {int} NOT NULL DEFAULT 0",
    "UPDATE suppression SET said_at = created_at WHERE until IS NULL",
    "CREATE INDEX suppression_ended ON suppression (until) WHERE until IS NOT NULL",
    "ALTER TABLE template ADD COLUMN status_said_at {int} NOT NULL DEFAULT 0",
    "ALTER TABLE template ADD COLUMN quality_said_at {int} NOT NULL DEFAULT 0",
    "ALTER TABLE template ADD COLUMN category_said_at {int} NOT NULL DEFAULT 0",
    "UPDATE template SET status_said_at = updated_at, quality_said_at = updated_at, category_said_at = updated_at",
];

const DOWN: &[&str] = &[
    "ALTER TABLE template DROP COLUMN category_said_at",
    "ALTER TABLE template DROP COLUMN quality_said_at",
    "ALTER TABLE template DROP COLUMN status_said_at",
    "DROP INDEX suppression_ended",
    "ALTER TABLE suppression DROP COLUMN said_at",
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
