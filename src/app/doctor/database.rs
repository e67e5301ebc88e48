//! Checks the database: whether it answers, and whether its schema and its secrets fit.

use std::collections::BTreeMap;

use super::{Findings, clients, key_proof, sealing_keys, serve, store_options};
use crate::clock::database::{TOLERATED, warning};
use crate::config::Config;
use crate::domain::address;
use crate::domain::channel::Kind;
use crate::domain::plural::counted;
use crate::files;
use crate::store::checkup::{self, Checkup};
use crate::store::nodes::Node;
use crate::store::users::failed_sign_ins::Origins;
use crate::store::{self, Error, Store};
use crate::vault::{KeyId, Vault};

const CHECK: &str = "database";

/// Checks the database and returns the number of web sessions in it.
pub(super) async fn check(findings: &mut Findings, config: &Config, vault: Option<&Vault>) -> u64 {
    let options = store_options(config);
    let shown = address::shown(&options.url);
    if let Some(file) = checkup::file_of(&options) {
        let file_shown = file.display();
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        if !file.exists() {
            // The data directory is created with the database; any other directory is not.
            if config.database.url.is_some() && directory.is_some_and(|directory| !directory.exists()) {
                findings.bad(
                    CHECK,
                    format!(
                        "the directory of {file_shown} does not exist: create it, or correct \
                         database.url"
                    ),
                );
            } else {
                findings.look(
                    CHECK,
                    format!(
                        "{file_shown} does not exist yet: `pombo serve` or `pombo migrate up` creates \
                         it"
                    ),
                );
            }
            return 0;
        }
        if files::is_exposed(&file) {
            findings.look(
                CHECK,
                format!("other users of this machine may read {file_shown}: chmod 600 {file_shown}"),
            );
        }
    }
    match checkup::check_up(&options).await {
        Err(Error::Unavailable(words)) => {
            findings.bad(
                CHECK,
                format!(
                    "{shown} does not answer ({words}): check that it runs, and that database.url is right"
                ),
            );
            0
        }
        Err(error) => {
            findings.bad(CHECK, format!("{shown} cannot be used: {error}"));
            0
        }
        Ok(found) => judge(findings, config, &options, &found, vault).await,
    }
}

async fn judge(
    findings: &mut Findings,
    config: &Config,
    options: &store::Options,
    found: &Checkup,
    vault: Option<&Vault>,
) -> u64 {
    if found.is_half_restored {
        findings.bad(CHECK, "a restore was interrupted: run `pombo restore` again before the service starts");
    }
    if found.is_standby {
        findings.bad(
            CHECK,
            "the server is a standby, which accepts no writes: set database.url to the primary server",
        );
    }
    if found.is_superuser {
        findings.look(
            CHECK,
            "the role of database.url is a superuser, who may run programs on the server's machine: use a role that only \
             owns its database",
        );
    }
    if let Some(granted) = found.server_connections.filter(|granted| *granted <= config.database.connections)
    {
        findings.bad(
            CHECK,
            format!(
                "the server grants {} in all, and database.connections asks for {}: raise max_connections there, \
                 or lower the option",
                counted(u64::from(granted), "connection", "connections"),
                config.database.connections
            ),
        );
    }
    let unapplied = || unapplied(found.pending, found.migrations);
    match (found.pending, config.database.migrate) {
        (0, _) => {}
        (_, true) => findings
            .look(CHECK, format!("{}: the next start of the service applies what is missing", unapplied())),
        (_, false) => {
            findings.bad(CHECK, format!("{}: run `pombo migrate up` before the service starts", unapplied()));
        }
    }
    if found.pending > 0 {
        return 0;
    }
    findings.good(CHECK, format!("it answers (version {}), and its schema is up to date", found.version));
    match inside(config, options, vault).await {
        Ok(Inside { sessions, missing, clock_ahead, obstacles, nodes, origins }) => {
            secrets(findings, config, &missing);
            clients::check(findings, config, &origins);
            clock(findings, clock_ahead);
            cluster(findings, config, &obstacles, &nodes);
            sessions
        }
        Err(error) => {
            findings.bad(CHECK, format!("it cannot be read: {error}"));
            0
        }
    }
}

/// Checks the secrets and the clients of a service that has the database open.
pub(super) async fn check_open(findings: &mut Findings, config: &Config, store: &Store, vault: &Vault) {
    let found = async {
        let missing = missing(store, Some(vault)).await?;
        anyhow::Ok((missing, store.sign_ins().origins(clients::SIGN_INS).await?))
    };
    match found.await {
        Ok((missing, origins)) => {
            secrets(findings, config, &missing);
            clients::check(findings, config, &origins);
        }
        Err(error) => findings.bad(CHECK, format!("it cannot be read: {error}")),
    }
}

