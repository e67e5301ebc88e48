//! No command creates or migrates a database by chance.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sea_orm::{ConnectionTrait as _, Database};
use serde_json::json;

use crate::child::OwnedChild;
use crate::program::Place;
use crate::serving::SERVE;

const ID: &str = "01a1fbee-35a9-7718-aeb1-4759b6f48ff5";

/// Every command that works on a database that is there, by the name of its manual page, with arguments that it takes.
/// `ID` stands for the id of something.
const COMMANDS: &[(&str, &str)] = &[
    ("backup", "out.backup"),
    (
        "channel-add-business",
        "--company A --name B --phone-number 5511988887777 --waba-id 1 --phone-number-id 2 --token-file t",
    ),
    ("channel-add-web", "--company A --name B"),
    ("channel-list", ""),
    ("channel-pair", "ID"),
    ("channel-reconnect", "ID"),
    ("channel-set-tier", "ID high"),
    ("channel-show", "ID"),
    ("channel-unlink", "ID"),
    ("channel-webhook", "ID"),
    ("cluster-drain", "a"),
    ("cluster-status", ""),
    ("cluster-undrain", "a"),
    ("company-disable", "A"),
    ("company-list", ""),
    ("company-rename", "A B"),
    ("company-set-country", "A BR"),
    ("company-set-tier", "A high"),
    ("contacts-export", "--company A"),
    ("contacts-import", "people.csv --company A"),
    ("key-create", "--company A"),
    ("key-list", ""),
    ("key-revoke", "ID"),
    ("migrate-down", "--steps 1"),
    ("migrate-status", ""),
    ("operator-create", "ana"),
    ("operator-list", ""),
    ("operator-revoke", "ana"),
    ("plan", "--channel ID --number 5511988887777"),
    ("prices-apply", "prices.csv"),
    ("prices-list", ""),
    ("prices-remove", "2027-01-01"),
    ("prices-show", ""),
    ("secrets-discard", "0011223344556677"),
    ("secrets-forget", "0011223344556677"),
    ("secrets-list", ""),
    ("secrets-rotate", ""),
    ("send", "--channel ID --to 5511988887777 --text hello"),
    ("suppression-add", "5511988887777 --company A"),
    ("suppression-lift", "5511988887777 --company A"),
    ("suppression-list", "--company A"),
    ("template-list", "--company A"),
    ("template-sync", "--channel ID"),
    ("tier-apply", "tiers.toml"),
    ("tier-delete", "high"),
    ("tier-edit", "high"),
    ("tier-history", ""),
    ("tier-list", ""),
    ("tier-rename", "high higher"),
    ("tier-rollback", "high"),
    ("tier-set", "high burst=2"),
    ("tier-show", "high"),
    ("user-create", "ana@example.com --operator"),
    ("user-disable", "ana@example.com"),
    ("user-invite", "ana@example.com --operator"),
    ("user-list", ""),
    ("user-reset", "ana@example.com"),
    ("user-sign-in", "ana@example.com"),
    ("webhook-add", "https://example.com/hook --company A"),
    ("webhook-change", "ID --batch 9"),
    ("webhook-delete", "ID"),
    ("webhook-deliveries", "ID"),
    ("webhook-disable", "ID"),
    ("webhook-enable", "ID"),
    ("webhook-list", ""),
    ("webhook-rotate-secret", "ID"),
    ("webhook-send-again", "ID"),
    ("webhook-show", "ID"),
];
/// Those that may create a database.
const CREATE: &[&str] = &["company-create", "demo", "migrate-up", "restore", "serve"];
/// Those that use no database of the configuration, or only look whether it is there.
const OTHERS: &[&str] = &[
    "completions",
    "demo-phone",
    "doctor",
    "explain",
    "health",
    "loadtest",
    "loadtest-compare",
    "man",
    "simulator",
    "simulator-accounts",
    "simulator-messages",
    "simulator-numbers",
    "simulator-recipients",
    "simulator-reset",
    "simulator-script",
    "simulator-timeline",
    "simulator-webhooks",
];
/// Those that do something of their own and have further commands.
const WITH_OTHERS: &[&str] = &["demo", "loadtest", "simulator"];
/// Those that work on a schema of any version.
const ANY_VERSION: &[&str] = &["backup", "migrate-down", "migrate-status"];

fn place() -> Place {
    let place = Place::new();
    place.write("t", "a-token");
    place.write("people.csv", "phone_number\n+5511988887777\n");
    place.write(
        "prices.csv",
        "# date: 2027-01-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\nAll,*,1,1,1\n",
    );
    place.write("tiers.toml", "[new]\nkind = \"web_session\"\nmessages_per_second = \"1/s\"\n");
    place
}

fn line(page: &str, arguments: &str) -> String {
    // The second word of a page's name may have hyphens of its own.
    let command = page.replacen('-', " ", 1);
    format!("{command} {}", arguments.replace("ID", ID))
}

