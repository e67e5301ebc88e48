//! The numbers that web sessions exchange messages with, the times when phones were linked, and whole answers
//! for repeated requests.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `checked_at`: when the number was last looked up on WhatsApp; null if it never was. `jid`: the address
    // that the lookup found; null if the number is not on WhatsApp. `lid`: the address that hides the number,
    // once it is known. `first_sent_at` and `first_heard_at`: when the session first wrote to the number and
    // first heard from it; null before that.
    "CREATE TABLE web_session_contact (
        channel_id {uuid} NOT NULL,
        phone {int} NOT NULL,
        jid TEXT,
        lid TEXT,
        checked_at {int},
        first_sent_at {int},
        first_heard_at {int},
        PRIMARY KEY (channel_id, phone)
    ) {clustered}",
    "CREATE INDEX web_session_contact_sent ON web_session_contact (channel_id, first_sent_at)
     WHERE first_sent_at IS NOT NULL",
    // The sends of web sessions by their time, which is in their ids. All of them expire and have one
    // recipient. Few other sends do, so the index costs those almost nothing.
    "CREATE INDEX send_brief ON send (channel_id, id) WHERE recipient IS NOT NULL AND expires_at IS NOT NULL",
    // When the web session's phone was linked; null without a phone. For phones that are linked already, only
    // the time of their present status is known.
    "ALTER TABLE channel ADD COLUMN linked_at {int}",
    "UPDATE channel SET linked_at = status_since WHERE EXISTS
     (SELECT 1 FROM web_session_record WHERE web_session_record.channel_id = channel.id)",
    // The whole answer as JSON, for sends of web sessions: their answers cannot be built again from the other
    // columns.
    "ALTER TABLE idempotency_key ADD COLUMN result TEXT",
];

const DOWN: &[&str] = &[
    "ALTER TABLE idempotency_key DROP COLUMN result",
    "ALTER TABLE channel DROP COLUMN linked_at",
    "DROP INDEX send_brief",
    "DROP TABLE web_session_contact",
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
