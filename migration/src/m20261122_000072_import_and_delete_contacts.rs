//! Imports that survive a restart, and the leftovers of deleted contacts and tags.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The number of ordinals without a contact in a block of neighbouring ordinals. A deleted contact leaves
    // its ordinal free, so that all others keep their places in the list.
    "CREATE TABLE contact_gap (
        company_id {uuid} NOT NULL,
        block {int} NOT NULL,
        removed {int} NOT NULL,
        PRIMARY KEY (company_id, block)
    ) {clustered}",
    // `upkeep`: 0 nothing to do; 1 renamed, and the texts of its contacts are being rewritten; 2 deleted, and
    // it is being removed from its contacts. `upkeep_after`: the id of the last contact that is done.
    "ALTER TABLE tag ADD COLUMN upkeep {small} NOT NULL DEFAULT 0",
    "ALTER TABLE tag ADD COLUMN upkeep_after {uuid}",
    "CREATE INDEX tag_upkeep ON tag (id) WHERE upkeep <> 0",
    // `position`: bytes of the decoded file whose rows are written; `line`: the number of the line there.
    // Both move in the transaction that writes the rows. `settings`: how to read the file, in JSON.
    "CREATE TABLE contact_import (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        file_name TEXT NOT NULL,
        state {small} NOT NULL,
        settings TEXT NOT NULL,
        bytes {int} NOT NULL,
        bytes_read {int} NOT NULL,
        position {int} NOT NULL,
        line {int} NOT NULL,
        created {int} NOT NULL,
        updated {int} NOT NULL,
        unchanged {int} NOT NULL,
        rejected {int} NOT NULL,
        rejected_kept {int} NOT NULL,
        without_number {int} NOT NULL,
        failure TEXT,
        has_chunks {small} NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL,
        started_at {int},
        finished_at {int}
    ) {strict}",
    "CREATE INDEX contact_import_newest ON contact_import (company_id, created_at, id)",
    "CREATE INDEX contact_import_state ON contact_import (state, updated_at)",
    "CREATE INDEX contact_import_chunks ON contact_import (state) WHERE has_chunks <> 0",
    // The uploaded file; the chunks are removed when the import is over.
    "CREATE TABLE contact_import_chunk (
        import_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        bytes {bytes} NOT NULL,
        PRIMARY KEY (import_id, ordinal)
    ) {strict}",
    // A rejected row: its fields in JSON.
    "CREATE TABLE contact_import_reject (
        import_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        line {int} NOT NULL,
        reason TEXT NOT NULL,
        fields TEXT NOT NULL,
        PRIMARY KEY (import_id, ordinal)
    ) {clustered}",
    // The meaning of each column in the company's last import, in JSON.
    "CREATE TABLE contact_import_mapping (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        columns TEXT NOT NULL
    ) {strict}",
];

/// Files hardly compress in pieces, and each piece is read once.
const UNCOMPRESSED: &str = "ALTER TABLE contact_import_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL";

const GAPS: &str = "SELECT company_id FROM contact_gap";

const DOWN: &[&str] = &[
    // Closes the gaps between ordinals, in two steps because ordinals are unique.
    "UPDATE contact SET ordinal = -1 - numbered.ordinal FROM (
        SELECT id, row_number() OVER (PARTITION BY company_id ORDER BY ordinal) - 1 AS ordinal
        FROM contact WHERE company_id IN ({gaps})
     ) AS numbered WHERE numbered.id = contact.id",
    "UPDATE contact SET ordinal = -1 - ordinal WHERE ordinal < 0",
    "UPDATE contact_book SET indexed = 0, claimed = 0, contacts =
        (SELECT count(*) FROM contact WHERE contact.company_id = contact_book.company_id)
     WHERE company_id IN ({gaps})",
    "DELETE FROM contact_gram WHERE segment_id IN (SELECT id FROM contact_segment WHERE company_id IN ({gaps}))",
    "DELETE FROM contact_segment WHERE company_id IN ({gaps})",
    "DELETE FROM contact_stale WHERE company_id IN ({gaps})",
    // An older version of the program does not know tags that are being deleted.
    "DELETE FROM contact_tag WHERE tag_id IN (SELECT id FROM tag WHERE upkeep = 2)",
    "DELETE FROM tag WHERE upkeep = 2",
    "DROP TABLE contact_import_mapping",
    "DROP TABLE contact_import_reject",
    "DROP TABLE contact_import_chunk",
    "DROP TABLE contact_import",
    "DROP INDEX tag_upkeep",
    "ALTER TABLE tag DROP COLUMN upkeep_after",
    "ALTER TABLE tag DROP COLUMN upkeep",
    "DROP TABLE contact_gap",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            crate::run(manager, &[UNCOMPRESSED]).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let statements: Vec<_> = DOWN.iter().map(|statement| statement.replace("{gaps}", GAPS)).collect();
        let statements: Vec<_> = statements.iter().map(String::as_str).collect();
        crate::run(manager, &statements).await
    }
}
