//! Channels and the templates of business accounts.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    "CREATE TABLE channel (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        name_folded TEXT NOT NULL,
        phone_number TEXT,
        phone_number_id TEXT,
        waba_id TEXT,
        tier TEXT NOT NULL,
        token {bytes},
        app_secret {bytes},
        status TEXT NOT NULL,
        status_code TEXT,
        status_sentence TEXT,
        status_provider_code {int},
        status_since {int} NOT NULL,
        quality_rating TEXT,
        revision {int} NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX channel_company ON channel (company_id, kind, id)",
    "CREATE INDEX channel_revision ON channel (revision)",
    "CREATE UNIQUE INDEX channel_phone_number_id ON channel (phone_number_id) WHERE phone_number_id IS NOT NULL",
    "CREATE TABLE template (
        id {serial} PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        waba_id TEXT NOT NULL,
        provider_id TEXT NOT NULL,
        name TEXT NOT NULL,
        language TEXT NOT NULL,
        category TEXT NOT NULL,
        status TEXT NOT NULL,
        parameter_format TEXT NOT NULL,
        components TEXT NOT NULL,
        rejected_reason TEXT,
        quality_score TEXT,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX template_name ON template (company_id, waba_id, name, language)",
];

const DOWN: &[&str] = &["DROP TABLE template", "DROP TABLE channel"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
