//! Checks the database: whether it answers, and whether its schema and its secrets fit.

use std::net::IpAddr;

use super::{Findings, error, sealing_keys, store_options};
use crate::config::Config;
use crate::domain::channel::Kind;
use crate::files;
use crate::store::checkup::{self, Checkup};
use crate::store::users::failed_sign_ins::Origins;
use crate::store::{self, Error, Store};
use crate::surface::is_private;
use crate::vault::Vault;

const CHECK: &str = "database";
/// The attempts to sign in that are looked at, and fewer than say nothing.
const SIGN_INS: u64 = 100;
const FEW_SIGN_INS: usize = 10;

/// Checks the database and returns the number of web sessions in it.
pub(super) async fn check(findings: &mut Findings, config: &Config, vault: Option<&Vault>) -> u64 {
    let options = store_options(config);
    let shown = error::without_password(&options.url);
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
    let Checkup { version, pending, migrations, is_half_restored, is_standby, server_connections } = found;
    if *is_half_restored {
        findings.bad(CHECK, "a restore was interrupted: run `pombo restore` again before the service starts");
    }
    if *is_standby {
        findings.bad(
            CHECK,
            "the server is a standby, which accepts no writes: set database.url to the primary server",
        );
    }
    if let Some(granted) = server_connections.filter(|granted| *granted <= config.database.connections) {
        findings.bad(
            CHECK,
            format!(
                "the server grants {granted} connections in all, and database.connections asks for {}: raise \
                 max_connections there, or lower the option",
                config.database.connections
            ),
        );
    }
    match (pending, config.database.migrate) {
        (0, _) => {}
        (_, true) => findings.look(
            CHECK,
            format!("{pending} of {migrations} migrations are missing: the next start of the service applies them"),
        ),
        (_, false) => findings.bad(
            CHECK,
            format!("{pending} of {migrations} migrations are missing: run `pombo migrate up` before the service starts"),
        ),
    }
    if *pending > 0 {
        return 0;
    }
    findings.good(CHECK, format!("it answers (version {version}), and its schema is up to date"));
    match inside(options, vault).await {
        Ok(Inside { sessions, missing, origins }) => {
            secrets(findings, config, &missing);
            clients(findings, config, &origins);
            sessions
        }
        Err(error) => {
            findings.bad(CHECK, format!("it cannot be read: {error}"));
            0
        }
    }
}

/// What the checks read in the database.
struct Inside {
    /// The number of web sessions.
    sessions: u64,
    /// The missing keys, with their numbers of secrets.
    missing: Vec<(String, u64)>,
    /// Where people sign in.
    origins: Origins,
}

async fn inside(options: &store::Options, vault: Option<&Vault>) -> anyhow::Result<Inside> {
    let store = Store::open(&store::Options { migrate: false, ..options.clone() }).await?;
    let sessions = store.count_channels(Kind::WebSession).await;
    let missing = sealing_keys::missing(&store, vault).await;
    let origins = store.sign_in_origins(SIGN_INS).await;
    store.close().await;
    let missing = missing?.into_iter().map(|(id, values)| (id.to_string(), values)).collect();
    Ok(Inside { sessions: sessions?, missing, origins: origins? })
}

/// Whether the people who sign in seem to have one address, which is then a proxy's.
fn clients(findings: &mut Findings, config: &Config, origins: &Origins) {
    const CHECK: &str = "clients";
    let Origins { attempts, people, addresses } = origins;
    if *attempts < FEW_SIGN_INS || people.len() < 2 {
        return;
    }
    let mut all = addresses.iter().map(|address| address.parse::<IpAddr>().ok());
    let is_proxy = |address: IpAddr| {
        is_private(address) || config.server.trusted_proxies.iter().any(|network| network.contains(&address))
    };
    match (all.next().flatten().filter(|address| is_proxy(*address)), all.next()) {
        (Some(address), None) => findings.look(
            CHECK,
            format!(
                "the last {attempts} attempts to sign in, of several people, came from {address}, which seems to be a \
                 proxy: set server.trusted_proxies to its network and let it set X-Forwarded-For, so that one client's \
                 guesses at passwords do not make all others wait"
            ),
        ),
        _ => findings.good(CHECK, "people who sign in are told apart by their addresses"),
    }
}

fn secrets(findings: &mut Findings, config: &Config, missing: &[(String, u64)]) {
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
                "{values} secrets are sealed with the key {id}, which is missing: put the key file that belongs \
                 to this database back as {place}, or enter the tokens again"
            ),
        );
    }
}
