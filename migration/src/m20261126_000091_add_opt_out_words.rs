//! What a company does with opt-out words that people write.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // A company without a row follows the words that everybody knows. `scope`: 0 they have no effect, 1 marketing, 2
    // everything. The words are the company's own, one a line.
    "CREATE TABLE opt_out_words (
        company_id {uuid} NOT NULL PRIMARY KEY,
        scope {small} NOT NULL,
        stop_words TEXT NOT NULL,
        start_words TEXT NOT NULL
    ) {clustered}",
];

const DOWN: &[&str] = &["DROP TABLE opt_out_words"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
