//! The schema of Pombo, step by step, for SQLite and PostgreSQL.
//!
//! The first steps are the schema of the first release, one for a noun. A change of it is a further step: a file that is
//! named as the step is, `mYYYYMMDD_NNNNNN_verb_noun`. Each step can be undone.
//!
//! Both databases get the same tables from the same statements. What differs is written as a word in braces, which
//! [`dialect`] replaces: `{uuid}`, `{bytes}`, `{int}` (64 bits), `{small}` (16 bits), `{serial}` (a counting primary
//! key), `{once}` (after it: no number is used again), `{bytewise}` (texts compared byte by byte), `{strict}` (SQLite's typed tables), `{clustered}` (rows kept in the
//! order of their primary key), `{hours of send_id}` (the first three bytes of a send's id) and `{references …}` (a foreign key that only SQLite has). A statement that begins with
//! `{postgres}` is for PostgreSQL alone, and one with `{sqlite}` for SQLite alone.

mod channels;
mod companies;
mod contact_index;
mod contacts;
mod imports;
mod m20261128_000002_find_messages;
mod m20261128_000003_index_number_checks;
mod m20261128_000005_create_channel_tier_end;
mod m20261128_000008_add_send_end_reason;
mod m20261128_000009_create_event_log;
mod m20261128_000010_create_webhooks;
mod m20261128_000011_create_template_account;
mod m20261128_000013_name_sends;
mod m20261128_000014_create_media;
mod m20261128_000015_create_draft;
mod m20261128_000016_create_rate_card;
mod m20261128_000017_create_contact_field;
mod m20261128_000018_create_segment_and_note;
mod m20261128_000020_create_alert_subscription;
mod m20261128_000021_add_company_look;
mod m20261129_000022_create_conversation;
mod m20261129_000023_create_inbound_file;
mod m20261129_000024_create_automatic_answer;
mod m20261129_000025_create_conversation_draft;
mod m20261129_000026_mark_answered_messages;
mod m20261129_000028_create_send_values;
mod m20261129_000029_create_graph_id;
mod m20261129_000030_keep_recipient_files;
mod m20261129_000032_shape_webhooks;
mod m20261129_000033_archive_templates;
mod m20261129_000034_create_connected_program;
mod m20261129_000039_name_writers;
mod m20261129_000040_hide_reading;
mod m20261129_000041_number_templates_once;
mod nodes;
mod operators;
mod outbox;
mod sends;
mod suppressions;
mod users;
mod web_sessions;

pub use sea_orm_migration::MigratorTrait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend};

