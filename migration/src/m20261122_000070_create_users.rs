//! People who sign in: their accounts, memberships of companies, sessions, links and recovery codes; and the address in
//! the record of changes.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Not `user`, which is a reserved word of PostgreSQL. The e-mail is folded. `password` is null until the person
    // chooses one; `totp_secret` is sealed; a code of a step up to `totp_step` was used or is too old.
    "CREATE TABLE user_account (
        id {uuid} NOT NULL PRIMARY KEY,
        email TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        password TEXT,
        language TEXT,
        time_zone TEXT,
        is_operator {small} NOT NULL,
        totp_secret {bytes},
        totp_step {int} NOT NULL,
        disabled_at {int},
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE TABLE membership (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        company_id {uuid} NOT NULL REFERENCES company (id),
        role TEXT NOT NULL,
        created_at {int} NOT NULL,
        PRIMARY KEY (user_id, company_id)
    ) {clustered}",
    "CREATE INDEX membership_company ON membership (company_id)",
    // A session is for the company that was chosen when the session began.
    "CREATE TABLE user_session (
        id {uuid} NOT NULL PRIMARY KEY,
        hash {bytes} NOT NULL UNIQUE,
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        company_id {uuid} REFERENCES company (id),
        created_at {int} NOT NULL,
        last_used_at {int} NOT NULL,
        address TEXT NOT NULL,
        browser TEXT NOT NULL,
        token_hash {bytes} UNIQUE,
        token_company_id {uuid} REFERENCES company (id)
    ) {strict}",
    "CREATE INDEX user_session_user ON user_session (user_id)",
    "CREATE INDEX user_session_last_used ON user_session (last_used_at)",
    // A row is removed when its link is used.
    "CREATE TABLE link (
        id {uuid} NOT NULL PRIMARY KEY,
        hash {bytes} NOT NULL UNIQUE,
        purpose TEXT NOT NULL,
        email TEXT NOT NULL,
        name TEXT NOT NULL,
        company_id {uuid} REFERENCES company (id),
        role TEXT,
        is_operator {small} NOT NULL,
        made_by TEXT NOT NULL,
        created_at {int} NOT NULL,
        expires_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX link_email ON link (email)",
    "CREATE INDEX link_company ON link (company_id)",
    "CREATE INDEX link_expires ON link (expires_at)",
    "CREATE TABLE recovery_code (
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        hash {bytes} NOT NULL,
        PRIMARY KEY (user_id, hash)
    ) {clustered}",
    // Null for changes at the command line and with a key.
    "ALTER TABLE change ADD COLUMN address TEXT",
];

const DOWN: &[&str] = &[
    "ALTER TABLE change DROP COLUMN address",
    "DELETE FROM change WHERE what IN ('user', 'user.password', 'user.totp', 'membership', 'link', 'sign_in', 'session')",
    "DROP TABLE recovery_code",
    "DROP TABLE link",
    "DROP TABLE user_session",
    "DROP TABLE membership",
    "DROP TABLE user_account",
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
