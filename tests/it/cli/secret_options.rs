//! No command repeats a secret of the configuration, however wrong its value is. The options are those whose types are
//! secret: a new one fails here until it has its forms.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use pombo::config::{REFERENCE, secret_options};

use crate::program::{Place, Run};

/// Stands for a secret. It is a key, too, so that it fits everywhere.
const SECRET: &str = "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4";
/// The beginning of the secret, for texts that are cut.
const SEEN: &str = "5ec4e7";

/// An option, values with a secret that are valid, and values that are not.
const FORMS: [(&str, &[&str], &[&str]); 12] = [
    (
        "database.url",
        &[
            "postgres://pombo:SECRET@127.0.0.1:1/pombo",
            "postgres://127.0.0.1:1/pombo?user=pombo&password=SECRET",
            "postgres://pombo@127.0.0.1:1/pombo?pasword=SECRET",
            "postgres://pombo@127.0.0.1:1/pombo?sslmode=SECRET",
            "postgres://pombo@127.0.0.1:1/pombo?port=SECRET",
        ],
        &[
            "SECRET",
            "mysql://pombo:SECRET@127.0.0.1/pombo",
            "postgres://pombo:SECRET@[127.0.0.1/pombo",
            "postgres://pombo:12/SECRET@127.0.0.1/pombo",
            "postgres://pombo:12#SECRET@127.0.0.1/pombo",
            "postgres://pombo:a/SECRET@127.0.0.1/pombo",
        ],
    ),
    (
        "nats.url",
        &["nats://pombo:SECRET@127.0.0.1:1", "nats://SECRET@127.0.0.1:1"],
        &["SECRET", "https://pombo:SECRET@127.0.0.1", "nats://pombo:12/SECRET@127.0.0.1", "nats://[SECRET"],
    ),
    ("nats.token", &["SECRET"], &[]),
    ("mail.password", &["SECRET"], &[]),
    ("media.s3_secret_key", &["SECRET"], &[]),
    (
        "events.url",
        &["nats://pombo:SECRET@127.0.0.1:1"],
        &["SECRET", "https://pombo:SECRET@127.0.0.1", "nats://pombo:12/SECRET@127.0.0.1"],
    ),
    ("events.token", &["SECRET"], &[]),
    (
        "network.proxy",
        &["http://pombo:SECRET@127.0.0.1:1"],
        &["SECRET", "ftp://pombo:SECRET@127.0.0.1", "http://pombo:12/SECRET@127.0.0.1"],
    ),
    ("secrets.key", &["SECRET"], &["SECRETff", "postgres://SECRET"]),
    ("secrets.previous_keys", &["SECRET"], &["SECRETff", "SECRET,SECRETff"]),
    (
        "telemetry.otlp_endpoint",
        // A valid address has neither a user nor parameters.
        &[],
        &["SECRET", "http://pombo:SECRET@127.0.0.1:1", "http://127.0.0.1:1/?key=SECRET"],
    ),
    ("telemetry.otlp_headers", &["authorization=Bearer SECRET"], &["SECRET", "authorization: SECRET"]),
];

/// Commands that read every option, each with what it opens.
const COMMANDS: [&str; 4] =
    ["doctor", "serve --json --end-with-input", "company list", "backup secret.backup"];

/// Where nothing answers, so that commands tell of it soon.
fn place() -> Place {
    Place::new()
        .with("POMBO__SERVER__BIND", "127.0.0.1:0")
        .with("POMBO__DATABASE__ACQUIRE_TIMEOUT", "20ms")
        .with("POMBO__CLOUD_API__BASE_URL", "http://127.0.0.1:1")
        .with("POMBO__NATS__REQUEST_TIMEOUT", "20ms")
        .with("POMBO__LOG__LEVEL", "debug")
}

fn variable(option: &str) -> String {
    format!("POMBO__{}", option.to_ascii_uppercase().replace('.', "__"))
}

