//! Answers that a repeated request gets again, and reports of the provider that are kept.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `fingerprint`: SHA-256 over the request. The answer is built again from the other columns.
    "CREATE TABLE idempotency_key (
        company_id {uuid} NOT NULL,
        key TEXT NOT NULL,
        fingerprint {bytes} NOT NULL,
        send_id {uuid} NOT NULL,
        recipients {int} NOT NULL,
        skipped {int} NOT NULL,
        skipped_first TEXT NOT NULL,
        created_at {int} NOT NULL,
        PRIMARY KEY (company_id, key)
    ) {clustered}",
    "CREATE INDEX idempotency_key_age ON idempotency_key (created_at)",
    // Reports of the provider that no other table keeps, such as inbound messages. `identity` is the
    // provider's id of the report, so that a repeated report is kept once.
    "CREATE TABLE event (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        identity TEXT NOT NULL,
        payload TEXT NOT NULL,
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX event_identity ON event (channel_id, kind, identity)",
    "CREATE INDEX event_company ON event (company_id, id)",
    "ALTER TABLE channel ADD COLUMN level TEXT",
    "ALTER TABLE channel ADD COLUMN messaging_limit TEXT",
];

const DOWN: &[&str] = &[
    "ALTER TABLE channel DROP COLUMN messaging_limit",
    "ALTER TABLE channel DROP COLUMN level",
    "DROP TABLE event",
    "DROP TABLE idempotency_key",
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
