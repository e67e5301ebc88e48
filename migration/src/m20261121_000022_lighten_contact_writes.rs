//! Drops foreign keys and collations that make PostgreSQL's writes of contacts slow.
//!
//! PostgreSQL checks each row's foreign keys, which was nearly half of an import's time (8 to 10 µs for each of three
//! keys, by `EXPLAIN ANALYZE`). The keys are not needed: contacts are written under the lock of their company's book,
//! which exists only with the company; a transaction tags only contacts that it wrote or read; and the transaction that
//! deletes a contact removes its tags. SQLite keeps its keys, which cost almost nothing. Addresses are compared byte by
//! byte, because only their equality matters.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    "ALTER TABLE contact DROP CONSTRAINT contact_company_id_fkey",
    "ALTER TABLE contact_tag DROP CONSTRAINT contact_tag_contact_id_fkey",
    "ALTER TABLE contact_tag DROP CONSTRAINT contact_tag_tag_id_fkey",
    "DROP INDEX contact_email",
    r#"CREATE INDEX contact_email ON contact (company_id, (lower(email) COLLATE "C"))"#,
];

const DOWN: &[&str] = &[
    "DROP INDEX contact_email",
    "CREATE INDEX contact_email ON contact (company_id, lower(email))",
    "ALTER TABLE contact_tag ADD CONSTRAINT contact_tag_tag_id_fkey FOREIGN KEY (tag_id) REFERENCES tag (id)",
    "ALTER TABLE contact_tag
        ADD CONSTRAINT contact_tag_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact (id)",
    "ALTER TABLE contact
        ADD CONSTRAINT contact_company_id_fkey FOREIGN KEY (company_id) REFERENCES company (id)",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run(manager, DOWN).await
    }
}

async fn run(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        crate::run(manager, statements).await?;
    }
    Ok(())
}
