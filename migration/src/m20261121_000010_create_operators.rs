//! Operators' keys, and the record of what operators changed.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // A name is never used twice, not even after its key was revoked, because the record of changes names
    // operators by it.
    "CREATE TABLE operator_key (
        id {uuid} NOT NULL PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        prefix TEXT NOT NULL,
        hash {bytes} NOT NULL UNIQUE,
        expires_at {int},
        revoked_at {int},
        created_at {int} NOT NULL
    ) {strict}",
    // One row per change, written in the transaction of what it records. `before` and `after` are JSON.
    "CREATE TABLE change (
        id {uuid} NOT NULL PRIMARY KEY,
        at {int} NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        subject TEXT NOT NULL,
        before TEXT,
        after TEXT NOT NULL
    ) {strict}",
    "CREATE INDEX change_subject ON change (subject, id)",
];

const DOWN: &[&str] = &["DROP TABLE change", "DROP TABLE operator_key"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
