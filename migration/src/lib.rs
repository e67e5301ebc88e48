//! The schema of Pombo, step by step, for SQLite and PostgreSQL.
//!
//! Both databases get the same tables from the same statements. A type whose name differs is written as a word in
//! braces, which [`dialect`] replaces: `{uuid}`, `{bytes}`, `{int}` (64 bits), `{small}` (16 bits), `{serial}` (a
//! counting primary key), `{bytewise}` (texts compared byte by byte), `{strict}` (SQLite's typed tables) and
//! `{clustered}` (rows kept in the order of their primary key).

pub use sea_orm_migration::MigratorTrait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend};

mod m20261121_000001_create_companies;
mod m20261121_000002_create_channels;
mod m20261121_000003_create_contacts;
mod m20261121_000004_create_sends;
mod m20261121_000005_add_controls_to_sends;
mod m20261121_000006_create_suppressions;
mod m20261121_000007_create_idempotency_keys;
mod m20261121_000010_create_operators;
mod m20261121_000020_number_contacts;
mod m20261121_000021_index_contacts;
mod m20261121_000022_lighten_contact_writes;
mod m20261121_000030_create_forgotten_sends;
mod m20261121_000040_create_web_session_records;
mod m20261121_000050_create_web_session_contacts;
mod m20261122_000060_index_withdrawn_sends;
mod m20261122_000062_keep_when_states_were_said;
mod m20261122_000064_add_trials_to_channels;
mod m20261122_000065_add_taken_at_to_messages;
mod m20261122_000066_add_verify_tokens_to_channels;
mod m20261122_000070_create_users;
mod m20261122_000071_add_scopes_to_api_keys;
mod m20261122_000072_import_and_delete_contacts;
mod m20261122_000073_create_send_sources;
mod m20261122_000075_index_changes;
mod m20261122_000076_index_failed_sign_ins;
mod m20261123_000077_create_nodes;
mod m20261123_000078_create_outbox_events;
mod m20261126_000030_version_credentials;
mod m20261126_000040_share_sign_in_state;
mod m20261126_000080_create_sealing_keys;
mod m20261126_000081_describe_nodes;
mod m20261126_000090_know_people_by_one_number;
mod m20261126_000091_add_opt_out_words;
mod m20261126_000100_add_company_country;
mod m20261126_000110_refold_contacts;
mod m20261126_000111_keep_forms;

/// All migrations, oldest first.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261121_000001_create_companies::Migration),
            Box::new(m20261121_000002_create_channels::Migration),
            Box::new(m20261121_000003_create_contacts::Migration),
            Box::new(m20261121_000004_create_sends::Migration),
            Box::new(m20261121_000005_add_controls_to_sends::Migration),
            Box::new(m20261121_000006_create_suppressions::Migration),
            Box::new(m20261121_000007_create_idempotency_keys::Migration),
            Box::new(m20261121_000010_create_operators::Migration),
            Box::new(m20261121_000020_number_contacts::Migration),
            Box::new(m20261121_000021_index_contacts::Migration),
            Box::new(m20261121_000022_lighten_contact_writes::Migration),
            Box::new(m20261121_000030_create_forgotten_sends::Migration),
            Box::new(m20261121_000040_create_web_session_records::Migration),
            Box::new(m20261121_000050_create_web_session_contacts::Migration),
            Box::new(m20261122_000060_index_withdrawn_sends::Migration),
            Box::new(m20261122_000062_keep_when_states_were_said::Migration),
            Box::new(m20261122_000064_add_trials_to_channels::Migration),
            Box::new(m20261122_000065_add_taken_at_to_messages::Migration),
            Box::new(m20261122_000066_add_verify_tokens_to_channels::Migration),
            Box::new(m20261122_000070_create_users::Migration),
            Box::new(m20261122_000071_add_scopes_to_api_keys::Migration),
            Box::new(m20261122_000072_import_and_delete_contacts::Migration),
            Box::new(m20261122_000073_create_send_sources::Migration),
            Box::new(m20261122_000075_index_changes::Migration),
            Box::new(m20261122_000076_index_failed_sign_ins::Migration),
            Box::new(m20261123_000077_create_nodes::Migration),
            Box::new(m20261123_000078_create_outbox_events::Migration),
            Box::new(m20261126_000030_version_credentials::Migration),
            Box::new(m20261126_000040_share_sign_in_state::Migration),
            Box::new(m20261126_000080_create_sealing_keys::Migration),
            Box::new(m20261126_000081_describe_nodes::Migration),
            Box::new(m20261126_000090_know_people_by_one_number::Migration),
            Box::new(m20261126_000091_add_opt_out_words::Migration),
            Box::new(m20261126_000100_add_company_country::Migration),
            Box::new(m20261126_000110_refold_contacts::Migration),
            Box::new(m20261126_000111_keep_forms::Migration),
        ]
    }
}

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

/// Replaces the words in braces with the type names of the database.
fn dialect(backend: DbBackend, sql: &str) -> String {
    let words = match backend {
        DbBackend::Postgres => [
            ("{uuid}", "UUID"),
            ("{bytes}", "BYTEA"),
            ("{int}", "BIGINT"),
            ("{small}", "SMALLINT"),
            ("{serial}", "BIGINT GENERATED BY DEFAULT AS IDENTITY"),
            ("{bytewise}", r#"COLLATE "C""#),
            ("{strict}", ""),
            ("{clustered}", ""),
        ],
        _ => [
            ("{uuid}", "BLOB"),
            ("{bytes}", "BLOB"),
            ("{int}", "INTEGER"),
            ("{small}", "INTEGER"),
            ("{serial}", "INTEGER"),
            ("{bytewise}", ""),
            ("{strict}", "STRICT"),
            ("{clustered}", "WITHOUT ROWID, STRICT"),
        ],
    };
    words.iter().fold(sql.to_owned(), |sql, (word, meaning)| sql.replace(word, meaning))
}

/// Runs `statements` in order.
async fn run(manager: &SchemaManager<'_>, statements: &[&str]) -> Result<(), DbErr> {
    let backend = manager.get_database_backend();
    for statement in statements {
        manager.get_connection().execute_unprepared(&dialect(backend, statement)).await?;
    }
    Ok(())
}
