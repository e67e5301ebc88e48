//! The keys that seal secrets, as an operator lists and rotates them.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::program::{Place, Run};
use crate::serving::SERVE;

const KEY: &str = "POMBO__SECRETS__KEY";
const PREVIOUS: &str = "POMBO__SECRETS__PREVIOUS_KEYS";
/// How long a service may take to log a finding.
const PATIENCE: Duration = Duration::from_secs(30);

/// Adds a business account with a token and an app secret; its id.
fn add_channel(place: &Place, number: u32) -> String {
    place.write("app-secret", "very-secret");
    let line = format!(
        "channel add-business --company Acme --name Shop --phone-number +5511988887{number:03} --waba-id 20 \
         --phone-number-id {number} --token-file - --app-secret-file app-secret"
    );
    place.json_with("EAAG-token", &line)["id"].as_str().unwrap().to_owned()
}

fn word(place: &Place, channel: &str) -> Value {
    place.json(&format!("channel webhook {channel}"))["verify_token"].clone()
}

/// Id, state, and how many tokens, app secrets and verify tokens, of each key.
fn keys(place: &Place) -> Vec<(Value, String, [u64; 3])> {
    let listed = place.json("secrets list");
    let rows = listed.as_array().unwrap().iter().map(|key| {
        let count = |name: &str| key[name].as_u64().unwrap();
        let counts = ["tokens", "app_secrets", "verify_tokens"].map(count);
        (key["id"].clone(), key["state"].as_str().unwrap().to_owned(), counts)
    });
    rows.collect()
}