/// All migrations, oldest first.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Step::boxed("m20261127_000001_create_companies", companies::UP, companies::DOWN),
            Step::boxed("m20261127_000002_create_operators", operators::UP, operators::DOWN),
            Step::boxed("m20261127_000003_create_users", users::UP, users::DOWN),
            Step::boxed("m20261127_000004_create_channels", channels::UP, channels::DOWN),
            Step::boxed("m20261127_000005_create_web_sessions", web_sessions::UP, web_sessions::DOWN),
            Step::boxed("m20261127_000006_create_contacts", contacts::UP, contacts::DOWN),
            Step::boxed("m20261127_000007_create_contact_index", contact_index::UP, contact_index::DOWN),
            Step::boxed("m20261127_000008_create_imports", imports::UP, imports::DOWN),
            Step::boxed("m20261127_000009_create_sends", sends::UP, sends::DOWN),
            Step::boxed("m20261127_000010_create_suppressions", suppressions::UP, suppressions::DOWN),
            Step::boxed("m20261127_000011_create_nodes", nodes::UP, nodes::DOWN),
            Step::boxed("m20261127_000012_create_outbox", outbox::UP, outbox::DOWN),
            Step::boxed(
                "m20261128_000002_find_messages",
                m20261128_000002_find_messages::UP,
                m20261128_000002_find_messages::DOWN,
            ),
            Step::boxed(
                "m20261128_000003_index_number_checks",
                m20261128_000003_index_number_checks::UP,
                m20261128_000003_index_number_checks::DOWN,
            ),
            Step::boxed(
                "m20261128_000005_create_channel_tier_end",
                m20261128_000005_create_channel_tier_end::UP,
                m20261128_000005_create_channel_tier_end::DOWN,
            ),
            Step::boxed(
                "m20261128_000008_add_send_end_reason",
                m20261128_000008_add_send_end_reason::UP,
                m20261128_000008_add_send_end_reason::DOWN,
            ),
            Step::boxed(
                "m20261128_000009_create_event_log",
                m20261128_000009_create_event_log::UP,
                m20261128_000009_create_event_log::DOWN,
            ),
            Step::boxed(
                "m20261128_000010_create_webhooks",
                m20261128_000010_create_webhooks::UP,
                m20261128_000010_create_webhooks::DOWN,
            ),
            Step::boxed(
                "m20261128_000011_create_template_account",
                m20261128_000011_create_template_account::UP,
                m20261128_000011_create_template_account::DOWN,
            ),
            Step::boxed(
                "m20261128_000013_name_sends",
                m20261128_000013_name_sends::UP,
                m20261128_000013_name_sends::DOWN,
            ),
            Step::boxed(
                "m20261128_000014_create_media",
                m20261128_000014_create_media::UP,
                m20261128_000014_create_media::DOWN,
            ),
            Step::boxed(
                "m20261128_000015_create_draft",
                m20261128_000015_create_draft::UP,
                m20261128_000015_create_draft::DOWN,
            ),
            Step::boxed(
                "m20261128_000016_create_rate_card",
                m20261128_000016_create_rate_card::UP,
                m20261128_000016_create_rate_card::DOWN,
            ),
            Step::boxed(
                "m20261128_000017_create_contact_field",
                m20261128_000017_create_contact_field::UP,
                m20261128_000017_create_contact_field::DOWN,
            ),
            Step::boxed(
                "m20261128_000018_create_segment_and_note",
                m20261128_000018_create_segment_and_note::UP,
                m20261128_000018_create_segment_and_note::DOWN,
            ),
            Step::boxed(
                "m20261128_000020_create_alert_subscription",
                m20261128_000020_create_alert_subscription::UP,
                m20261128_000020_create_alert_subscription::DOWN,
            ),
            Step::boxed(
                "m20261128_000021_add_company_look",
                m20261128_000021_add_company_look::UP,
                m20261128_000021_add_company_look::DOWN,
            ),
            Step::boxed(
                "m20261129_000022_create_conversation",
                m20261129_000022_create_conversation::UP,
                m20261129_000022_create_conversation::DOWN,
            ),
            Step::boxed(
                "m20261129_000023_create_inbound_file",
                m20261129_000023_create_inbound_file::UP,
                m20261129_000023_create_inbound_file::DOWN,
            ),
            Step::boxed(
                "m20261129_000024_create_automatic_answer",
                m20261129_000024_create_automatic_answer::UP,
                m20261129_000024_create_automatic_answer::DOWN,
            ),
            Step::boxed(
                "m20261129_000025_create_conversation_draft",
                m20261129_000025_create_conversation_draft::UP,
                m20261129_000025_create_conversation_draft::DOWN,
            ),
            Step::boxed(
                "m20261129_000026_mark_answered_messages",
                m20261129_000026_mark_answered_messages::UP,
                m20261129_000026_mark_answered_messages::DOWN,
            ),
            Step::boxed(
                "m20261129_000028_create_send_values",
                m20261129_000028_create_send_values::UP,
                m20261129_000028_create_send_values::DOWN,
            ),
            Step::boxed(
                "m20261129_000029_create_graph_id",
                m20261129_000029_create_graph_id::UP,
                m20261129_000029_create_graph_id::DOWN,
            ),
            Step::boxed(
                "m20261129_000030_keep_recipient_files",
                m20261129_000030_keep_recipient_files::UP,
                m20261129_000030_keep_recipient_files::DOWN,
            ),
            Step::boxed(
                "m20261129_000032_shape_webhooks",
                m20261129_000032_shape_webhooks::UP,
                m20261129_000032_shape_webhooks::DOWN,
            ),
            Step::boxed(
                "m20261129_000033_archive_templates",
                m20261129_000033_archive_templates::UP,
                m20261129_000033_archive_templates::DOWN,
            ),
            Step::boxed(
                "m20261129_000034_create_connected_program",
                m20261129_000034_create_connected_program::UP,
                m20261129_000034_create_connected_program::DOWN,
            ),
            Step::boxed(
                "m20261129_000039_name_writers",
                m20261129_000039_name_writers::UP,
                m20261129_000039_name_writers::DOWN,
            ),
            Step::boxed(
                "m20261129_000040_hide_reading",
                m20261129_000040_hide_reading::UP,
                m20261129_000040_hide_reading::DOWN,
            ),
            Step::boxed(
                "m20261129_000041_number_templates_once",
                m20261129_000041_number_templates_once::UP,
                m20261129_000041_number_templates_once::DOWN,
            ),
        ]
    }
}

