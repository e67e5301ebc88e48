//! Layers, types and faults of the configuration.

use std::io::Write as _;
use std::time::Duration;

use super::*;

mod mail;
mod nats;
mod webhooks;

fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, Faults> {
    let mut written = tempfile::NamedTempFile::new().unwrap();
    written.write_all(file.as_bytes()).unwrap();
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load_from(Some(written.path()), environment).map_err(|Faults(faults)| {
        let named = |fault: Fault| match fault.source {
            Source::File(_) => Fault { source: Source::File("pombo.toml".into()), ..fault },
            Source::Default | Source::Environment(_) | Source::Beside(..) => fault,
        };
        Faults(faults.into_iter().map(named).collect())
    })
}

fn shown(file: &str, environment: &[(&str, &str)]) -> String {
    load(file, environment).unwrap_err().to_string()
}

#[test]
fn the_reference_is_complete_and_sound() {
    let config = Config::default();
    assert_eq!(config.server.bind.to_string(), "127.0.0.1:8080");
    assert_eq!(config.server.body_limit, 8 * 1024 * 1024);
    assert_eq!(config.engine.watch_interval, Duration::from_millis(250));
    assert_eq!(config.database_url(), "sqlite://data/pombo.db?mode=rwc");
    assert_eq!(config.key_file(), Path::new("data/secret.key"));
    assert!(config.secrets.key.is_none());
}

#[test]
fn the_environment_goes_before_the_file_and_the_file_before_the_reference() {
    let file = "[server]\nworkers = 3\nbody_limit = \"1MiB\"\n[retry]\nmultiplier = 3";
    let config =
        load(file, &[("POMBO__SERVER__WORKERS", "5"), ("PATH", "/bin"), ("POMBO_API_KEY", "x")]).unwrap();
    assert_eq!((config.server.workers, config.server.body_limit), (5, 1024 * 1024));
    assert!((config.retry.multiplier - 3.0).abs() < f64::EPSILON);
    assert_eq!(config.engine.concurrency, 512);
}

#[test]
fn a_value_in_the_environment_is_read_as_its_option_s_type() {
    let config = load(
        "",
        &[
            ("POMBO__LIMITS__PHONE_NUMBERS", "10_000"),
            ("POMBO__METRICS__ENABLED", "false"),
            ("POMBO__RETRY__MULTIPLIER", "2"),
            ("POMBO__DATA__DIR", "8080"),
            ("POMBO__DATABASE__URL", "postgres://pombo:123456@db/pombo"),
            ("POMBO__SECRETS__KEY", &"11".repeat(32)),
            ("POMBO__LOG__FORMAT", "json"),
        ],
    )
    .unwrap();
    assert_eq!(config.limits.phone_numbers, 10_000);
    assert!(!config.metrics.enabled);
    assert_eq!(config.data.dir, Path::new("8080"));
    assert_eq!(config.database_url(), "postgres://pombo:123456@db/pombo");
    assert_eq!(config.secrets.key.unwrap().expose(), &[0x11; 32]);
    assert_eq!(config.log.format, LogFormat::Json);
}

#[test]
fn a_data_directory_with_special_characters_keeps_its_name_in_the_address() {
    let config = load("[data]\ndir = \"/srv/50% off?\"", &[]).unwrap();
    assert_eq!(config.database_url(), "sqlite:///srv/50%25 off%3F/pombo.db?mode=rwc");
}

