//! Backups of a database in use, and services on restored databases.

mod broken_off;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod refusals;
mod world;

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::store::Store;
use sea_orm::{ConnectionTrait as _, Database, Statement};
use serde_json::{Value, json};

use self::world::{World, restore};
use crate::database::{Universe, stores};
use crate::program::Place;
use crate::running::until;

stores!(
    messages_sent_since_a_backup_are_not_sent_again,
    sends_go_on_where_they_were_when_nothing_was_sent_since,
    a_restored_database_says_which_key_it_needs,
    a_link_that_was_used_and_a_session_that_was_ended_do_not_come_back,
    keys_that_were_revoked_since_the_backup_are_valid_again_unless_all_access_is_revoked,
    a_backup_of_an_older_schema_is_restored_and_brought_up_to_date,
    numbers_of_deleted_templates_are_not_used_again_after_a_restore,
);

/// Recipients of the send that is under way during the backup.
const RECIPIENTS: u64 = 160;

async fn send_record(world: &World, url: &str, id: &str) -> Value {
    world.serving.list(url, &format!("/api/v1/sends/{id}")).await.json()
}

async fn messages_sent_since_a_backup_are_not_sent_again(universe: &Universe) {
    let mut world = World::new(universe, RECIPIENTS).await;
    world.pace("10/s");
    let (mut service, url) = world.serving.serve().await;
    let bulk = world.send(&url, json!({})).await;
    let in_a_month = Timestamp::now().plus(Duration::from_secs(30 * 24 * 3_600)).to_string();
    let later = world.send(&url, json!({ "send_at": in_a_month })).await;
    world.delivered(5).await;

    // A service goes on while it is backed up, and refuses to be replaced.
    let made = world.place().json("backup early.backup");
    assert!(made["bytes"].as_u64().unwrap() > 1_000, "{made}");
    assert!(made["key_file"].as_str().unwrap().ends_with("secret.key"), "{made}");
    let held = world.place().run("restore early.backup --force");
    assert_eq!(held.code, Some(1), "{held:?}");
    assert!(held.stderr.contains("already dispatches"), "{held:?}");

    world.pace("unlimited");
    world.delivered(RECIPIENTS).await;
    world.cancel(&url, &later).await;
    service.crash();
    let refused = world.place().run("restore early.backup");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");

    let restored = restore(&world, "early.backup --force");
    assert_eq!((&restored["ended_sends"], &restored["paused_sends"]), (&json!(1), &json!(1)), "{restored}");
    assert_eq!(restored["missing_keys"], json!([]));
    let unknown = restored["unknown_messages"].as_u64().unwrap();
    assert!((1..=RECIPIENTS).contains(&unknown), "{restored}");

    let (mut service, url) = world.serving.serve().await;
    let record = send_record(&world, &url, &bulk).await;
    assert_eq!(record["state"], "canceled", "{record}");
    // The record says that the restore ended it, and what to do.
    let reason = &record["end_reason"];
    assert_eq!(reason["code"], "restored", "{record}");
    assert!(reason["sentence"].as_str().unwrap().contains("/retry"), "{record}");
    let counts = &record["counts"];
    assert_eq!(counts["queued"].as_u64().unwrap() + counts["canceled"].as_u64().unwrap(), 0, "{record}");
    let left = counts["unknown"].as_u64().unwrap();
    assert!(left > 0 && left <= unknown, "{record} {restored}");
    assert_eq!(left + counts["sent"].as_u64().unwrap(), RECIPIENTS, "{record}");
    // The send was canceled after the backup, so the restored database does not know that: a person decides.
    let paused = send_record(&world, &url, &later).await;
    assert_eq!((&paused["state"], &paused["end_reason"]), (&json!("paused"), &Value::Null));

    // Messages in the channel's lanes go before later ones.
    let after = world.to_one(&url).await;
    world.delivered(RECIPIENTS + 1).await;
    assert_eq!(world.serving.figures().0, RECIPIENTS + 1, "only {after} went");
    let again = world.retry(&url, &bulk, true).await;
    assert_eq!(
        (again.status, again.json()["recipients_count"].as_u64()),
        (200, Some(left)),
        "{}",
        again.body
    );
    let changes = universe_changes(universe).await;
    assert!(changes.contains("database"), "{changes}");
    service.crash();
}