/// A place with the options without which this one is not used.
fn beside(option: &str) -> Place {
    let place = place();
    match option {
        "nats.token" => place.with("POMBO__NATS__URL", "nats://127.0.0.1:1"),
        "events.url" => place.with("POMBO__EVENTS__ENABLED", "true"),
        "events.token" => {
            place.with("POMBO__EVENTS__ENABLED", "true").with("POMBO__EVENTS__URL", "nats://127.0.0.1:1")
        }
        "mail.password" => place
            .with("POMBO__SERVER__PUBLIC_URL", "https://pombo.example")
            .with("POMBO__MAIL__HOST", "127.0.0.1")
            .with("POMBO__MAIL__PORT", "1")
            .with("POMBO__MAIL__FROM", "pombo@example.com")
            .with("POMBO__MAIL__USER", "pombo"),
        "media.s3_secret_key" => {
            place.with("POMBO__MEDIA__S3_BUCKET", "media").with("POMBO__MEDIA__S3_ACCESS_KEY", "id")
        }
        "telemetry.otlp_headers" => place.with("POMBO__TELEMETRY__OTLP_ENDPOINT", "http://127.0.0.1:1"),
        _ => place,
    }
}

fn with(option: &str, value: &str) -> Place {
    beside(option).with(&variable(option), value.replace("SECRET", SECRET))
}

fn assert_silent(run: &Run, what: &str) {
    for output in [&run.stdout, &run.stderr] {
        assert!(!output.contains(SEEN), "{what} shows the secret:\n{output}");
    }
    assert!(!run.stderr.contains("panicked"), "{what}: {run:?}");
}

#[test]
fn every_option_of_a_secret_type_has_its_forms_here() {
    let listed: BTreeSet<_> = FORMS.iter().map(|(option, ..)| (*option).to_owned()).collect();
    assert_eq!(&listed, secret_options());
}

#[test]
fn no_command_shows_a_valid_secret() {
    for (option, valid, _) in FORMS {
        for value in valid {
            let place = with(option, value);
            for command in COMMANDS {
                assert_silent(&place.run(command), &format!("`{command}` with {option} = {value}"));
            }
        }
    }
}

#[test]
fn no_command_shows_a_secret_that_is_refused() {
    for (option, _, invalid) in FORMS {
        for value in invalid {
            let place = with(option, value);
            for command in ["doctor", "serve --json --end-with-input"] {
                let run = place.run(command);
                let what = format!("`{command}` with {option} = {value}");
                assert_silent(&run, &what);
                assert!(format!("{}{}", run.stdout, run.stderr).contains(option), "{what}: {run:?}");
                assert_ne!(run.code, Some(0), "{what}");
            }
        }
    }
}

#[test]
fn no_secret_of_a_wrong_kind_or_of_a_broken_file_is_shown() {
    let place = place();
    for option in secret_options() {
        let (section, key) = option.split_once('.').unwrap();
        for value in [
            format!("[[\"{SECRET}\"]]"),
            format!("{{ a = \"{SECRET}\" }}"),
            format!("\"{SECRET}"),
            format!("postgres://a:{SECRET}@b"),
            format!("\"{SECRET}\" \"{SECRET}\""),
        ] {
            place.write("pombo.toml", &format!("[{section}]\n{key} = {value}\n"));
            for command in ["doctor --config pombo.toml", "serve --config pombo.toml"] {
                let run = place.run(command);
                assert_silent(&run, &format!("{option} = {value}"));
                assert_ne!(run.code, Some(0), "{option} = {value}: {run:?}");
            }
        }
    }
}

#[test]
fn an_address_with_a_password_is_repeated_for_no_option() {
    let reference: toml::Table = REFERENCE.parse().unwrap();
    let options = reference.iter().flat_map(|(section, keys)| {
        keys.as_table().unwrap().keys().map(move |key| format!("{section}.{key}"))
    });
    let address = format!("postgres://pombo:{SECRET}@127.0.0.1/pombo");
    let all = options.fold(Place::new(), |place, option| place.with(&variable(&option), &address));
    for command in ["doctor", "serve"] {
        let run = all.run(command);
        assert_silent(&run, command);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains("cloud_api.base_url") && told.contains("server.workers"), "{told}");
    }
}

#[test]
fn a_file_with_any_secret_that_others_can_read_is_bad() {
    for (option, valid, _) in FORMS {
        for value in valid {
            let place = beside(option);
            let (section, key) = option.split_once('.').unwrap();
            let value = value.replace("SECRET", SECRET);
            let value = if option == "secrets.previous_keys" {
                format!("[\"{value}\"]")
            } else {
                format!("\"{value}\"")
            };
            place.write("pombo.toml", &format!("[{section}]\n{key} = {value}\n"));
            let file = place.path().join("pombo.toml");
            for (mode, is_told) in [(0o644, true), (0o600, false)] {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
                let run = place.run("doctor --config pombo.toml");
                assert_eq!(run.stdout.contains("holds a secret"), is_told, "{option} {mode:o}: {run:?}");
            }
        }
    }
}
