//! Checks this machine: the configuration, the data directory, its disk, the key file, the limit of open
//! files.

use std::fs;
use std::path::Path;

use super::open_files::Room;
use super::{Findings, open_files as limits};
use crate::config::{Config, Sources, secret_options};
use crate::domain::address;
use crate::files;
use crate::vault::Vault;

const MIB: u64 = 1024 * 1024;
/// With less free space on the disk, the database soon cannot be written.
const LITTLE: u64 = 512 * MIB;
/// With less free space, a person should look.
const SOME: u64 = 2048 * MIB;

pub(super) fn configuration(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "configuration";
    let before = findings.0.len();
    let server = &config.server;
    let Sources { file, variables, unread } = &config.sources;
    if let Some(file) = file.as_deref().filter(|file| files::is_exposed(file) && has_secret(file)) {
        let shown = file.display();
        findings.bad(
            CHECK,
            format!("{shown} holds a secret and other users of this machine can read it: chmod 600 {shown}"),
        );
    }
    if let Some(variables) = variables.as_deref().filter(|variables| files::is_public(variables)) {
        let shown = variables.display();
        findings.bad(CHECK, format!("any user of this machine can read {shown}: chmod 640 {shown}"));
    }
    if let Some(unread) = unread {
        let shown = unread.display();
        findings.look(
            CHECK,
            format!(
                "this user may not read {shown}, so that commands lack its variables: let the group of the service read \
                 it, with `chgrp pombo {shown}` and `chmod 640 {shown}`"
            ),
        );
    }
    if !server.bind.ip().is_loopback() {
        if server.operator_bind.is_none() {
            findings.look(
                CHECK,
                format!(
                    "/metrics and /operator are served at {}, which other machines may reach: set \
                     server.operator_bind, or keep these paths behind the proxy",
                    server.bind
                ),
            );
        }
        if server.public_url.as_ref().is_none_or(|url| url.scheme() != "https") {
            findings.look(
                CHECK,
                "other machines may reach the service, and server.public_url is not an https address: links and the \
                 console's cookie go over http; set it to the address of the proxy with TLS",
            );
        }
    }
    if server.public_url.as_ref().is_some_and(|url| url.scheme() == "https")
        && server.trusted_proxies.is_empty()
    {
        findings.look(
            CHECK,
            "server.public_url is behind a proxy, and server.trusted_proxies is empty: every visitor has the proxy's \
             address, so that one visitor's guesses at passwords make all others wait; set server.trusted_proxies to the \
             proxy's network, and let the proxy set X-Forwarded-For and X-Forwarded-Proto",
        );
    }
    if findings.0.len() == before {
        findings.good(CHECK, format!("it is valid; read from {}", config.sources));
    }
}

fn has_secret(file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(file) else { return false };
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    secret_options().iter().filter_map(|option| option.split_once('.')).any(|(section, key)| {
        let value = table.get(section).and_then(|section| section.get(key));
        value.is_some_and(|value| match value {
            toml::Value::String(text) => address::holds_secret(text),
            toml::Value::Array(list) => !list.is_empty(),
            _ => false,
        })
    })
}

pub(super) fn directory(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "data directory";
    let directory = &config.data.dir;
    let shown = directory.display();
    if !directory.exists() {
        findings.look(CHECK, format!("{shown} does not exist yet: the first start creates it"));
    } else if files::is_exposed(directory) {
        findings.look(CHECK, format!("other users of this machine may look into {shown}: chmod 700 {shown}"));
    } else if !is_writable(directory) {
        findings.bad(CHECK, format!("this user cannot write in {shown}: give it to the user of the service"));
    } else {
        findings.good(CHECK, format!("{shown} exists, with access only for its owner"));
    }
}

/// Whether files can be created in the directory, by the system's own answer, which also covers read-only
/// disks.
fn is_writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

