//! Forms that were checked in the console, so that the page of the check has an address of its own.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `content`: the fields as a browser encodes them.
    "CREATE TABLE kept_form (
        id {uuid} NOT NULL PRIMARY KEY,
        session_id {uuid} NOT NULL,
        content TEXT NOT NULL,
        kept_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX kept_form_session ON kept_form (session_id, kept_at)",
    "CREATE INDEX kept_form_age ON kept_form (kept_at)",
];

const DOWN: &[&str] = &["DROP TABLE kept_form"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