/// All files with their contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
    found
}

/// The names of the pages of all commands that do something.
fn pages() -> BTreeSet<String> {
    let place = Place::new();
    place.json("man pages");
    let names = fs::read_dir(place.path().join("pages")).unwrap();
    let names: BTreeSet<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let names: BTreeSet<_> = names
        .iter()
        .filter_map(|name| Some(name.strip_prefix("pombo-")?.strip_suffix(".1")?.to_owned()))
        .collect();
    let is_group = |name: &String| names.iter().any(|other| other.starts_with(&format!("{name}-")));
    names.iter().filter(|name| WITH_OTHERS.contains(&name.as_str()) || !is_group(name)).cloned().collect()
}

#[test]
fn every_command_is_known_to_create_a_database_or_not() {
    let known = COMMANDS.iter().map(|(page, _)| page).chain(CREATE).chain(OTHERS);
    let known: BTreeSet<_> = known.map(|page| (*page).to_owned()).collect();
    assert_eq!(known, pages());
}

#[test]
fn a_command_says_that_there_is_no_database_and_creates_none() {
    let place = place();
    let before = files(place.path());
    for (page, arguments) in COMMANDS {
        let run = place.run(&line(page, arguments));
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{page}: {run:?}");
        let file = place.path().join("data/pombo.db");
        let sought = format!("there is no database at {}", file.display());
        assert!(run.stderr.contains(&sought), "{page}: {}", run.stderr);
        assert!(
            run.stderr.contains("--config") && run.stderr.contains("pombo serve"),
            "{page}: {}",
            run.stderr
        );
        assert_eq!(files(place.path()), before, "{page}");
    }
    for page in ["doctor", "explain standard", "health"] {
        place.run(page);
        assert_eq!(files(place.path()), before, "{page}");
    }
}

#[actix_web::test]
async fn a_command_migrates_no_database_and_says_what_to_run() {
    let place = place();
    place.json("company create A");
    let undone = place.json("migrate down --steps 1")["undone"].clone();
    let refused = |words: &str| {
        for (page, arguments) in COMMANDS.iter().filter(|(page, _)| !ANY_VERSION.contains(page)) {
            let run = place.run(&line(page, arguments));
            assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{page}: {run:?}");
            assert!(run.stderr.contains(words), "{page}: {}", run.stderr);
        }
        let run = place.run("company create B");
        assert!(run.code == Some(1) && run.stderr.contains(words), "{run:?}");
    };
    refused("older schema than this program: 1 migration missing");
    assert!(place.run("tier list").stderr.contains("`pombo migrate up`"));
    // A backup is the first step of an upgrade.
    place.json("backup old.backup");
    let steps = place.json("migrate status");
    let pending: Vec<_> = steps
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["applied"] == false)
        .map(|step| &step["name"])
        .collect();
    assert_eq!(json!(pending), undone);
    assert_eq!(place.json("migrate up")["applied"], undone);
    assert_eq!(place.json("company list")[0]["name"], "A");

    let url = format!("sqlite://{}", place.path().join("data/pombo.db").display());
    let database = Database::connect(&url).await.unwrap();
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_fly', 0)";
    database.execute_unprepared(newer).await.unwrap();
    database.close().await.unwrap();
    refused("migrated by a newer version of this program");
}

#[test]
fn a_key_is_made_only_for_a_new_database() {
    let place = place();
    place.json("company create A");
    let key = place.path().join("data/secret.key");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    // What seals nothing needs no key.
    assert_eq!(place.json("company list")[0]["name"], "A");
    assert!(!key.exists());
    // The database has a sealing key that is not here.
    fs::write(&key, &kept).unwrap();
    let add = "channel add-business --company A --name B --phone-number 5511988887777 --waba-id 1 --phone-number-id 2 \
               --token-file t";
    let channel = place.json(add)["id"].as_str().unwrap().to_owned();
    fs::remove_file(&key).unwrap();
    place.json("company create B");
    for line in ["secrets list", "secrets rotate", &format!("channel reconnect {channel} --token-file t")] {
        let run = place.run(line);
        assert_eq!(run.code, Some(1), "{line}: {run:?}");
        assert!(run.stderr.contains("no sealing key") && run.stderr.contains("secret.key"), "{}", run.stderr);
    }
    assert!(!key.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_are_not_undone_under_a_running_service() {
    let place = Place::new().with("POMBO__SERVER__BIND", "127.0.0.1:0");
    place.json("company create A");
    let mut service = OwnedChild::spawn(&mut place.command(SERVE));
    service.first_line();
    let refused = place.run("migrate down --steps 1");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(
        refused.stderr.contains("nothing was undone") && refused.stderr.contains("stop it"),
        "{refused:?}"
    );
    assert_eq!(place.json("company list")[0]["name"], "A");
    service.crash();
    assert_eq!(place.json("migrate down --steps 1")["undone"].as_array().map(Vec::len), Some(1));
}
