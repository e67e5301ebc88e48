//! Backups that a stranger made: their rows are restored, and nothing in them runs.

use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};

use crate::database::Universe;
use crate::program::Place;

async fn connect(url: &str) -> DatabaseConnection {
    Database::connect(url).await.unwrap()
}

async fn count(on: &DatabaseConnection, sql: &str) -> i64 {
    let statement = Statement::from_string(on.get_database_backend(), sql);
    on.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

fn names(place: &Place) -> Vec<String> {
    let listed = place.json("company list");
    listed.as_array().unwrap().iter().map(|company| company["name"].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn triggers_and_views_of_a_stranger_s_sqlite_file_are_left_out() {
    let universe = Universe::sqlite().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    universe.store.clone().close().await;
    place.json("company create Acme");
    place.json("key create --company Acme");
    place.json("backup evil.backup");
    let file = format!("sqlite://{}", place.path().join("evil.backup").display());
    let stranger = connect(&file).await;
    for sql in [
        "CREATE TRIGGER evil AFTER UPDATE OF revoked_at ON api_key BEGIN \
         UPDATE api_key SET revoked_at = NULL WHERE id = new.id; END",
        "CREATE VIEW spy AS SELECT * FROM api_key",
        "CREATE TABLE song (name TEXT)",
        "UPDATE company SET name = 'Theirs'",
    ] {
        stranger.execute_unprepared(sql).await.unwrap();
    }
    stranger.close().await.unwrap();
    let restored = place.json("restore evil.backup --force");
    assert_eq!(restored["ignored_objects"], 3, "{restored}");
    assert_eq!(names(&place), ["Theirs"]);
    let ours = connect(&universe.url).await;
    let foreign = "SELECT COUNT(*) FROM sqlite_schema WHERE type IN ('trigger', 'view') OR name IN ('evil', 'spy', 'song')";
    assert_eq!(count(&ours, foreign).await, 0);
    ours.close().await.unwrap();
    // A key that is revoked stays revoked.
    let id = place.json("key list --company Theirs")[0]["id"].as_str().unwrap().to_owned();
    place.json(&format!("key revoke {id}"));
    assert!(place.json("key list --company Theirs")[0]["revoked_at"].is_string());

    // A table that is a view has no rows of its own.
    let stranger = connect(&file).await;
    for sql in [
        "PRAGMA legacy_alter_table = ON",
        "ALTER TABLE company RENAME TO hidden",
        "CREATE VIEW company AS SELECT * FROM hidden",
    ] {
        stranger.execute_unprepared(sql).await.unwrap();
    }
    stranger.close().await.unwrap();
    let refused = place.run("restore evil.backup --force");
    assert!(refused.code == Some(2) && refused.stderr.contains("is not a backup"), "{refused:?}");
    assert_eq!(names(&place), ["Theirs"]);
    universe.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn functions_and_triggers_of_a_stranger_s_archive_are_left_out_and_nothing_runs() {
    let universe = Universe::postgres().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    place.json("company create Acme");
    place.json("backup honest.backup");
    let ran = place.path().join("ran");
    let database = connect(&universe.url).await;
    let program = format!("COPY (SELECT 1) TO PROGRAM ''touch {}''", ran.display());
    for sql in [
        format!(
            "CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN EXECUTE '{program}'; RETURN new; END $$"
        ),
        // Enabled always, so that it would fire while rows are restored.
        "CREATE TRIGGER evil AFTER INSERT OR UPDATE ON company FOR EACH ROW EXECUTE FUNCTION evil()"
            .to_owned(),
        "ALTER TABLE company ENABLE ALWAYS TRIGGER evil".to_owned(),
        "CREATE VIEW spy AS SELECT * FROM api_key".to_owned(),
        "CREATE TABLE song (name TEXT)".to_owned(),
        "INSERT INTO song VALUES ('la')".to_owned(),
    ] {
        database.execute_unprepared(&sql).await.unwrap();
    }
    // A dump of everything, as its author makes it.
    let archive = place.path().join("evil.backup");
    let dumped = std::process::Command::new("pg_dump")
        .args(["--format=custom", "--file"])
        .arg(&archive)
        .arg(format!("--dbname={}", universe.url))
        .status()
        .unwrap();
    assert!(dumped.success());
    database.close().await.unwrap();

    let other = Universe::postgres().await;
    let victim = Place::new().with("POMBO__DATABASE__URL", &other.url);
    let restored = victim.json(&format!("restore {} --force", archive.display()));
    assert!(restored["ignored_objects"].as_u64().unwrap() >= 4, "{restored}");
    assert_eq!(names(&victim), ["Acme"]);
    victim.json("company create Later");
    let database = connect(&other.url).await;
    let foreign = "SELECT (SELECT COUNT(*) FROM pg_proc WHERE proname = 'evil') \
                   + (SELECT COUNT(*) FROM pg_trigger WHERE tgname = 'evil') \
                   + (SELECT COUNT(*) FROM pg_class WHERE relname IN ('spy', 'song'))";
    assert_eq!(count(&database, foreign).await, 0);
    // Indexes and foreign keys are those of our own schema again, and sequences go on.
    let fresh = Universe::postgres().await;
    let new = connect(&fresh.url).await;
    let shape = "SELECT COUNT(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace";
    assert_eq!(count(&database, shape).await, count(&new, shape).await);
    let shape = "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = 'public'";
    assert_eq!(count(&database, shape).await, count(&new, shape).await);
    new.close().await.unwrap();
    database.close().await.unwrap();

    // The statement around the rows is the author's, too: here it runs a program on the server.
    let mut bytes = std::fs::read(place.path().join("honest.backup")).unwrap();
    let (start, length) = statement(&bytes, b"COPY public.channel (");
    let hostile = format!("COPY public.channel FROM PROGRAM 'touch {}';", ran.display());
    let padded = format!("{hostile:<width$}\n", width = length - 1);
    assert_eq!(padded.len(), length, "the statement is as long as before");
    bytes[start..start + length].copy_from_slice(padded.as_bytes());
    std::fs::write(victim.path().join("program.backup"), bytes).unwrap();
    let refused = victim.run("restore program.backup --force");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("does not write"), "{refused:?}");
    assert_eq!(names(&victim), ["Acme", "Later"], "the database is the old one");
    assert!(!ran.exists(), "a program ran");
    for universe in [fresh, other, universe] {
        universe.end().await;
    }
}

/// Where a statement of the archive begins, and its length.
fn statement(archive: &[u8], beginning: &[u8]) -> (usize, usize) {
    let start = archive.windows(beginning.len()).position(|window| window == beginning).unwrap();
    let end = archive[start..].iter().position(|byte| *byte == b'\n').unwrap();
    (start, end + 1)
}

#[actix_web::test]
#[ignore = "needs PostgreSQL: run scripts/test"]
async fn a_restore_needs_no_superuser_and_sequences_go_on() {
    let universe = Universe::postgres().await;
    let place = Place::new().with("POMBO__DATABASE__URL", &universe.url);
    place.json("company create Acme");
    let database = connect(&universe.url).await;
    let advanced = "SELECT setval(pg_get_serial_sequence('template', 'id'), 5000)";
    database.execute_unprepared(advanced).await.unwrap();
    place.json("backup one.backup");
    let role = format!("plain_{}", uuid::Uuid::now_v7().simple());
    let name = url::Url::parse(&universe.url).unwrap().path().trim_start_matches('/').to_owned();
    for sql in [
        format!("CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD 'plain'"),
        format!("ALTER DATABASE {name} OWNER TO {role}"),
        "DROP SCHEMA public CASCADE".to_owned(),
        format!("CREATE SCHEMA public AUTHORIZATION {role}"),
    ] {
        database.execute_unprepared(&sql).await.unwrap();
    }
    let mut plain = url::Url::parse(&universe.url).unwrap();
    plain.set_username(&role).unwrap();
    plain.set_password(Some("plain")).unwrap();
    let into = Place::new().with("POMBO__DATABASE__URL", plain.as_str());
    into.json(&format!("restore {}", place.path().join("one.backup").display()));
    assert_eq!(names(&into), ["Acme"]);
    assert!(count(&database, "SELECT last_value FROM template_id_seq").await >= 5000);
    let doctor = into.run("doctor --json");
    assert!(!doctor.stdout.contains("superuser"), "{doctor:?}");
    let doctor = place.run("doctor --json");
    assert!(doctor.stdout.contains("superuser"), "{doctor:?}");
    for sql in [
        format!("REASSIGN OWNED BY {role} TO CURRENT_USER"),
        format!("DROP OWNED BY {role}"),
        format!("DROP ROLE {role}"),
    ] {
        database.execute_unprepared(&sql).await.unwrap();
    }
    database.close().await.unwrap();
    universe.end().await;
}
