//! What sign-ins leave behind, where every node sees it: counted guesses, devices that signed in before, sign-ins that
//! wait for a code, and second factors that wait for their first code. All times are by the database's clock.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `subject` is a hash: of an account, a network, a device or a session. A row counts for an hour after `last_at`.
    "CREATE TABLE sign_in_guess (
        subject {bytes} NOT NULL PRIMARY KEY,
        attempts {int} NOT NULL,
        last_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX sign_in_guess_last ON sign_in_guess (last_at)",
    // The hash of the token in the device's cookie, for each person who signed in there.
    "CREATE TABLE known_device (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        hash {bytes} NOT NULL,
        last_used_at {int} NOT NULL,
        PRIMARY KEY (user_id, hash)
    ) {clustered}",
    "CREATE INDEX known_device_hash ON known_device (hash)",
    "CREATE TABLE sign_in_ticket (
        hash {bytes} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        made_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX sign_in_ticket_user ON sign_in_ticket (user_id, made_at)",
    "CREATE TABLE totp_setup (
        session_id {uuid} NOT NULL PRIMARY KEY,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        sealed {bytes} NOT NULL,
        made_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX totp_setup_user ON totp_setup (user_id)",
];

const DOWN: &[&str] = &[
    "DROP TABLE totp_setup",
    "DROP TABLE sign_in_ticket",
    "DROP TABLE known_device",
    "DROP TABLE sign_in_guess",
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