/// The keys that the database needs and this process does not have, each with its number of secrets.
async fn missing(store: &Store, vault: Option<&Vault>) -> anyhow::Result<BTreeMap<KeyId, u64>> {
    let mut missing = sealing_keys::missing(store, vault).await?;
    if let Some(vault) = vault {
        for key in key_proof::missing(store, vault).await? {
            missing.entry(key).or_default();
        }
    }
    Ok(missing)
}

/// What the database says of the service that will use it.
struct Inside {
    /// The number of web sessions.
    sessions: u64,
    /// The missing keys with their numbers of secrets.
    missing: BTreeMap<KeyId, u64>,
    /// How far the clock of this machine is ahead of the database's, in milliseconds.
    clock_ahead: Option<i64>,
    /// Why a node with this configuration cannot join those that serve.
    obstacles: Vec<String>,
    /// The nodes that serve.
    nodes: Vec<Node>,
    /// Where people sign in.
    origins: Origins,
}

async fn inside(config: &Config, options: &store::Options, vault: Option<&Vault>) -> anyhow::Result<Inside> {
    let store = Store::open(&store::Options { migrate: false, ..options.clone() }).await?;
    let found = look_inside(config, &store, vault).await;
    store.close().await;
    found
}

async fn look_inside(config: &Config, store: &Store, vault: Option<&Vault>) -> anyhow::Result<Inside> {
    let sessions = store.channels().count(Kind::WebSession).await?;
    let missing = missing(store, vault).await?;
    let clock_ahead = store.nodes().read_clock().await?.map(|reading| reading.ahead());
    let (mut obstacles, mut nodes) = (Vec::new(), Vec::new());
    if config.cluster.is_joined() && clock_ahead.is_some() {
        let ids: Vec<_> = vault.iter().flat_map(|vault| vault.key_ids()).map(|key| key.to_string()).collect();
        let provider = address::shown(&config.cloud_api.base_url);
        obstacles = store.nodes().obstacles_to_joining(&serve::described(config, &ids, &provider)).await?;
        nodes = store.nodes().all().await?;
        nodes.retain(Node::is_alive);
    }
    let origins = store.sign_ins().origins(clients::SIGN_INS).await?;
    Ok(Inside { sessions, missing, clock_ahead, obstacles, nodes, origins })
}

fn clock(findings: &mut Findings, ahead: Option<i64>) {
    const CHECK: &str = "database clock";
    match ahead.map(warning) {
        None => {}
        Some(None) => findings.good(CHECK, "the clock of this machine agrees with the database's"),
        // A node takes the database's time; a service that runs alone does not.
        Some(Some(sentence)) => findings.look(CHECK, sentence),
    }
}

fn cluster(findings: &mut Findings, config: &Config, obstacles: &[String], nodes: &[Node]) {
    const CHECK: &str = "cluster";
    if !config.cluster.is_joined() {
        return;
    }
    let before = findings.0.len();
    for obstacle in obstacles {
        findings.bad(CHECK, obstacle);
    }
    for node in nodes {
        let name = &node.name;
        if node.lacks_key {
            findings.bad(
                CHECK,
                format!(
                    "the node `{name}` lacks a sealing key of the database and takes no channels: give it the key"
                ),
            );
        }
        if let Some(ahead) = node.clock_ahead.filter(|ahead| warning(*ahead).is_some()) {
            findings.look(
                CHECK,
                format!(
                    "the clock of the node `{name}` is {:.1} seconds {} the database's: let a time service set it, \
                     such as chrony",
                    ahead.unsigned_abs() as f64 / 1_000.0,
                    if ahead > 0 { "ahead of" } else { "behind" }
                ),
            );
        }
    }
    if findings.0.len() == before {
        let clocks = TOLERATED.as_secs();
        findings.good(
            CHECK,
            format!(
                "{}, with the keys of the database and clocks within {clocks} seconds of its own",
                counted(nodes.len() as u64, "node serves", "nodes serve")
            ),
        );
    }
}

/// How many of the migrations are missing.
fn unapplied(pending: usize, migrations: usize) -> String {
    let verb = if pending == 1 { "is" } else { "are" };
    format!("{pending} of {migrations} migrations {verb} missing")
}

fn secrets(findings: &mut Findings, config: &Config, missing: &BTreeMap<KeyId, u64>) {
    const CHECK: &str = "secrets";
    if missing.is_empty() {
        findings.good(CHECK, "every key that the database's secrets need is there");
        return;
    }
    let place = if config.secrets.key.is_some() {
        "secrets.previous_keys".to_owned()
    } else {
        config.key_file().display().to_string()
    };
    for (id, values) in missing {
        findings.bad(
            CHECK,
            format!(
                "{} sealed with the key {id}, which is missing: put the key file that belongs to this database \
                 back as {place}; if the key is lost, run `pombo secrets forget {id}` and enter the tokens again",
                counted(*values, "secret is", "secrets are")
            ),
        );
    }
}
