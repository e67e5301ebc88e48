//! `pombo doctor` on machines with one fault at a time.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use pombo::clock::Timestamp;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use uuid::Uuid;

use crate::program::{Place, Run};

/// A provider that answers every request with this date; it ends with the tests.
fn provider(date: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let date = if date == "now" { now() } else { date.to_owned() };
            let date = if date.is_empty() { String::new() } else { format!("Date: {date}\r\n") };
            let answer = format!(
                "HTTP/1.1 400 Bad Request\r\n{date}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn now() -> String {
    let seconds = Timestamp::now().millis() / 1000;
    OffsetDateTime::from_unix_timestamp(seconds).unwrap().format(&Rfc2822).unwrap().replace("+0000", "GMT")
}

/// A place without any fault.
fn sound() -> Place {
    let place = Place::new().with("POMBO__CLOUD_API__BASE_URL", provider("now"));
    place.json("company create Acme");
    place
}

/// The state and the sentences of a check.
fn found(place: &Place, check: &str) -> (Option<i32>, Vec<(String, String)>) {
    let run = place.run("doctor --json");
    (run.code, of(&run, check))
}

fn of(run: &Run, check: &str) -> Vec<(String, String)> {
    let findings: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let found = findings.as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found.map(|finding| (text(&finding["state"]), text(&finding["finding"]))).collect()
}

fn assert_found(place: &Place, check: &str, state: &str, words: &str) {
    let (code, found) = found(place, check);
    let is_told = found.iter().any(|(found, sentence)| found == state && sentence.contains(words));
    assert!(is_told, "{check} is not {state} for `{words}`: {found:?}");
    assert_eq!(code, Some(i32::from(state == "bad")), "{check}: {found:?}");
}

#[test]
fn a_sound_machine_is_good_throughout_and_nothing_is_changed() {
    let place = sound();
    let run = place.run("doctor");
    assert_eq!(run.code, Some(0), "{run:?}");
    for check in [
        "configuration",
        "data directory",
        "disk",
        "key file",
        "database",
        "secrets",
        "API version",
        "provider",
        "clock",
    ] {
        let line = run.stdout.lines().find(|line| line.starts_with(check));
        assert!(line.is_some_and(|line| line.contains("good") || check == "disk"), "{check}: {}", run.stdout);
    }
    assert!(!run.stdout.contains('\u{1b}'), "colours are for terminals");

    let untouched = Place::new().with("POMBO__CLOUD_API__BASE_URL", provider("now"));
    assert_found(&untouched, "database", "look", "pombo serve");
    assert_found(&untouched, "key file", "look", "the first start creates it");
    assert_eq!(std::fs::read_dir(untouched.path()).unwrap().count(), 0, "looking makes nothing");
}

#[test]
fn a_key_that_others_can_read_is_bad_and_so_is_an_invalid_one() {
    let place = sound();
    let key = place.path().join("data/secret.key");
    for (mode, state, words) in
        [(0o644, "bad", "chmod 600"), (0o640, "look", "chmod 600"), (0o600, "good", "owner")]
    {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_found(&place, "key file", state, words);
    }
    let secret = std::fs::read_to_string(&key).unwrap();
    std::fs::write(&key, "not a key").unwrap();
    assert_found(&place, "key file", "bad", "does not hold keys");
    std::fs::write(&key, &secret).unwrap();
    let run = place.run("doctor");
    assert!(
        !run.stdout.contains(secret.trim()) && !run.stderr.contains(secret.trim()),
        "the output shows the key"
    );
}

#[test]
fn a_key_file_of_another_database_is_recognised_by_the_sealed_values() {
    let place = sound();
    place.write("app-secret", "very-secret");
    place.json_with(
        "EAAG-token",
        "channel add-business --company Acme --name Shop --phone-number +5511988887000 --waba-id 20 \
         --phone-number-id 1 --token-file - --app-secret-file app-secret",
    );
    assert_found(&place, "secrets", "good", "every key that the database's secrets need");
    std::fs::remove_file(place.path().join("data/secret.key")).unwrap();
    assert_found(&place, "secrets", "bad", "secrets are sealed with the key");
    let other = "11".repeat(32);
    let place = place.with("POMBO__SECRETS__KEY", &other);
    assert_found(&place, "secrets", "bad", "secrets.previous_keys");
    let run = place.run("doctor");
    assert!(!run.stdout.contains(&other) && !run.stderr.contains(&other), "the output shows the key");
}

#[test]
fn an_unreachable_or_invalid_database_is_bad_and_its_password_stays_hidden() {
    let away = sound().with("POMBO__DATABASE__URL", "postgres://pombo:hunter2@127.0.0.1:1/pombo");
    assert_found(&away, "database", "bad", "does not answer");
    let run = away.run("doctor");
    assert!(run.stdout.contains("127.0.0.1:1") && !run.stdout.contains("hunter2"), "{run:?}");
    assert!(run.stderr.contains("1 finding is bad:") && !run.stderr.contains("hunter2"), "{run:?}");

    let nowhere = sound().with("POMBO__DATABASE__URL", "sqlite:///nonexistent/pombo.db?mode=rwc");
    assert_found(&nowhere, "database", "bad", "directory");
    let place = sound();
    place.write("text.db", &"no database ".repeat(1000));
    let place = place.with("POMBO__DATABASE__URL", "sqlite://text.db");
    assert_found(&place, "database", "bad", "not a database");
}

#[test]
fn an_outdated_schema_is_reported() {
    let place = sound();
    place.run("migrate down --steps 1");
    assert_found(&place, "database", "look", "the next start");
    let place = place.with("POMBO__DATABASE__MIGRATE", "false");
    assert_found(&place, "database", "bad", "pombo migrate up");
}

#[test]
fn an_unreachable_provider_and_a_wrong_clock_are_bad() {
    let away = sound().with("POMBO__CLOUD_API__BASE_URL", "http://127.0.0.1:1");
    assert_found(&away, "provider", "bad", "network.proxy");
    let off = sound().with("POMBO__CLOUD_API__BASE_URL", provider("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert_found(&off, "clock", "bad", "ahead of");
    let future = sound().with("POMBO__CLOUD_API__BASE_URL", provider("Wed, 06 Nov 2999 08:49:37 GMT"));
    assert_found(&future, "clock", "bad", "behind");
    let silent = sound().with("POMBO__CLOUD_API__BASE_URL", provider(""));
    assert_found(&silent, "clock", "look", "by hand");
    // Only the server of an address is shown.
    let address = provider("now").replace("http://", "http://ana:hunter2@");
    let run = sound().with("POMBO__CLOUD_API__BASE_URL", address).run("doctor");
    assert!(!run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"), "{run:?}");
}

#[test]
fn a_version_of_the_api_that_the_provider_has_retired_is_bad() {
    let place = sound().with("POMBO__CLOUD_API__VERSION", "v18.0");
    assert_found(&place, "API version", "bad", "cloud_api.version");
}

#[test]
fn every_fault_of_the_configuration_is_a_finding() {
    let place = sound().with("POMBO__SERVER__BIND", "nonsense").with("POMBO__SERVER__BODY_LIMIT", "much");
    let (code, found) = found(&place, "configuration");
    assert_eq!((code, found.len()), (Some(1), 2), "{found:?}");
    assert!(found[0].1.contains("server.bind") && found[1].1.contains("server.body_limit"), "{found:?}");
    let open = sound().with("POMBO__SERVER__BIND", "0.0.0.0:8080");
    assert_found(&open, "configuration", "look", "server.operator_bind");
    assert_found(&open, "configuration", "look", "server.public_url");

    let place = sound();
    place.write(
        "pombo.toml",
        "[secrets]\nprevious_keys = [\"0000000000000000000000000000000000000000000000000000000000000000\"]\n",
    );
    let file = place.path().join("pombo.toml");
    for (mode, state) in [(0o644, "bad"), (0o600, "good")] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let run = place.run("doctor --json --config pombo.toml");
        let found = of(&run, "configuration");
        assert_eq!((found.len(), found[0].0.as_str()), (1, state), "{found:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_open_files_that_is_too_small_is_reported_with_the_needed_one() {
    let place = sound();
    for (limit, state, words) in [("100", "bad", "fewer than"), ("2000", "look", "total_in_flight")] {
        let doctor = place.command("doctor --json");
        let mut limited = Command::new("sh");
        limited
            .arg("-c")
            .arg(format!("ulimit -n {limit} && exec \"$0\" doctor --json"))
            .arg(doctor.get_program());
        limited
            .current_dir(place.path())
            .envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = limited.stdin(Stdio::null()).output().unwrap();
        let run = Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        let found = of(&run, "open files");
        assert!(found[0].0 == state && found[0].1.contains(words), "{found:?}");
        assert_eq!(run.code, Some(i32::from(state == "bad")), "{run:?}");
    }
}

#[test]
fn a_proxy_that_is_not_trusted_is_reported() {
    let place = sound().with("POMBO__SERVER__PUBLIC_URL", "https://pombo.example");
    assert_found(&place, "configuration", "look", "server.trusted_proxies");
    let place = place.with("POMBO__SERVER__TRUSTED_PROXIES", "127.0.0.0/8");
    assert_found(&place, "configuration", "good", "it is valid");
}

#[tokio::test]
async fn people_who_all_have_one_address_are_reported() {
    let place = sound();
    let url = format!("sqlite://{}", place.path().join("data/pombo.db").display());
    let attempts = async |address: &str, count: usize| {
        let database = Database::connect(&url).await.unwrap();
        for number in 0..count {
            let (id, who) = (Uuid::now_v7().simple(), ["user:ana@x.example", "user:"][number % 2]);
            let insert = format!(
                "INSERT INTO change (id, at, who, what, subject, after, address)
                 VALUES (x'{id}', 1, '{who}', 'sign_in', '', '{{}}', '{address}')"
            );
            database.execute_unprepared(&insert).await.unwrap();
        }
        database.close().await.unwrap();
    };
    attempts("127.0.0.1", 9).await;
    assert_eq!(found(&place, "clients").1, [], "a few say nothing");
    attempts("127.0.0.1", 1).await;
    assert_found(&place, "clients", "look", "came from 127.0.0.1");
    attempts("203.0.113.5", 1).await;
    assert_found(&place, "clients", "good", "told apart");
    attempts("203.0.113.5", 100).await;
    assert_found(&place, "clients", "good", "told apart");
    let place = place.with("POMBO__SERVER__TRUSTED_PROXIES", "203.0.113.0/24");
    assert_found(&place, "clients", "look", "came from 203.0.113.5");
}

#[test]
fn a_service_that_does_not_answer_is_not_healthy() {
    let place = Place::new().with("POMBO__SERVER__BIND", "127.0.0.1:1");
    let run = place.run("health");
    assert!(run.code == Some(1) && run.stderr.contains("no service answers"), "{run:?}");
    let nowhere = Place::new().with("POMBO__SERVER__BIND", "127.0.0.1:0").run("health");
    assert!(nowhere.code == Some(2) && nowhere.stderr.contains("server.bind"), "{nowhere:?}");
}
