//! The controls of a send: pause and cancel, its schedule, its expiry, its template.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `control`: 0 runs, 1 is paused by a person.
    "ALTER TABLE send ADD COLUMN control {small} NOT NULL DEFAULT 0",
    "ALTER TABLE send ADD COLUMN template_id {int}",
    // The send does nothing before this moment: it is scheduled, or all its remaining messages wait until
    // then.
    "ALTER TABLE send ADD COLUMN due_at {int}",
    "ALTER TABLE send ADD COLUMN send_at {int}",
    "ALTER TABLE send ADD COLUMN expires_at {int}",
    "ALTER TABLE send ADD COLUMN skipped {int} NOT NULL DEFAULT 0",
    "CREATE INDEX send_company ON send (company_id, id)",
    "CREATE INDEX send_due ON send (channel_id, due_at) WHERE state < 2 AND due_at IS NOT NULL",
    "CREATE INDEX send_expiring ON send (expires_at) WHERE state < 2 AND expires_at IS NOT NULL",
];

const DOWN: &[&str] = &[
    "DROP INDEX send_expiring",
    "DROP INDEX send_due",
    "DROP INDEX send_company",
    "ALTER TABLE send DROP COLUMN skipped",
    "ALTER TABLE send DROP COLUMN expires_at",
    "ALTER TABLE send DROP COLUMN send_at",
    "ALTER TABLE send DROP COLUMN due_at",
    "ALTER TABLE send DROP COLUMN template_id",
    "ALTER TABLE send DROP COLUMN control",
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