fn key_file(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path().join("data/secret.key")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_rotation_seals_everything_with_a_new_key_and_keeps_the_old_one_until_it_is_discarded() {
    let place = Place::new();
    place.json("company create Acme");
    let channels = [add_channel(&place, 1), add_channel(&place, 2)];
    let words = channels.each_ref().map(|channel| word(&place, channel));
    assert_ne!(words[0], words[1]);
    let before = keys(&place);
    let [(old, state, counts)] = &before[..] else { panic!("{before:?}") };
    assert_eq!((state.as_str(), counts), ("current", &[2, 2, 2]));
    let old_line = key_file(&place);

    let rotated = place.json("secrets rotate");
    assert_ne!(&rotated["key"], old);
    assert_eq!((&rotated["added"], &rotated["retired"]), (&json!(true), &json!([old])));
    assert_eq!(rotated["resealed"]["tokens"], 2);
    assert_eq!(rotated["unopened"], 0);
    let current = (rotated["key"].clone(), "current".to_owned(), [2, 2, 2]);
    assert_eq!(keys(&place), [current.clone(), (old.clone(), "previous".to_owned(), [0; 3])]);
    let both = key_file(&place);
    assert_eq!((old_line.len(), both.len()), (1, 2));
    assert_eq!(both[1], old_line[0]);
    assert_eq!(channels.each_ref().map(|channel| word(&place, channel)), words, "providers know them");

    let old = old.as_str().unwrap();
    let sealing = rotated["key"].as_str().unwrap();
    for (key, says) in [
        (sealing, "`pombo secrets rotate` makes a new one"),
        ("0000000000000000", "the key file does not have the key"),
        ("nonsense", "is no id of a key"),
    ] {
        let refused = place.run(&format!("secrets discard {key}"));
        assert!(refused.code == Some(1) && refused.stderr.contains(says), "{refused:?}");
    }
    assert_eq!(key_file(&place), both);
    let told = place.run(&format!("secrets discard {old}"));
    assert!(told.stdout.contains("copies of the database from before 20"), "{told:?}");
    assert_eq!(keys(&place), [current]);
    assert_eq!(key_file(&place), both[..1]);
    assert_eq!(channels.each_ref().map(|channel| word(&place, channel)), words);

    // The output without --json; each rotation makes a new key.
    let told = place.run("secrets rotate");
    assert!(told.stdout.contains("the new sealing key is") && told.stdout.contains("back up"), "{told:?}");
    assert!(told.stdout.contains(&format!("kept for older copies of the database: {sealing}")), "{told:?}");
    let table = place.run("secrets list").stdout;
    assert!(table.contains("VERIFY TOKENS") && table.contains("current"), "{table}");
    assert!(key_file(&place).iter().all(|line| !table.contains(line) && !told.stdout.contains(line)));
}

#[test]
fn an_older_copy_of_the_database_opens_after_a_rotation_and_its_key_is_not_discarded_while_it_is_used() {
    let place = Place::new();
    place.json("company create Acme");
    let channel = add_channel(&place, 1);
    let first = word(&place, &channel);
    let copied = place.json("backup older.backup");
    assert!(place.path().join("older.backup").exists(), "{copied}");
    let rotated = place.json("secrets rotate");
    place.json("restore older.backup --force --nothing-sent-since");
    assert_eq!(word(&place, &channel), first, "the key of the copy is still there");
    let old = rotated["retired"][0].as_str().unwrap();
    let refused = place.run(&format!("secrets discard {old}"));
    let says = "3 secrets are sealed with the key";
    assert!(refused.code == Some(1) && refused.stderr.contains(says), "{refused:?}");
    let again = place.json("secrets rotate");
    assert_eq!((&again["key"], &again["added"]), (&rotated["key"], &json!(false)), "the same rotation again");
    assert_eq!(place.run(&format!("secrets discard {old}")).code, Some(0));
    assert_eq!(word(&place, &channel), first);
}

#[test]
fn a_rotation_that_was_interrupted_is_finished_by_the_next_one() {
    let place = Place::new();
    place.json("company create Acme");
    let channels = [add_channel(&place, 1), add_channel(&place, 2)];
    let words = channels.each_ref().map(|channel| word(&place, channel));
    let old = keys(&place)[0].0.clone();

    // The state after the command dies: the new key is in the file, and one value is sealed with it.
    let line = key_file(&place).remove(0);
    place.write("data/secret.key", &format!("{}\n{line}\n", "ab".repeat(32)));
    place.run_with("other-secret", &format!("channel webhook {} --app-secret-file -", channels[0]));
    let between = keys(&place);
    let [(new, current, sealed), (previous, state, left)] = &between[..] else { panic!("{between:?}") };
    assert_eq!((current.as_str(), sealed), ("current", &[0, 1, 0]));
    assert_eq!((previous, state.as_str(), left), (&old, "previous", &[2, 1, 2]));
    assert_eq!(channels.each_ref().map(|channel| word(&place, channel)), words, "everything opens");

    let rotated = place.json("secrets rotate");
    assert_eq!((&rotated["key"], &rotated["added"]), (new, &json!(false)));
    assert_eq!(rotated["retired"], json!([old]));
    let resealed = json!({
        "tokens": 2,
        "app_secrets": 1,
        "verify_tokens": 2,
        "session_records": 0,
        "totp_secrets": 0,
        "webhook_secrets": 0,
        "webhook_headers": 0,
        "data_keys": 0,
    });
    assert_eq!(rotated["resealed"], resealed);
    let previous = (old, "previous".to_owned(), [0; 3]);
    assert_eq!(keys(&place), [(new.clone(), "current".to_owned(), [2, 2, 2]), previous]);
    assert_eq!(key_file(&place), ["ab".repeat(32), line]);
    assert_eq!(channels.each_ref().map(|channel| word(&place, channel)), words);
}

/// Runs the program with these keys in its environment.
fn run(place: &Place, line: &str, key: u8, previous: &str) -> Run {
    let mut command = place.command(line);
    command.env(KEY, format!("{key:02x}").repeat(32)).env(PREVIOUS, previous);
    let output = command.output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_configured_key_is_changed_by_a_person_and_everything_is_sealed_with_it() {
    let place = Place::new().with(KEY, "01".repeat(32));
    place.json("company create Acme");
    let channel = add_channel(&place, 1);
    let webhook = format!("channel webhook {channel} --json");
    let first = run(&place, &webhook, 1, "").stdout;
    let advice = run(&place, "secrets rotate", 1, "");
    assert!(advice.stdout.contains("secrets.previous_keys, restart the service"), "{advice:?}");

    let both = format!("{}, {}", "03".repeat(32), "01".repeat(32));
    assert_eq!(run(&place, &webhook, 2, &both).stdout, first);
    let rotated = run(&place, "secrets rotate", 2, &both);
    assert!(rotated.stdout.contains("3 values were sealed with it"), "{rotated:?}");
    assert!(rotated.stdout.contains("secrets.previous_keys can be removed now"), "{rotated:?}");
    assert_eq!(run(&place, &webhook, 2, "").stdout, first);
    assert!(!place.path().join("data/secret.key").exists());

    // A key that is lost.
    let lost: Value = serde_json::from_str(&run(&place, "secrets list --json", 4, "").stdout).unwrap();
    assert_eq!(
        (&lost[0]["tokens"], &lost[1]["state"], &lost[1]["tokens"]),
        (&json!(0), &json!("missing"), &json!(1))
    );
    let id = lost[1]["id"].as_str().unwrap();
    let refused = run(&place, "secrets rotate", 4, "");
    assert!(
        refused.code == Some(1) && refused.stderr.contains(&format!("sealed with the key {id}")),
        "{refused:?}"
    );
    let forgotten = run(&place, &format!("secrets forget {id}"), 4, "");
    assert!(forgotten.stdout.contains("3 secrets stay sealed with it"), "{forgotten:?}");
    let rotated = run(&place, "secrets rotate", 4, "");
    assert!(rotated.stdout.contains("no key opens 3 values, and they stay as they are"), "{rotated:?}");
    // The key is found again: nothing was sealed without it.
    assert_eq!(run(&place, &webhook, 2, "").stdout, first, "the values open when their key is back");

    let refused = run(&place, "secrets list", 2, "hunter2");
    assert!(refused.stderr.contains("secrets.previous_keys"), "{refused:?}");
    assert!(!refused.stderr.contains("hunter2"), "{refused:?}");
}

/// Starts a service with this key and this end for its log, and returns its first line; the service ends with the guard.
fn serve(place: &Place, key: u8, log: Stdio) -> (OwnedChild, String) {
    let mut command = place.command(SERVE);
    command.env(KEY, format!("{key:02x}").repeat(32)).env("POMBO__SERVER__BIND", "127.0.0.1:0");
    let mut child = OwnedChild::spawn(command.stderr(log));
    let first = child.first_line();
    (child, first)
}

/// Waits until a service with this key has logged these words.
fn logs(place: &Place, key: u8, words: &str) {
    let log = place.path().join("log");
    let (mut child, first) = serve(place, key, std::fs::File::create(&log).unwrap().into());
    assert!(first.contains("base_url"), "{first}");
    // What a person should look at is logged after the service listens.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let logged = std::fs::read_to_string(&log).unwrap();
        if logged.contains(words) {
            break;
        }
        assert!(Instant::now() < deadline, "`{words}` is not logged: {logged}");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.crash();
}

#[test]
fn a_service_does_not_start_without_the_key_of_its_secrets_until_the_key_counts_as_lost() {
    let place = Place::new().with("POMBO__CLOUD_API__BASE_URL", "http://127.0.0.1:1");
    place.json("company create Acme");
    // Nothing is sealed yet: any key will do.
    for key in [1, 2] {
        let (mut child, first) = serve(&place, key, Stdio::null());
        assert!(first.contains("base_url"), "{first}");
        child.crash();
    }
    place.write("app-secret", "very-secret");
    let add = "channel add-business --company Acme --name Shop --phone-number +5511988887001 --waba-id 20 \
               --phone-number-id 1 --token-file app-secret --json";
    let added = run(&place, add, 2, "");
    let channel: Value = serde_json::from_str(&added.stdout).unwrap();
    let state = |key| -> Value {
        let shown = run(&place, "channel list --json", key, "").stdout;
        serde_json::from_str::<Value>(&shown).unwrap()[0]["status"].clone()
    };
    let before = state(2);

    let (child, first) = serve(&place, 3, Stdio::null());
    assert_eq!(first, "", "it listens");
    assert_eq!(child.wait_with_output().status.code(), Some(1));
    let refused = run(&place, SERVE, 3, "");
    let words = "which this process does not have: put the key file that belongs to the database back";
    assert!(refused.stderr.contains(words), "{refused:?}");
    let id = channel["id"].as_str().unwrap();
    let sealing = format!("channel reconnect {id} --token-file app-secret");
    for line in [sealing.as_str(), "secrets rotate"] {
        let refused = run(&place, line, 3, "");
        assert!(refused.code == Some(1) && refused.stderr.contains(words), "{line}: {refused:?}");
    }
    assert_eq!(state(3), before, "the channel is as it was");

    let key =
        serde_json::from_str::<Value>(&run(&place, "secrets list --json", 3, "").stdout).unwrap()[1]["id"]
            .as_str()
            .unwrap()
            .to_owned();
    for (wrong, says) in [("nonsense", "is no id of a key"), ("0000000000000000", "nothing is sealed")] {
        let refused = run(&place, &format!("secrets forget {wrong}"), 3, "");
        assert!(refused.code == Some(1) && refused.stderr.contains(says), "{refused:?}");
    }
    let kept = run(&place, &format!("secrets forget {key}"), 2, "");
    assert!(kept.code == Some(1) && kept.stderr.contains("is not lost"), "{kept:?}");
    assert_eq!(run(&place, &format!("secrets forget {key}"), 3, "").code, Some(0));
    assert_eq!(state(3), "disconnected", "its token cannot be opened");
    logs(&place, 3, &format!("1 secret is sealed with the key {key}, which is missing"));
    assert_eq!(run(&place, &sealing, 3, "").code, Some(0));
}
