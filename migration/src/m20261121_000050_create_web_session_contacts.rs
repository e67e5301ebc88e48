//! What web sessions know of the numbers that they write to and hear from, since when their phones are linked, and
//! whole answers that are given again.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `checked_at`: when WhatsApp was asked whether the number is there, null when it never was; `jid` is its answer
    // then, null when it is not. `lid`: the address that hides the number, once it is known. `first_sent_at` and
    // `first_heard_at`: when the session first wrote to the number and first heard from it, null while it did not.
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
    // The sends of web sessions by their time, which is in their ids. All of them expire and have one recipient, as few
    // others do: the index costs those next to nothing.
    "CREATE INDEX send_brief ON send (channel_id, id) WHERE recipient IS NOT NULL AND expires_at IS NOT NULL",
    // When the phone was linked that a web session belongs to; null while there is none. Of those that are linked
    // already it is known only since when they have been in their present state.
    "ALTER TABLE channel ADD COLUMN linked_at {int}",
    "UPDATE channel SET linked_at = status_since WHERE EXISTS
     (SELECT 1 FROM web_session_record WHERE web_session_record.channel_id = channel.id)",
    // The whole answer, JSON, where it cannot be made again from the other columns: sends of web sessions.
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
