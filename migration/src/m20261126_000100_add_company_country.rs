//! The country of a company's numbers, and the names that an import did not take.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The two letters of the country in which most of the company's contacts have their numbers; null until a person
    // says so.
    "ALTER TABLE company ADD COLUMN country TEXT",
    // Rows whose names looked wrongly decoded, so that the contacts kept theirs.
    "ALTER TABLE contact_import ADD COLUMN names_kept {int} NOT NULL DEFAULT 0",
];

const DOWN: &[&str] =
    &["ALTER TABLE contact_import DROP COLUMN names_kept", "ALTER TABLE company DROP COLUMN country"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
