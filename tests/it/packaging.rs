//! The files for operators fit the program: they can be parsed, and name only things that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

use crate::database::Universe;
use crate::harness::Answer;
use crate::program::Place;
use crate::running::until_soon;
use crate::serving::Serving;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Vec<Yaml> {
    YamlLoader::load_from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The names that begin like those of our metrics, in a query.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let known = ["pombo_", "http_re", "process_"];
    words.filter(|word| known.iter().any(|known| word.starts_with(known))).map(str::to_owned).collect()
}

fn queries() -> String {
    let board: Value = serde_json::from_str(&read("packaging/grafana/pombo.json")).unwrap();
    let panels = board["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let shown: String = targets.map(|target| format!("{}\n", target["expr"].as_str().unwrap())).collect();
    let rules = yaml("packaging/prometheus/alerts.yaml");
    let mut alerts = String::new();
    for rule in rules[0]["groups"][0]["rules"].as_vec().unwrap() {
        let name = rule["alert"].as_str().unwrap();
        assert!(rule["expr"].as_str().is_some() && rule["labels"]["severity"].as_str().is_some(), "{name}");
        let annotations = &rule["annotations"];
        for text in ["summary", "description"] {
            assert!(annotations[text].as_str().is_some_and(|text| text.len() > 15), "{name} has no {text}");
        }
        alerts += rule["expr"].as_str().unwrap();
        alerts += "\n";
    }
    shown + &alerts
}

#[test]
fn the_alerts_and_the_board_are_what_the_program_writes() {
    for (words, path) in [
        ("explain --alerts", "packaging/prometheus/alerts.yaml"),
        ("explain --board", "packaging/grafana/pombo.json"),
        ("explain --metrics", "docs/metrics.md"),
    ] {
        let written = Place::new().run(words);
        assert_eq!(written.code, Some(0), "{written:?}");
        assert!(written.stdout == read(path), "{path} is out of date: run `cargo run -- {words} > {path}`");
    }
}

#[test]
fn every_file_can_be_read() {
    let mut found = Vec::new();
    files(&root().join("packaging"), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for path in found {
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if path.ends_with(".yaml") {
            assert!(!yaml(path).is_empty(), "{path} is empty");
        } else if path.ends_with(".json") {
            serde_json::from_str::<Value>(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        } else if path.ends_with(".toml") {
            read(path).parse::<toml::Table>().unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}

/// A test beside the table of metrics checks that it has what the program counts.
#[actix_web::test]
async fn the_program_has_every_metric_that_the_board_and_the_alerts_query() {
    let universe = Universe::sqlite().await;
    let mut serving = Serving::new(&universe, 1, "unlimited").await;
    let (mut service, url) = serving.serve().await;
    assert_eq!(serving.send(&url).await.status, 202);
    let health =
        Answer::to(reqwest::Client::new().post(format!("{url}/hooks/meta/{}", serving.channel))).await;
    assert!(health.status >= 400);
    let mut shown = String::new();
    until_soon("the message measured", async || {
        shown = Answer::to(reqwest::Client::new().get(format!("{url}/metrics"))).await.body;
        shown.contains("outcome=\"sent\"")
    })
    .await;
    // The image's health check asks the same service.
    let healthy = Place::new().with("POMBO__SERVER__BIND", url.trim_start_matches("http://")).run("health");
    assert!(healthy.code == Some(0) && healthy.stdout.contains("is ready"), "{healthy:?}");
    service.crash();
    universe.end().await;
    let shown: BTreeSet<_> = shown
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next().map(str::to_owned))
        .collect();
    // Counters are there from the start. These gauges and durations belong to what this service does not do.
    let unseen = [
        "pombo_clock_offset_seconds",
        "pombo_cluster_lease_seconds",
        "pombo_cluster_nodes",
        "pombo_cluster_shards",
        "pombo_cluster_trusted",
        "pombo_console_streams",
        "pombo_events_connected",
        "pombo_imports_running",
        "pombo_mails_waiting",
        "pombo_mails_waiting_age_seconds",
        "pombo_messages_waiting",
        "pombo_nats_connected",
        "pombo_events_waiting_age_seconds",
        "pombo_events_waiting",
        "pombo_retention_step_seconds_bucket",
    ];
    let asked = metrics(&queries());
    assert!(asked.len() > 25, "{asked:?}");
    let missing: Vec<_> =
        asked.iter().filter(|name| !shown.contains(*name) && !unseen.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "not in /metrics: {missing:?}; it has {shown:?}");
}

/// The lines of a unit with this key.
fn unit(key: &str) -> Vec<String> {
    let unit = read("packaging/systemd/pombo.service");
    let lines = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    lines.map(str::to_owned).collect()
}

/// Checks that the program understands a command line: it must reach the configuration, which is wrong.
fn assert_understood(line: &str) {
    let place = Place::new().with("POMBO__SERVER__BIND", "nonsense");
    let run = place.run(line);
    assert!(run.code == Some(2) && run.stderr.contains("server.bind"), "{line}: {run:?}");
}

#[test]
fn the_unit_starts_the_program_as_it_wants_to_be_started() {
    let [start] = &unit("ExecStart")[..] else { panic!("one command") };
    let (program, line) = start.split_once(' ').unwrap();
    assert_eq!(program, "/usr/bin/pombo");
    let file = root().join("packaging/systemd/pombo.toml");
    assert!(line.contains("/etc/pombo/pombo.toml"));
    assert_understood(&line.replace("/etc/pombo/pombo.toml", file.to_str().unwrap()));
    let place = Place::new().with("POMBO__DATA__DIR", "lib");
    let run = place.run(&format!("migrate up --config {}", file.display()));
    assert_eq!(run.code, Some(0), "{run:?}");
    for option in unit("Environment") {
        let (name, value) = option.split_once('=').unwrap();
        let run = Place::new().with(name, value.replace("/var/lib", "lib")).run("migrate up");
        assert_eq!(run.code, Some(0), "{option}: {run:?}");
    }
    // The unit ends the program in time, and is hardened.
    let stop: u64 = unit("TimeoutStopSec")[0].parse().unwrap();
    assert!(stop > 30, "server.shutdown_grace is 30 s");
    for (key, value) in [
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("MemoryDenyWriteExecute", "yes"),
        ("StateDirectoryMode", "0700"),
        ("User", "pombo"),
    ] {
        assert_eq!(unit(key), [value], "{key}");
    }
}

/// The unit's program and a person's command use the same database.
#[cfg(unix)]
#[test]
fn the_command_line_finds_the_configuration_of_the_unit() {
    use std::os::unix::fs::PermissionsExt as _;

    let [start] = &unit("ExecStart")[..] else { panic!("one command") };
    assert!(start.ends_with(&format!("--config {}", pombo::config::PACKAGED)), "{start}");
    let [variables] = &unit("EnvironmentFile")[..] else { panic!("one file") };
    let beside = Path::new(pombo::config::PACKAGED).with_file_name("environment");
    assert_eq!(variables.trim_start_matches('-'), beside.to_str().unwrap());
    let table: toml::Table = read("packaging/systemd/pombo.toml").parse().unwrap();
    let directory = table["data"]["dir"].as_str().unwrap();
    assert!(unit("Environment").contains(&format!("POMBO__DATA__DIR={directory}")));

    // The same files in another place, which a variable names.
    let place = Place::new();
    fs::create_dir(place.path().join("etc")).unwrap();
    let here = |text: &str| text.replace("/var/lib/pombo", place.path().join("var").to_str().unwrap());
    place.write("etc/pombo.toml", &here(&read("packaging/systemd/pombo.toml")));
    place.write(
        "etc/environment",
        &format!("# of the service\nPOMBO__SECRETS__KEY=\"{}\"\n", "01".repeat(32)),
    );
    let place = place.with("POMBO_CONFIG", "etc/pombo.toml");
    place.json("company create Acme");
    assert!(place.path().join("var/pombo.db").exists() && !place.path().join("data").exists());
    assert!(!place.path().join("var/secret.key").exists(), "the key is beside the configuration");
    assert_eq!(place.json("company list")[0]["name"], "Acme");
    let variables = place.path().join("etc/environment");
    fs::set_permissions(&variables, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(place.run("doctor").stdout.contains("any user of this machine can read etc/environment"));
    fs::set_permissions(&variables, fs::Permissions::from_mode(0o640)).unwrap();
    let doctor = place.run("doctor").stdout;
    assert!(doctor.contains("read from etc/pombo.toml and etc/environment"), "{doctor}");
}

#[test]
fn the_units_for_one_node_and_for_several_differ_only_in_a_node_s_own_lines() {
    let (one, several) = (read("packaging/systemd/pombo.service"), read("packaging/systemd/pombo@.service"));
    let own = |line: &&str| !line.contains("%i");
    let common: Vec<_> = several.lines().filter(own).collect();
    assert_eq!(several.lines().count() - common.len(), 6);
    let gone: Vec<_> = one.lines().filter(|line| !common.contains(line)).collect();
    assert_eq!(gone.len(), 5, "{gone:?}");
    assert!(several.contains("\nExecStart=/usr/bin/pombo serve --config /etc/pombo/%i.toml\n"));
}

/// The words of a JSON array after an instruction of the Dockerfile.
fn instruction(name: &str) -> Vec<String> {
    let file = read("packaging/container/Dockerfile");
    let line = file.lines().rev().find(|line| line.starts_with(name)).unwrap();
    serde_json::from_str(&line[line.find('[').unwrap()..]).unwrap()
}

#[test]
fn the_image_uses_only_existing_files_features_and_commands() {
    let file = read("packaging/container/Dockerfile");
    assert_eq!(instruction("ENTRYPOINT"), ["/usr/bin/pombo"]);
    assert_eq!(instruction("CMD"), ["serve"]);
    assert_understood("serve");
    let health = instruction("HEALTHCHECK");
    assert_eq!(health, ["/usr/bin/pombo", "health"]);
    assert_understood(&health[1..].join(" "));

    // The build sees all files that the manifest needs.
    let context = read(".dockerignore");
    let seen: BTreeSet<_> = context.lines().filter_map(|line| line.strip_prefix('!')).collect();
    for path in &seen {
        assert!(root().join(path).exists(), "{path} is not there");
    }
    for needed in ["Cargo.toml", "Cargo.lock", "src", "crates", "entity", "migration", "config", "benches"] {
        assert!(seen.contains(needed), "the build does not see {needed}");
    }
    for line in file.lines().filter(|line| line.contains("install -D")) {
        let source = line.split_whitespace().find(|word| word.starts_with("LICENSE"));
        assert!(line.contains("target/release/pombo") || seen.contains(source.unwrap()), "{line}");
    }
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert!(file.contains("--no-default-features") && manifest["features"].get("default").is_some());
    let rust = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert!(file.contains(&format!("ARG RUST={rust}")), "the image is built with another Rust than {rust}");
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    assert!(file.contains(&format!("ARG VERSION={version}")), "the image's version is not {version}");
    for line in
        file.lines().filter(|line| line.trim_start().starts_with("POMBO__") || line.starts_with("ENV POMBO"))
    {
        let setting = line.trim_start_matches("ENV").trim().trim_end_matches('\\').trim();
        assert_is_option(setting.split_once('=').unwrap().0);
    }
    assert!(file.contains("\nUSER 65532:65532"), "the program would run as root");
}

/// The fields of a mapping, and those that it takes over from another one.
fn merged(mapping: &Yaml) -> BTreeMap<&str, &Yaml> {
    let own = mapping.as_hash().unwrap().iter().map(|(name, value)| (name.as_str().unwrap(), value));
    let mut merged: BTreeMap<_, _> = own.collect();
    if let Some(from) = merged.remove("<<") {
        let taken = from.as_hash().unwrap().iter().map(|(name, value)| (name.as_str().unwrap(), value));
        taken.for_each(|(name, value)| {
            merged.entry(name).or_insert(value);
        });
    }
    merged
}

/// Checks that there is such an option.
fn assert_is_option(variable: &str) {
    let (section, key) = variable.strip_prefix("POMBO__").unwrap().split_once("__").unwrap();
    let reference: toml::Table = read("config/default.toml").parse().unwrap();
    let section = reference.get(&section.to_lowercase()).unwrap_or_else(|| panic!("{variable}"));
    assert!(section.get(key.to_lowercase()).is_some(), "there is no option {variable}");
}

#[test]
fn the_compose_and_kubernetes_files_use_only_existing_options_and_paths() {
    let compose = &yaml("packaging/compose.yaml")[0];
    let pombo = &compose["services"]["pombo"];
    for (name, _) in pombo["environment"].as_hash().unwrap() {
        assert_is_option(name.as_str().unwrap());
    }
    let dockerfile = pombo["build"]["dockerfile"].as_str().unwrap();
    assert!(root().join(dockerfile).exists(), "{dockerfile}");
    assert!(compose["services"]["postgres"]["healthcheck"]["test"].as_vec().is_some());

    for file in ["packaging/compose.yaml", "packaging/compose.nodes.yaml"] {
        let postgres = &yaml(file)[0]["services"]["postgres"];
        // The image makes this role a superuser, so the service has another one, which the script makes.
        assert_eq!(postgres["environment"]["POSTGRES_USER"].as_str(), Some("postgres"), "{file}");
        let script = postgres["volumes"].as_vec().unwrap().iter().filter_map(Yaml::as_str);
        let mut script =
            script.filter_map(|volume| volume.strip_suffix(":/docker-entrypoint-initdb.d/role.sh:ro"));
        let script = root().join("packaging").join(script.next_back().unwrap());
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&script).unwrap().permissions());
        assert_eq!(mode & 0o111, 0o111, "{file}: the image runs only what can be run");
        let script = fs::read_to_string(script).unwrap();
        assert!(
            script.contains("CREATE ROLE pombo LOGIN NOSUPERUSER")
                && read(file).contains("postgres://pombo:")
        );
    }
    let compose = &yaml("packaging/compose.nodes.yaml")[0];
    let services = compose["services"].as_hash().unwrap();
    let services: Vec<_> = services.values().map(merged).collect();
    let nodes = services.iter().filter(|service| service["image"].as_str() == Some("pombo"));
    let nodes: Vec<_> = nodes.map(|node| merged(node["environment"])).collect();
    assert_eq!(nodes.len(), 3);
    nodes.iter().flat_map(BTreeMap::keys).for_each(|variable| assert_is_option(variable));
    let of = |variable: &str| nodes.iter().map(|node| node[variable].as_str()).collect::<BTreeSet<_>>().len();
    assert_eq!((of("POMBO__CLUSTER__NAME"), of("POMBO__CLUSTER__NODE")), (1, 3), "one cluster of three");

    let kustomization = &yaml("packaging/kubernetes/kustomization.yaml")[0];
    for resource in kustomization["resources"].as_vec().unwrap() {
        let path = format!("packaging/kubernetes/{}", resource.as_str().unwrap());
        assert!(yaml(&path).iter().all(|document| document["kind"].as_str().is_some()), "{path}");
    }
    for literal in kustomization["configMapGenerator"][0]["literals"].as_vec().unwrap() {
        assert_is_option(literal.as_str().unwrap().split_once('=').unwrap().0);
    }
    let deployment = &yaml("packaging/kubernetes/deployment.yaml")[0];
    let spec = &deployment["spec"];
    assert_eq!((spec["replicas"].as_i64(), spec["strategy"]["type"].as_str()), (Some(1), Some("Recreate")));
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!(container["args"][0].as_str(), Some("serve"));
    let openapi = root().join("src/api/health.rs");
    let paths = fs::read_to_string(openapi).unwrap();
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        assert!(paths.contains(&format!("path = \"{path}\"")), "{probe} asks for {path}");
    }
    let grace = spec["template"]["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap();
    assert!(grace > 30, "server.shutdown_grace is 30 s");
}

#[test]
fn the_debian_package_consists_of_existing_files() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let deb = &manifest["package"]["metadata"]["deb"];
    for asset in deb["assets"].as_array().unwrap() {
        let source = asset[0].as_str().unwrap();
        assert!(source == "target/release/pombo" || root().join(source).exists(), "{source}");
    }
    let license = deb["license-file"][0].as_str().unwrap();
    assert!(root().join(license).exists());
    for script in ["postinst", "postrm"] {
        let path = format!("{}{script}", deb["maintainer-scripts"].as_str().unwrap());
        let text = read(&path);
        // What cargo-deb puts in starts and stops the unit.
        assert!(text.starts_with("#!/bin/sh") && text.contains("#DEBHELPER#"), "{path}");
    }
    let units = deb["systemd-units"]["unit-scripts"].as_str().unwrap();
    let name = deb["systemd-units"]["unit-name"].as_str().unwrap();
    assert!(root().join(format!("{units}{name}.service")).exists());
}