#[test]
fn every_fault_of_every_layer_is_reported_at_once() {
    let file = r#"
        colour = "blue"
        log = "debug"
        [server]
        bnid = "0.0.0.0:80"
        bind = "localhost:8080"
        body_limit = 8
        workers = "4"
        [web]
        mood = "5s"
        [server.bind_to]
        address = "x"
    "#;
    let environment = [
        ("POMBO__ENGINE__CONCURRENCY", "many"),
        ("POMBO__ENGINE__BLOCK_SIZE", "-1"),
        ("POMBO__ENGINE__IN_FLIGHT", "8"),
        ("POMBO__DATABASE__SQLITE_SYNCHRONOUS", "off"),
        ("POMBO__SERVER__LEVEL", "info"),
        ("POMBO__DOCS__ENABLED", "yes"),
        ("POMBO_LOG_LEVEL", "debug"),
    ];
    insta::assert_snapshot!(shown(file, &environment), @r#"
    the configuration has 15 faults

    log.level (environment variable POMBO_LOG_LEVEL)
      wrong: it is not read: two underscores have to separate prefix, section and key
      fix:   write POMBO__LOG__LEVEL

    colour (file pombo.toml)
      wrong: there is no such option
      fix:   the sections are cloud_api, cluster, data, database, docs, engine, events, graph, imports, inbox, limits, log, mail, media, metrics, nats, network, retention, retry, secrets, server, telemetry, values, web_session, webhooks

    log (file pombo.toml)
      wrong: it is a section, not an option
      fix:   the options of log are format, level

    server.bind (file pombo.toml)
      wrong: "localhost:8080" is not an IP address and a port, such as "127.0.0.1:8080" or "[::]:8080"
      fix:   write it like its default, "127.0.0.1:8080"

    server.bind_to.address (file pombo.toml)
      wrong: there is no such option
      fix:   the options of server are bind, body_limit, body_memory, body_timeout, client_rate, client_timeout, connections, hook_body_limit, keep_alive, operator_bind, public_url, shutdown_grace, trusted_proxies, workers, write_timeout

    server.bnid (file pombo.toml)
      wrong: there is no such option
      fix:   did you mean server.bind?

    server.body_limit (file pombo.toml)
      wrong: 8 is not a text (in a file, put it in quotes)
      fix:   write it like its default, "8MiB"

    server.workers (file pombo.toml)
      wrong: "4" is not a whole number of 0 or more
      fix:   write it like its default, 0

    web.mood (file pombo.toml)
      wrong: there is no such option
      fix:   the sections are cloud_api, cluster, data, database, docs, engine, events, graph, imports, inbox, limits, log, mail, media, metrics, nats, network, retention, retry, secrets, server, telemetry, values, web_session, webhooks

    database.sqlite_synchronous (environment variable POMBO__DATABASE__SQLITE_SYNCHRONOUS)
      wrong: "off" is none of full, normal
      fix:   write it like its default, "full"

    docs.enabled (environment variable POMBO__DOCS__ENABLED)
      wrong: "yes" is not true or false
      fix:   write it like its default, true

    engine.block_size (environment variable POMBO__ENGINE__BLOCK_SIZE)
      wrong: -1 is not a whole number of 0 or more
      fix:   write it like its default, 4096

    engine.concurrency (environment variable POMBO__ENGINE__CONCURRENCY)
      wrong: "many" is not a whole number of 0 or more
      fix:   write it like its default, 512

    server.level (environment variable POMBO__SERVER__LEVEL)
      wrong: there is no such option
      fix:   did you mean log.level?

    engine.in_flight (environment variable POMBO__ENGINE__IN_FLIGHT)
      wrong: 8 is less than engine.concurrency, 512
      fix:   raise it, or lower engine.concurrency
    "#);
}

#[test]
fn options_that_contradict_each_other_are_faults() {
    let file = r#"
        [cloud_api]
        base_url = "https://graph.facebook.com/"
        version = "25"
        [web_session]
        patience = "11m"
        [engine]
        watch_interval = "1ms"
        [retry]
        first = "1h"
        attempts = 0
        multiplier = 0.5
        [log]
        level = "pombo=loud"
    "#;
    insta::assert_snapshot!(shown(file, &[]), @r#"
    the configuration has 7 faults

    retry.attempts (file pombo.toml)
      wrong: 0 is too few
      fix:   give at least 1

    retry.multiplier (file pombo.toml)
      wrong: with 0.5 the waits would shrink
      fix:   give at least 1.0

    web_session.patience (file pombo.toml)
      wrong: 11m is out of bounds
      fix:   give a span from "1s" to "10m"

    engine.watch_interval (file pombo.toml)
      wrong: 1ms is too often
      fix:   give at least "10ms"

    retry.cap (default)
      wrong: 10m is less than retry.first, 1h
      fix:   raise it, or lower retry.first

    cloud_api.version (file pombo.toml)
      wrong: "25" is not a version of the provider's API
      fix:   write it like "v26.0"

    log.level (file pombo.toml)
      wrong: "pombo=loud" is not a filter: error parsing level filter: expected one of "off", "error", "warn", "info", "debug", "trace", or a number 0-5
      fix:   write a level such as "info", or levels of modules such as "info,pombo::engine=debug"
    "#);
}

#[test]
fn postgres_needs_a_connection_for_every_part() {
    let with = |url: &str, connections: u32| {
        load(&format!("[database]\nurl = \"{url}\"\nconnections = {connections}"), &[])
    };
    let shown = with("postgres://db/pombo", 5).unwrap_err().to_string();
    assert!(shown.contains("database.connections") && shown.contains("give at least 6"), "{shown}");
    assert!(with("postgresql://db/pombo", Database::FEWEST_ON_POSTGRES).is_ok());
    assert!(with("sqlite://pombo.db", 1).is_ok());
}

#[test]
fn no_proxy_is_trusted_by_default_and_never_everybody() {
    let proxies = |config: Config| config.server.trusted_proxies;
    assert!(proxies(Config::default()).is_empty());
    let set = [("POMBO__SERVER__TRUSTED_PROXIES", "10.0.0.2, fd00:12::/64")];
    assert_eq!(proxies(load("", &set).unwrap()).len(), 2);
    for everybody in ["0.0.0.0/0", "::/0"] {
        let file = format!("[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"{everybody}\"]");
        let shown = load(&file, &[]).unwrap_err().to_string();
        assert!(shown.contains("server.trusted_proxies") && shown.contains(everybody), "{shown}");
    }
}

#[test]
fn networks_are_a_list_in_a_file_and_separated_by_commas_in_the_environment() {
    let networks = |config: Config| config.media.allow.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(networks(Config::default()).is_empty());
    let written = load("[media]\nallow = [\"10.1.2.0/24\", \"::1\"]", &[]).unwrap();
    assert_eq!(networks(written), ["10.1.2.0/24", "::1/128"]);
    let set = load("", &[("POMBO__MEDIA__ALLOW", "10.0.0.7, fd00:12::/64")]).unwrap();
    assert_eq!(networks(set), ["10.0.0.7/32", "fd00:12::/64"]);
    assert!(networks(load("", &[("POMBO__MEDIA__ALLOW", " ")]).unwrap()).is_empty());

    let file = r#"
        [media]
        allow = ["10.1.2.0/24", "localhost"]
        timeout = "0s"
        concurrency = 0
        image_limit = "0B"
        memory = "64MiB"
    "#;
    insta::assert_snapshot!(shown(file, &[("POMBO__MEDIA__ALLOW", "10.0.0.0/33")]), @r#"
    the configuration has 6 faults

    media.allow (file pombo.toml)
      wrong: a list has an entry that is not a network, such as "10.1.2.0/24" or "fd00:12::/64"
      fix:   give a list, or leave it out

    media.allow (environment variable POMBO__MEDIA__ALLOW)
      wrong: "10.0.0.0/33" has an entry that is not a network, such as "10.1.2.0/24" or "fd00:12::/64"
      fix:   give a list, or leave it out

    media.concurrency (file pombo.toml)
      wrong: 0 is too few
      fix:   give at least 1

    media.image_limit (file pombo.toml)
      wrong: no file is so small
      fix:   give a size such as "16MiB"

    media.timeout (file pombo.toml)
      wrong: it cannot be zero
      fix:   give a span such as "5s"

    media.memory (file pombo.toml)
      wrong: 67108864 bytes are less than media.document_limit, 104857600 bytes
      fix:   raise it, or lower media.document_limit
    "#);
}

#[test]
fn a_secret_is_never_repeated_in_a_fault() {
    let environment = [
        ("POMBO__SECRETS__KEY", "hunter2"),
        ("POMBO__DATABASE__URL", "mysql://root:hunter2@localhost/pombo"),
    ];
    let faults = shown("", &environment);
    assert!(faults.contains("2 faults") && !faults.contains("hunter2"), "{faults}");
    let in_file = shown("[secrets]\nkey = 7777777\n", &[]);
    assert!(!in_file.contains("7777777"), "{in_file}");
    let broken = shown("[secrets]\nkey = \"hunter2\n", &[]);
    assert!(!broken.contains("hunter2"), "{broken}");
    assert!(
        !format!("{:?}", load("", &[("POMBO__DATABASE__URL", "postgres://a:hunter2@b/c")]))
            .contains("hunter2")
    );
}

#[test]
fn a_file_that_cannot_be_read_is_one_fault_beside_those_of_the_environment() {
    let environment = [("POMBO__SERVER__WORKERS".to_owned(), "x".to_owned())];
    let Faults(faults) =
        Config::load_from(Some(Path::new("/nowhere/pombo.toml")), environment.into_iter()).unwrap_err();
    assert_eq!(faults.len(), 2);
    assert_eq!(faults[0].source, Source::File("/nowhere/pombo.toml".into()));
    assert_eq!(faults[1].option.as_deref(), Some("server.workers"));

    let faults = shown("[server]\nbind = 127.0.0.1\n", &[]);
    assert!(faults.contains("line 2 is not TOML"), "{faults}");
}

#[test]
fn zero_threads_mean_one_per_core() {
    assert!(per_core(0) >= 1);
    assert_eq!(per_core(3), 3);
}

#[test]
fn a_preset_stands_in_for_the_reference_and_gives_way_to_every_layer() {
    let preset = [("log.level", "warn")];
    let quiet = Config::layered(&preset, None, std::iter::empty()).unwrap();
    assert_eq!(quiet.log.level, "warn");
    let set = [("POMBO__LOG__LEVEL".to_owned(), "info".to_owned())];
    let told = Config::layered(&preset, None, set.into_iter()).unwrap();
    assert_eq!(told.log.level, "info");
}

#[test]
fn the_memory_for_bodies_has_room_for_two_of_the_largest() {
    let with = |body: &str, hook: &str| {
        load(
            &format!(
                "[server]\nbody_memory = \"10MiB\"\nbody_limit = \"{body}\"\nhook_body_limit = \"{hook}\""
            ),
            &[],
        )
    };
    assert!(with("5MiB", "5MiB").is_ok());
    for (body, hook, option) in
        [("6MiB", "1MiB", "server.body_limit"), ("1MiB", "6MiB", "server.hook_body_limit")]
    {
        let shown = with(body, hook).unwrap_err().to_string();
        assert!(shown.contains(&format!("less than twice {option}")), "{shown}");
    }
}

#[test]
fn operators_have_an_address_of_their_own_or_none() {
    let bind = |address: &str| load("", &[("POMBO__SERVER__OPERATOR_BIND", address)]);
    assert_eq!(bind("").unwrap().server.operator_bind, None);
    assert_eq!(bind("127.0.0.1:8081").unwrap().server.operator_bind, Some(([127, 0, 0, 1], 8081).into()));
    assert!(bind("localhost").unwrap_err().to_string().contains("server.operator_bind"));
}

#[test]
fn the_public_address_has_no_path() {
    let public = |address: &str| load("", &[("POMBO__SERVER__PUBLIC_URL", address)]);
    assert_eq!(public("").unwrap().server.public_url, None);
    let shown = public("https://pombo.example").unwrap().server.public_url;
    assert_eq!(shown.map(|url| url.to_string()).as_deref(), Some("https://pombo.example/"));
    for wrong in
        ["pombo.example", "ftp://pombo.example", "https://pombo.example/below", "https://pombo.example?x"]
    {
        assert!(public(wrong).unwrap_err().to_string().contains("server.public_url"), "{wrong}");
    }
}

#[test]
fn traces_have_a_collector_and_headers_that_are_never_shown() {
    let config = load(
        "[telemetry]\notlp_endpoint = \"https://collector.example/otlp/\"\nsample_sends = 0.25",
        &[("POMBO__TELEMETRY__OTLP_HEADERS", "Authorization=Bearer s3cret, x-team=ops")],
    )
    .unwrap();
    assert_eq!(config.telemetry.otlp_endpoint.as_ref().unwrap().as_str(), "https://collector.example/otlp/");
    let headers = config.telemetry.otlp_headers.iter().map(|(name, value)| (name.as_str(), value.expose()));
    assert_eq!(headers.collect::<Vec<_>>(), [("authorization", "Bearer s3cret"), ("x-team", "ops")]);
    assert!(!format!("{config:?}").contains("s3cret"));
    assert!(Config::default().telemetry.otlp_endpoint.is_none());

    let faults = shown(
        "[telemetry]\notlp_endpoint = \"http://me:s3cret@collector\"\nsample_sends = 1.5\n\
         sample_attempts_per_send = 0\nservice_name = \" \"\ntimeout = \"0s\"",
        &[("POMBO__TELEMETRY__OTLP_HEADERS", "s3cret")],
    );
    assert!(!faults.contains("s3cret"), "{faults}");
    let options =
        ["otlp_endpoint", "otlp_headers", "sample_sends", "sample_attempts_per_send", "service_name"];
    for option in options.iter().chain(&["timeout"]) {
        assert!(faults.contains(&format!("telemetry.{option}")), "{faults}");
    }
}
