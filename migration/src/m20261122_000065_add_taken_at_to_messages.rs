//! When the provider accepted a message or may have: such a message counts for the quota of templates, or is
//! in doubt.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Null while the provider certainly has not. A message that waits for a retry and has this time is in
    // doubt.
    "ALTER TABLE message ADD COLUMN taken_at {int}",
    "CREATE INDEX send_template ON send (channel_id, finished_at)
        WHERE template_id IS NOT NULL AND finished_at IS NOT NULL",
    "UPDATE message SET taken_at = (
            SELECT MAX(counted.at) FROM send JOIN channel ON channel.id = send.channel_id
            JOIN template_recipient AS counted ON counted.waba_id = channel.waba_id
            WHERE send.id = message.send_id AND counted.recipient = message.recipient
        )
        WHERE state IN (1, 2, 3, 4, 8) AND recipient IN (SELECT recipient FROM template_recipient)
        AND send_id IN (SELECT id FROM send WHERE template_id IS NOT NULL
            AND (finished_at IS NULL OR finished_at >= (SELECT MIN(at) FROM template_recipient)))",
    "DROP TABLE template_recipient",
];

const DOWN: &[&str] = &[
    "CREATE TABLE template_recipient (
        waba_id TEXT NOT NULL,
        recipient {int} NOT NULL,
        at {int} NOT NULL,
        PRIMARY KEY (waba_id, recipient)
    ) {clustered}",
    "INSERT INTO template_recipient (waba_id, recipient, at)
        SELECT channel.waba_id, message.recipient, MAX(message.taken_at) FROM message
        JOIN send ON send.id = message.send_id JOIN channel ON channel.id = send.channel_id
        WHERE message.taken_at IS NOT NULL AND message.recipient <> 0
        AND send.template_id IS NOT NULL AND channel.waba_id IS NOT NULL
        GROUP BY channel.waba_id, message.recipient",
    "DROP INDEX send_template",
    "ALTER TABLE message DROP COLUMN taken_at",
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
