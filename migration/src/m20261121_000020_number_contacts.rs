//! A contact's place in its company's list, and how many contacts companies and tags have.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // A company's contacts are numbered from 0 without gaps in the order of its list, oldest first, so that any page is
    // found by arithmetic. At this step contacts are never deleted; a later step marks the gaps that deleted contacts
    // leave.
    "ALTER TABLE contact ADD COLUMN ordinal {int} NOT NULL DEFAULT 0",
    "UPDATE contact SET ordinal = numbered.ordinal FROM (
        SELECT id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) - 1 AS ordinal FROM contact
     ) AS numbered WHERE numbered.id = contact.id",
    "CREATE UNIQUE INDEX contact_ordinal ON contact (company_id, ordinal)",
    "DROP INDEX contact_newest",
    // One row for each company that has contacts; a change of contacts locks it. `contacts`: their number,
    // and the next ordinal. `indexed`: ordinals below it are in the search index. `claimed`: ordinals below
    // it are indexed or being indexed; a change to one of them is noted as stale.
    "CREATE TABLE contact_book (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        contacts {int} NOT NULL,
        indexed {int} NOT NULL,
        claimed {int} NOT NULL
    ) {strict}",
    "INSERT INTO contact_book (company_id, contacts, indexed, claimed)
     SELECT company_id, count(*), 0, 0 FROM contact GROUP BY company_id",
    "ALTER TABLE tag ADD COLUMN contacts {int} NOT NULL DEFAULT 0",
    "UPDATE tag SET contacts = (SELECT count(*) FROM contact_tag WHERE contact_tag.tag_id = tag.id)",
];

const DOWN: &[&str] = &[
    "ALTER TABLE tag DROP COLUMN contacts",
    "DROP TABLE contact_book",
    "CREATE INDEX contact_newest ON contact (company_id, created_at, id)",
    "DROP INDEX contact_ordinal",
    "ALTER TABLE contact DROP COLUMN ordinal",
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
