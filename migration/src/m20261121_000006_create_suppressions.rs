//! Recipients that sends skip or hold, and the moving window of template quotas.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // With `until` set messages to the recipient wait until then; without, sends skip it. `scope`: 1 marketing
    // templates, 2 everything.
    "CREATE TABLE suppression (
        company_id {uuid} NOT NULL,
        recipient {int} NOT NULL,
        scope {small} NOT NULL,
        until {int},
        provider_code {int},
        created_at {int} NOT NULL,
        PRIMARY KEY (company_id, recipient, scope)
    ) {clustered}",
    // When a business account last began a conversation with a recipient, for the quota of templates.
    "CREATE TABLE template_recipient (
        waba_id TEXT NOT NULL,
        recipient {int} NOT NULL,
        at {int} NOT NULL,
        PRIMARY KEY (waba_id, recipient)
    ) {clustered}",
    "ALTER TABLE template ADD COLUMN revision {int} NOT NULL DEFAULT 0",
    "CREATE INDEX template_revision ON template (revision)",
    "INSERT INTO revision (topic, value) VALUES ('template', 0), ('suppression', 0)",
];

const DOWN: &[&str] = &[
    "DELETE FROM revision WHERE topic IN ('template', 'suppression')",
    "DROP INDEX template_revision",
    "ALTER TABLE template DROP COLUMN revision",
    "DROP TABLE template_recipient",
    "DROP TABLE suppression",
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
