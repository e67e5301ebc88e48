//! Indexes of changes by their author and by their kind, and a code of the reason for rejected rows of
//! imports.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // Ids are ordered by time, so that each of these serves a span of time as well.
    "CREATE INDEX change_who ON change (who, id)",
    "CREATE INDEX change_what ON change (what, id)",
    "CREATE INDEX change_who_what ON change (who, what, id)",
    "CREATE INDEX change_subject_who ON change (subject, who, id)",
    "CREATE INDEX change_subject_what ON change (subject, what, id)",
    // Null for rows that were rejected before there were codes.
    "ALTER TABLE contact_import_reject ADD COLUMN code TEXT",
    // The values that the reason names, such as a field, a number or a bound: a JSON list.
    "ALTER TABLE contact_import_reject ADD COLUMN details TEXT",
];

const DOWN: &[&str] = &[
    "ALTER TABLE contact_import_reject DROP COLUMN details",
    "ALTER TABLE contact_import_reject DROP COLUMN code",
    "DROP INDEX change_subject_what",
    "DROP INDEX change_subject_who",
    "DROP INDEX change_who_what",
    "DROP INDEX change_what",
    "DROP INDEX change_who",
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
