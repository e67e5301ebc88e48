//! Names are folded for search in another way: the texts of all companies have to be folded again.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The companies whose stored texts are not folded again yet, each with the ordinal of the next contact.
    "CREATE TABLE contact_refold (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        next {int} NOT NULL
    ) {strict}",
    "INSERT INTO contact_refold (company_id, next) SELECT id, 0 FROM company",
    // Names of tags that differ in case only are one tag.
    "CREATE INDEX tag_folded ON tag (company_id, name_folded)",
];

const DOWN: &[&str] = &["DROP INDEX tag_folded", "DROP TABLE contact_refold"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
