//! The version of a person's credentials, the inviters of invitations, and the company that vouches for a person.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Raised by each change of password or second factor. What was proved under another version is worth nothing.
    "ALTER TABLE user_account ADD COLUMN credentials_version {int} NOT NULL DEFAULT 0",
    // The company whose owner invited the person. Null for people whom an operator added or gave a new password, and for
    // people who were there before: nobody wrote down who invited them.
    "ALTER TABLE user_account ADD COLUMN vouched_by {uuid}",
    // Null for invitations, which are for people who may have no credentials yet.
    "ALTER TABLE link ADD COLUMN credentials_version {int}",
    // The person who invites; null for an operator's key and the command line.
    "ALTER TABLE link ADD COLUMN inviter_id {uuid}",
    // It is not known whether passwords changed after these links were made. They last a day and can be made again.
    "DELETE FROM link WHERE purpose <> 'invitation'",
    "UPDATE link SET inviter_id = (SELECT id FROM user_account WHERE 'user:' || user_account.email = made_by)
        WHERE made_by LIKE 'user:%'",
    "DELETE FROM link WHERE made_by LIKE 'user:%' AND inviter_id IS NULL",
    "CREATE INDEX link_inviter ON link (inviter_id)",
];

const DOWN: &[&str] = &[
    "DROP INDEX link_inviter",
    "ALTER TABLE link DROP COLUMN inviter_id",
    "ALTER TABLE link DROP COLUMN credentials_version",
    "ALTER TABLE user_account DROP COLUMN vouched_by",
    "ALTER TABLE user_account DROP COLUMN credentials_version",
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