/// The kinds of changes that are recorded.
async fn universe_changes(universe: &Universe) -> String {
    let store = Store::open(&universe.options()).await.unwrap();
    let page = pombo::domain::page::PageRequest { page: 1, limit: 50 };
    let changes = store.changes().page(pombo::store::changes::Filter::default(), page).await.unwrap();
    store.close().await;
    changes.records.iter().map(|change| change.what.as_str()).collect::<Vec<_>>().join(" ")
}

async fn sends_go_on_where_they_were_when_nothing_was_sent_since(universe: &Universe) {
    let mut world = World::new(universe, RECIPIENTS).await;
    world.pace("10/s");
    let (mut service, url) = world.serving.serve().await;
    let bulk = world.send(&url, json!({})).await;
    world.delivered(5).await;
    // The service stops gracefully when its input ends, and leaves no message with an unknown outcome.
    drop(service.stdin.take());
    assert!(service.wait().unwrap().success());
    let before = world.serving.figures().0;
    world.place().json("backup moved.backup");
    world.pace("unlimited");
    let restored = restore(&world, "moved.backup --force --nothing-sent-since");
    assert_eq!((&restored["ended_sends"], &restored["paused_sends"]), (&json!(0), &json!(0)), "{restored}");
    world.pace("unlimited");

    let (mut service, url) = world.serving.serve().await;
    world.finished(&url, &bulk).await;
    assert!(before < RECIPIENTS, "the send was over before the backup");
    assert_eq!(world.serving.figures(), (RECIPIENTS, RECIPIENTS), "everybody heard once");
    service.crash();
}

async fn a_restored_database_says_which_key_it_needs(universe: &Universe) {
    let world = World::new(universe, 0).await;
    world.place().json("backup keyed.backup");
    let key_file = world.place().path().join("data/secret.key");
    let aside = world.place().path().join("aside.key");
    std::fs::rename(&key_file, &aside).unwrap();
    let restored = restore(&world, "keyed.backup --force");
    let missing = restored["missing_keys"].as_array().unwrap();
    // At least a token and an app secret.
    assert!(missing.len() == 1 && missing[0]["secrets"].as_u64().unwrap() >= 2, "{restored}");
    assert!(!key_file.exists(), "a new key would hide that the old one is missing");
    let told = world.place().run("restore keyed.backup --force");
    let id = missing[0]["key"].as_str().unwrap();
    assert!(told.stdout.contains("MISSING KEY") && told.stdout.contains(id), "{told:?}");
    std::fs::rename(&aside, &key_file).unwrap();
    let restored = restore(&world, "keyed.backup --force");
    assert_eq!(restored["missing_keys"], json!([]), "{restored}");
    let listed = world.place().json("secrets list");
    assert_eq!(listed[0]["id"], id);
}

async fn a_link_that_was_used_and_a_session_that_was_ended_do_not_come_back(universe: &Universe) {
    let place = place(universe).await;
    let made = place.json("user create ana@example.com --operator");
    assert!(made["link"].as_str().is_some_and(|link| link.contains("/console/link/")), "{made}");
    place.json("backup people.backup");
    assert_eq!(rows(universe, "link").await, 1);
    place.json("restore people.backup --force");
    assert_eq!((rows(universe, "link").await, rows(universe, "user_session").await), (0, 0));
    // The user still exists, and can get a new link.
    assert_eq!(place.json("user list").as_array().unwrap().len(), 1);
    place.json("restore people.backup --force --nothing-sent-since");
    assert_eq!(rows(universe, "link").await, 1, "nothing happened since: what was valid is valid");
}

