//! Sends, their frozen recipients, and the ledger of attempted messages.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `high_water`: ordinals below it may have been attempted. `settled`: ordinals below it all have a
    // row in the ledger. `recipient` is set if there is only one; otherwise the recipients are in the blocks.
    "CREATE TABLE send (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        state {small} NOT NULL,
        content TEXT NOT NULL,
        recipients {int} NOT NULL,
        recipient {int},
        high_water {int} NOT NULL,
        settled {int} NOT NULL,
        created_at {int} NOT NULL,
        finished_at {int}
    ) {clustered}",
    "CREATE INDEX send_active ON send (channel_id, id) WHERE state < 2",
    "CREATE TABLE recipient_block (
        send_id {uuid} NOT NULL,
        first_ordinal {int} NOT NULL,
        recipients {int} NOT NULL,
        packed {bytes} NOT NULL,
        PRIMARY KEY (send_id, first_ordinal)
    ) {strict}",
    // One row per attempted message. `retry_at` is set while the message waits for a retry.
    "CREATE TABLE message (
        send_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        company_id {uuid} NOT NULL,
        recipient {int} NOT NULL,
        state {small} NOT NULL,
        attempts {small} NOT NULL,
        provider_message_id TEXT,
        error_code {int},
        error TEXT,
        retry_at {int},
        updated_at {int} NOT NULL,
        PRIMARY KEY (send_id, ordinal)
    ) {clustered}",
    "CREATE INDEX message_waiting ON message (send_id, ordinal) WHERE retry_at IS NOT NULL",
];

const DOWN: &[&str] = &["DROP TABLE message", "DROP TABLE recipient_block", "DROP TABLE send"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
