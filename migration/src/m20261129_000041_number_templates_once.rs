//! Templates whose numbers are never used again: a program that still has the number of a deleted template must not get, change
//! or delete another one. PostgreSQL counts on in any case. SQLite takes the largest number in the table and one more, unless
//! the table says otherwise, which only a new table can.

/// The table, with what follows its primary key.
macro_rules! template_once {
    ($once:literal) => {
        concat!(
            "{sqlite} CREATE TABLE template_once (
                id {serial} PRIMARY KEY ",
            $once,
            ",
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
                updated_at {int} NOT NULL,
                revision {int} NOT NULL DEFAULT 0,
                status_said_at {int} NOT NULL DEFAULT 0,
                quality_said_at {int} NOT NULL DEFAULT 0,
                category_said_at {int} NOT NULL DEFAULT 0,
                archived_at {int}
            ) {strict}"
        )
    };
}

const COPY: &str = "{sqlite} INSERT INTO template_once (
        id, company_id, waba_id, provider_id, name, language, category, status, parameter_format, components,
        rejected_reason, quality_score, created_at, updated_at, revision, status_said_at, quality_said_at,
        category_said_at, archived_at)
    SELECT
        id, company_id, waba_id, provider_id, name, language, category, status, parameter_format, components,
        rejected_reason, quality_score, created_at, updated_at, revision, status_said_at, quality_said_at,
        category_said_at, archived_at
    FROM template";
const DROP: &str = "{sqlite} DROP TABLE template";
const RENAME: &str = "{sqlite} ALTER TABLE template_once RENAME TO template";
const NAME: &str =
    "{sqlite} CREATE UNIQUE INDEX template_name ON template (company_id, waba_id, name, language)";
const REVISION: &str = "{sqlite} CREATE INDEX template_revision ON template (revision)";

pub(crate) const UP: &[&str] = &[template_once!("{once}"), COPY, DROP, RENAME, NAME, REVISION];

pub(crate) const DOWN: &[&str] = &[template_once!(""), COPY, DROP, RENAME, NAME, REVISION];
