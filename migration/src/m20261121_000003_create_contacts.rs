//! Contacts, tags, and which contact has which tag.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `phone` is the number as an integer, null when it is not a valid one. `search_text` is every searched field
    // without case and accents, one per line.
    "CREATE TABLE contact (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        first_name TEXT NOT NULL,
        last_name TEXT NOT NULL,
        email TEXT NOT NULL,
        phone_number TEXT NOT NULL,
        phone {int},
        phone_number_lid TEXT,
        profile_picture TEXT NOT NULL,
        search_text TEXT NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX contact_newest ON contact (company_id, created_at, id)",
    "CREATE INDEX contact_phone ON contact (company_id, phone)",
    "CREATE INDEX contact_email ON contact (company_id, lower(email))",
    "CREATE TABLE tag (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        name TEXT NOT NULL,
        name_folded TEXT NOT NULL,
        color TEXT NOT NULL,
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX tag_name ON tag (company_id, name)",
    "CREATE INDEX tag_newest ON tag (company_id, created_at, id)",
    // The phone is here too, so that a tag's recipients are read from this one index, in order of numbers.
    "CREATE TABLE contact_tag (
        tag_id {uuid} NOT NULL REFERENCES tag (id),
        contact_id {uuid} NOT NULL REFERENCES contact (id),
        company_id {uuid} NOT NULL,
        phone {int},
        PRIMARY KEY (tag_id, contact_id)
    ) {strict}",
    "CREATE INDEX contact_tag_phone ON contact_tag (tag_id, phone)",
    "CREATE INDEX contact_tag_contact ON contact_tag (contact_id)",
];

const DOWN: &[&str] = &["DROP TABLE contact_tag", "DROP TABLE tag", "DROP TABLE contact"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