async fn keys_that_were_revoked_since_the_backup_are_valid_again_unless_all_access_is_revoked(
    universe: &Universe,
) {
    let mut world = World::new(universe, 0).await;
    let operator = world.place().json("operator create bot")["key"].as_str().unwrap().to_owned();
    world.place().json("user create ana@example.com --operator");
    world.place().json("backup keys.backup");
    let key = world.place().json("key list --company Acme")[0]["id"].as_str().unwrap().to_owned();
    world.place().json(&format!("key revoke {key}"));
    let statuses = async |world: &World, url: &str| {
        let company = world.serving.list(url, "/api/v1/chat").await.status;
        let request = reqwest::Client::new().get(format!("{url}/operator/v1/tiers"));
        (company, crate::harness::Answer::to(request.bearer_auth(&operator)).await.status)
    };
    let told = world.place().run("restore keys.backup --force --nothing-sent-since");
    assert!(told.stdout.contains("--revoke-access"), "{told:?}");
    let (mut service, url) = world.serving.serve().await;
    assert_eq!(statuses(&world, &url).await, (200, 200));
    service.crash();
    let restored = restore(&world, "keys.backup --force --nothing-sent-since --revoke-access");
    assert_eq!(restored["revoked_keys"], 2, "{restored}");
    assert_eq!((rows(universe, "link").await, rows(universe, "user_session").await), (0, 0));
    let (mut service, url) = world.serving.serve().await;
    assert_eq!(statuses(&world, &url).await, (401, 401));
    // New keys work.
    world.serving.key = world.place().json("key create --company Acme")["key"].as_str().unwrap().to_owned();
    until("the new key works", async || statuses(&world, &url).await == (200, 401)).await;
    service.crash();
}

async fn a_backup_of_an_older_schema_is_restored_and_brought_up_to_date(universe: &Universe) {
    let place = place(universe).await;
    place.json("company create Acme");
    let undone = place.json("migrate down --steps 1")["undone"].clone();
    place.json("backup older.backup");
    assert_eq!(place.json("migrate up")["applied"], undone);
    place.json("company create Later");
    place.json("restore older.backup --force");
    let steps = place.json("migrate status");
    assert!(steps.as_array().unwrap().iter().all(|step| step["applied"] == true), "{steps}");
    let companies = place.json("company list");
    assert!(companies[0]["name"] == "Acme" && companies[1].is_null(), "{companies}");
}

async fn numbers_of_deleted_templates_are_not_used_again_after_a_restore(universe: &Universe) {
    let place = place(universe).await;
    place.json("company create Acme");
    let add = "INSERT INTO template (company_id, waba_id, provider_id, name, language, category, status, \
               parameter_format, components, created_at, updated_at) \
               SELECT id, 'web', '', 'ready', 'en', 'UTILITY', 'APPROVED', 'POSITIONAL', '[]', 0, 0 FROM company";
    let run = async |statements: &[&str]| {
        let database = Database::connect(&universe.url).await.unwrap();
        for sql in statements {
            database.execute_unprepared(sql).await.unwrap();
        }
        database.close().await.unwrap();
    };
    run(&[add]).await;
    let deleted = number(universe, "SELECT id FROM template").await;
    run(&["DELETE FROM template"]).await;
    place.json("backup one.backup");
    place.json("restore one.backup --force");
    run(&[add]).await;
    assert!(number(universe, "SELECT id FROM template").await > deleted);
}

/// The program on this database, which nobody else has open then.
async fn place(universe: &Universe) -> Place {
    universe.store.clone().close().await;
    Place::new().with("POMBO__DATABASE__URL", &universe.url)
}

async fn rows(universe: &Universe, table: &str) -> i64 {
    number(universe, &format!("SELECT COUNT(*) FROM {table}")).await
}

async fn number(universe: &Universe, sql: &str) -> i64 {
    let connection = Database::connect(&universe.url).await.unwrap();
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await.unwrap().unwrap();
    connection.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}
