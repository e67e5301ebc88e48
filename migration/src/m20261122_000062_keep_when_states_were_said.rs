//! When it was said whom sends leave out, and how templates are: what was said last counts, whenever it is heard.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Of a recipient: when they, the provider or a person last said whether sends leave them out; 0 while only the
    // provider holds them for a while. One that is left out no longer keeps its row, with an `until` that has passed,
    // so that an older word that comes later changes nothing.
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