pub(super) fn disk(findings: &mut Findings, config: &Config) {
    const CHECK: &str = "disk";
    // The directory may not exist yet: its disk will be the disk of the nearest directory above.
    let directory = std::path::absolute(&config.data.dir).unwrap_or_else(|_| config.data.dir.clone());
    let Some(directory) = directory.ancestors().find(|directory| directory.exists()) else { return };
    let Ok(disk) = rustix::fs::statvfs(directory) else {
        findings.look(CHECK, format!("the free space of {} cannot be read", directory.display()));
        return;
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let database = config.database.url.is_none().then(|| size(&config.data.dir.join("pombo.db")));
    let shown = directory.display();
    match judge_disk(free, database.unwrap_or_default()) {
        Disk::Full => findings.bad(
            CHECK,
            format!(
                "only {} MiB are free where {shown} is: free some space, or the service soon accepts nothing more",
                free / MIB
            ),
        ),
        Disk::Filling => findings.look(
            CHECK,
            format!(
                "{} MiB are free where {shown} is, which a backup or some days may fill: free some space in time",
                free / MIB
            ),
        ),
        Disk::Enough => findings.good(CHECK, format!("{} MiB are free where {shown} is", free / MIB)),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Disk {
    Full,
    Filling,
    Enough,
}

/// While the database is backed up, its log may grow as large as the database.
const fn judge_disk(free: u64, database: u64) -> Disk {
    if free < LITTLE {
        Disk::Full
    } else if free < SOME || free < database {
        Disk::Filling
    } else {
        Disk::Enough
    }
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

/// The vault, if it exists already.
pub(super) fn key_file(findings: &mut Findings, config: &Config) -> Option<Vault> {
    const CHECK: &str = "key file";
    let path = config.key_file();
    let shown = path.display();
    match Vault::open_existing(&config.secrets, &config.data.dir) {
        Err(error) => {
            findings.bad(CHECK, error.to_string());
            None
        }
        Ok(None) => {
            findings.look(
                CHECK,
                format!(
                    "{shown} does not exist: the first start creates it; a database that has secrets \
                     needs its own"
                ),
            );
            None
        }
        Ok(vault) => {
            match (config.secrets.key.is_some(), mode(&path)) {
                (true, _) => findings.good(CHECK, "the key is configured as secrets.key"),
                (false, mode) if mode & 0o007 != 0 => findings.bad(
                    CHECK,
                    format!("every user of this machine may read {shown} (mode {mode:o}): chmod 600 {shown}"),
                ),
                (false, mode) if mode & 0o070 != 0 => findings.look(
                    CHECK,
                    format!(
                        "the group of {shown} may read it (mode {mode:o}): chmod 600 {shown}, unless intended"
                    ),
                ),
                (false, _) => findings.good(CHECK, format!("{shown} exists, with access only for its owner")),
            }
            vault
        }
    }
}

/// The permissions of the file; none on systems without permissions of this kind.
fn mode(path: &Path) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().map_or(0, |metadata| metadata.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        0
    }
}

pub(super) fn open_files(findings: &mut Findings, config: &Config, sessions: u64) {
    const CHECK: &str = "open files";
    match limits::room(config, sessions) {
        Room::Enough { limit } => findings.good(CHECK, format!("the limit is {limit}, which is enough")),
        Room::Tight { limit, in_flight, clients } => findings.look(
            CHECK,
            format!(
                "the limit is {limit}: instead of engine.total_in_flight = {} and server.connections = {}, the service \
                 uses {in_flight} and {clients}; raise the limit with LimitNOFILE= of systemd, `--ulimit nofile=` of a \
                 container or `ulimit -n`",
                config.engine.total_in_flight, config.server.connections
            ),
        ),
        Room::TooSmall { limit, fewest } => findings.bad(
            CHECK,
            format!(
                "the limit is {limit}, and the service does not start with fewer than {fewest}: raise the limit \
                 with LimitNOFILE= of systemd, `--ulimit nofile=` of a container or `ulimit -n`"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_judged_by_its_free_space_and_the_size_of_the_database() {
        assert_eq!(judge_disk(LITTLE - 1, 0), Disk::Full);
        assert_eq!(judge_disk(SOME - 1, 0), Disk::Filling);
        assert_eq!(judge_disk(SOME * 4, SOME * 4 + 1), Disk::Filling);
        assert_eq!(judge_disk(SOME * 4, SOME), Disk::Enough);
    }

    #[test]
    fn a_file_has_a_secret_where_a_secret_option_has_a_value() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pombo.toml");
        for (text, has) in [
            ("[server]\nbind = \"127.0.0.1:1\"\n", false),
            ("[secrets]\nkey = \"\"\n", false),
            ("[secrets]\nkey = \"00\"\n", true),
            ("[secrets]\nprevious_keys = [\"00\"]\n", true),
            ("[database]\nurl = \"postgres://a:b@c/d\"\n", true),
            ("[database]\nurl = \"postgres://c/d\"\n", false),
            ("[nats]\nurl = \"nats://a:b@c:4222\"\n", true),
            ("[nats]\nurl = \"nats://c:4222\"\n", false),
            ("[nats]\ntoken = \"00\"\n", true),
            ("[network]\nproxy = \"http://a:b@c:3128\"\n", true),
            ("[telemetry]\notlp_headers = \"authorization=Bearer 00\"\n", true),
            ("[telemetry]\notlp_endpoint = \"http://127.0.0.1:4318\"\n", false),
            ("not TOML", false),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(has_secret(&path), has, "{text}");
        }
    }
}
