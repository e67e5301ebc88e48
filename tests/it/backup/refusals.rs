//! Refused backups and refused restores.

use crate::database::Universe;
use crate::program::{Place, Run};

fn refused(place: &Place, line: &str, code: i32, words: &str) -> Run {
    let run = place.run(line);
    assert_eq!(run.code, Some(code), "{line}: {run:?}");
    assert!(run.stderr.contains(words), "{line}: {run:?}");
    run
}

#[test]
fn a_backup_replaces_no_file_and_needs_a_database() {
    let place = Place::new();
    refused(&place, "backup one.backup", 1, "there is no database");
    assert!(!place.path().join("data/pombo.db").exists(), "asking must not make one");
    place.json("company create Acme");
    place.json("backup one.backup");
    let path = place.path().join("one.backup");
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "the backup holds people's data");
    refused(&place, "backup one.backup", 2, "exists already");
    refused(&place, "backup nowhere/one.backup", 1, "cannot write");
    let said = place.run("backup two.backup").stdout;
    assert!(said.contains("iB") && said.contains("secret.key"), "{said}");
    let names = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains(".pombo-backup")));
}

#[test]
fn only_a_backup_of_the_same_kind_of_database_is_restored() {
    let place = Place::new();
    place.write("text", "a text");
    refused(&place, "restore text", 2, "is not a backup");
    refused(&place, "restore nothing", 1, "cannot read");
    place.json("company create Acme");
    place.json("backup one.backup");
    let elsewhere = Place::new().with("POMBO__DATABASE__URL", "postgres://pombo:hunter2@127.0.0.1:1/pombo");
    let file = place.path().join("one.backup");
    let run = refused(&elsewhere, &format!("restore {}", file.display()), 2, "names a PostgreSQL database");
    assert!(!run.stderr.contains("hunter2"), "{run:?}");
}

#[actix_web::test]
async fn a_damaged_backup_and_another_program_s_database_replace_nothing() {
    let universe = Universe::sqlite().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    universe.store.clone().close().await;
    place.json("company create Acme");
    place.json("backup one.backup");
    let path = place.path().join("one.backup");
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    std::fs::write(place.path().join("cut.backup"), &bytes[..half]).unwrap();
    bytes[4096..12_288].fill(0xAA);
    std::fs::write(place.path().join("damaged.backup"), &bytes).unwrap();
    refused(&place, "restore cut.backup --force", 2, "is not a backup");
    refused(&place, "restore damaged.backup --force", 2, "is not a backup");
    let foreign = format!("sqlite://{}?mode=rwc", place.path().join("foreign.db").display());
    let connection = sea_orm::Database::connect(&foreign).await.unwrap();
    sea_orm::ConnectionTrait::execute_unprepared(&connection, "CREATE TABLE song (name TEXT)").await.unwrap();
    connection.close().await.unwrap();
    refused(&place, "restore foreign.db --force", 2, "is not a backup");
    assert_eq!(place.json("company list").as_array().unwrap().len(), 1);
    let into = Place::new().with("POMBO__DATABASE__URL", foreign);
    refused(&into, &format!("restore {} --force", path.display()), 1, "not Pombo's");
    universe.end().await;
}

#[actix_web::test]
async fn a_backup_of_a_schema_that_was_never_released_replaces_nothing() {
    use sea_orm::ConnectionTrait as _;

    let place = Place::new();
    place.json("company create Acme");
    place.json("backup old.backup");
    let backup = format!("sqlite://{}?mode=rw", place.path().join("old.backup").display());
    let connection = sea_orm::Database::connect(&backup).await.unwrap();
    let step =
        "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20261121_000001_create_companies', 0)";
    connection.execute_unprepared(step).await.unwrap();
    connection.close().await.unwrap();
    refused(&place, "restore old.backup --force", 1, "before the first release");
    assert_eq!(place.json("company list").as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn a_database_that_another_process_has_open_is_not_replaced() {
    let universe = Universe::sqlite().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    place.json("company create Acme");
    place.json("backup one.backup");
    universe.store.ping().await.unwrap();
    refused(&place, "restore one.backup --force", 1, "another process uses the database");
    assert_eq!(universe.store.companies().all().await.unwrap().len(), 1);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn without_postgresql_s_programs_the_refusal_says_what_to_install() {
    let universe = Universe::postgres().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url).with("PATH", "/nonexistent");
    let run = refused(&place, "backup one.backup", 1, "`pg_dump` is not installed");
    assert!(run.stderr.contains("postgresql-client"), "{run:?}");
    place.write("archive", "PGDMP and nothing else");
    refused(&place, "restore archive", 1, "`pg_restore` is not installed");
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn an_archive_that_is_damaged_newer_or_another_program_s_changes_nothing() {
    use sea_orm::ConnectionTrait as _;

    let universe = Universe::postgres().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    place.json("company create Acme");
    place.json("backup one.backup");
    let bytes = std::fs::read(place.path().join("one.backup")).unwrap();
    std::fs::write(place.path().join("cut.backup"), &bytes[..bytes.len() * 3 / 4]).unwrap();
    let cut = place.run("restore cut.backup --force");
    assert_eq!(cut.code, Some(1), "{cut:?}");
    let connection = sea_orm::Database::connect(&universe.url).await.unwrap();
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_fly', 0)";
    connection.execute_unprepared(newer).await.unwrap();
    place.json("backup newer.backup");
    connection.execute_unprepared("DELETE FROM seaql_migrations WHERE version LIKE '%fly'").await.unwrap();
    refused(&place, "restore newer.backup --force", 1, "newer version of Pombo");
    connection.close().await.unwrap();
    assert_eq!(place.json("company list").as_array().unwrap().len(), 1);

    let other = Universe::postgres().await;
    let connection = sea_orm::Database::connect(&other.url).await.unwrap();
    let drop = "DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = \
                current_schema() LOOP EXECUTE format('DROP TABLE %I CASCADE', name); END LOOP; END $$";
    connection.execute_unprepared(drop).await.unwrap();
    let into = Place::new().with("POMBO__DATABASE__URL", &other.url);
    let file = place.path().join("one.backup");
    // An empty database needs no --force.
    into.json(&format!("restore {}", file.display()));
    assert_eq!(into.json("company list").as_array().unwrap().len(), 1);
    connection.execute_unprepared(drop).await.unwrap();
    connection.execute_unprepared("CREATE TABLE song (name TEXT)").await.unwrap();
    refused(&into, &format!("restore {} --force", file.display()), 1, "not Pombo's");
    refused(&into, "backup foreign.backup", 1, "there is no database");
    let foreign = into.path().join("foreign.backup");
    let mut dump = std::process::Command::new("pg_dump");
    assert!(
        dump.args(["--format=custom", "--file"]).arg(&foreign).arg(&other.url).status().unwrap().success()
    );
    refused(&place, &format!("restore {} --force", foreign.display()), 2, "is not a backup");
    connection.close().await.unwrap();
    other.end().await;
    universe.end().await;
}
