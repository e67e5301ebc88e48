//! The index that contacts are searched by.
//!
//! It is empty at first. Searches are then slow but correct, because contacts outside the index are read one by
//! one. A running service fills it.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The names of a contact's tags without case and accents, one per line. A rename of a tag has to rewrite them.
    "ALTER TABLE contact ADD COLUMN tag_text TEXT NOT NULL DEFAULT ''",
    "UPDATE contact SET tag_text = (
        SELECT string_agg(tag.name_folded, '\n') FROM contact_tag JOIN tag ON tag.id = contact_tag.tag_id
        WHERE contact_tag.contact_id = contact.id
     ) WHERE EXISTS (SELECT 1 FROM contact_tag WHERE contact_tag.contact_id = contact.id)",
    // Some thousand neighbouring contacts of a company, from the ordinal `first` on.
    "CREATE TABLE contact_segment (
        id {serial} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        first {int} NOT NULL,
        contacts {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX contact_segment_first ON contact_segment (company_id, first)",
    // The places of a gram of one to three characters in a segment's texts. Always read by its whole key. It
    // has no foreign key, because that would be checked thousands of times for each segment.
    "CREATE TABLE contact_gram (
        segment_id {int} NOT NULL,
        gram {int} NOT NULL,
        places {bytes} NOT NULL,
        PRIMARY KEY (segment_id, gram)
    ) {clustered}",
    // Contacts that changed since they were indexed, and the number of changes.
    "CREATE TABLE contact_stale (
        company_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        changes {int} NOT NULL,
        PRIMARY KEY (company_id, ordinal)
    ) {clustered}",
];

/// Places are packed already: PostgreSQL need not try to compress them.
const UNCOMPRESSED: &str = "ALTER TABLE contact_gram ALTER COLUMN places SET STORAGE EXTERNAL";

const DOWN: &[&str] = &[
    "DROP TABLE contact_stale",
    "DROP TABLE contact_gram",
    "DROP TABLE contact_segment",
    "ALTER TABLE contact DROP COLUMN tag_text",
    "UPDATE contact_book SET indexed = 0, claimed = 0",
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
        crate::run(manager, DOWN).await
    }
}