/// The first step of the schema that databases had before the first release. No later program can use those.
pub const UNRELEASED: &str = "m20261121_000001_create_companies";

/// Creates the tables as a database has them to which these migrations were applied, without noting that they were. The
/// database must be empty.
///
/// # Errors
///
/// When a statement fails. The statements before it stay, unless the caller's transaction ends.
pub async fn create_as_of(db: &DatabaseConnection, versions: &[String]) -> Result<(), DbErr> {
    Migrator::install(db).await?;
    let manager = SchemaManager::new(db);
    for migration in Migrator::migrations() {
        if versions.iter().any(|version| version == migration.name()) {
            migration.up(&manager).await?;
        }
    }
    Ok(())
}

/// A step that consists of statements.
struct Step {
    name: &'static str,
    up: &'static [&'static str],
    down: &'static [&'static str],
}

impl Step {
    fn boxed(
        name: &'static str,
        up: &'static [&'static str],
        down: &'static [&'static str],
    ) -> Box<dyn MigrationTrait> {
        Box::new(Self { name, up, down })
    }
}

impl MigrationName for Step {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run(manager, self.up).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run(manager, self.down).await
    }

    /// A step that is interrupted leaves nothing behind, on SQLite either.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// Runs `statements` in order.
async fn run(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    let backend = manager.get_database_backend();
    for statement in statements {
        let (only, statement) = match statement.split_once("} ") {
            Some(("{postgres", statement)) => (Some(DbBackend::Postgres), statement),
            Some(("{sqlite", statement)) => (Some(DbBackend::Sqlite), statement),
            _ => (None, *statement),
        };
        if only.is_none_or(|only| only == backend) {
            manager.get_connection().execute_unprepared(&dialect(backend, statement)).await?;
        }
    }
    Ok(())
}

/// Replaces the words in braces with what they are in the database.
fn dialect(backend: DbBackend, sql: &str) -> String {
    let words = match backend {
        DbBackend::Postgres => [
            ("{uuid}", "UUID"),
            ("{bytes}", "BYTEA"),
            ("{int}", "BIGINT"),
            ("{small}", "SMALLINT"),
            ("{serial}", "BIGINT GENERATED BY DEFAULT AS IDENTITY"),
            ("{once}", ""),
            ("{bytewise}", r#"COLLATE "C""#),
            ("{strict}", ""),
            ("{clustered}", ""),
            ("{hours of send_id}", "(substring(uuid_send(send_id) FROM 1 FOR 3))"),
            ("{references company}", ""),
            ("{references contact}", ""),
            ("{references tag}", ""),
        ],
        _ => [
            ("{uuid}", "BLOB"),
            ("{bytes}", "BLOB"),
            ("{int}", "INTEGER"),
            ("{small}", "INTEGER"),
            ("{serial}", "INTEGER"),
            ("{once}", "AUTOINCREMENT"),
            ("{bytewise}", ""),
            ("{strict}", "STRICT"),
            ("{clustered}", "WITHOUT ROWID, STRICT"),
            ("{hours of send_id}", "substr(send_id, 1, 3)"),
            ("{references company}", "REFERENCES company (id)"),
            ("{references contact}", "REFERENCES contact (id)"),
            ("{references tag}", "REFERENCES tag (id)"),
        ],
    };
    words.iter().fold(sql.to_owned(), |sql, (word, meaning)| sql.replace(word, meaning))
}
