//! Backs the database up and restores it, and reports what the operator has to know.
//!
//! The sealing keys are not part of a backup: a person who has both can read every secret. Each sealed value
//! names its key, so a restore can check whether the present key file is the one that the database needs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{begin, error, prepare, sealing_keys, store_options};
use crate::config::Config;
use crate::connector::web_session::CONVERSATIONS;
use crate::store::backup::{self, Ended, Error, Format, Replaced, Restoring};
use crate::store::changes::Who;
use crate::store::schema::{self, SchemaStanding};
use crate::store::{self, Store};
use crate::vault::{KeyId, Vault};

/// A backup that was made.
#[derive(Debug)]
pub struct Made {
    /// The format of the file, which says which database was copied.
    pub format: Format,
    /// How large the file is.
    pub bytes: u64,
    /// The file with the keys, which the backup does not contain; `None` when the key is configured.
    pub key_file: Option<PathBuf>,
}

/// A database that was restored.
#[derive(Debug)]
pub struct Restored {
    /// The sends that were in progress when the backup was made, and are ended.
    pub ended: Ended,
    /// Objects of the backup that are not Pombo's, and are left out.
    pub ignored_objects: u64,
    /// Missing keys, each with the number of secrets that are sealed with it.
    pub missing_keys: BTreeMap<KeyId, u64>,
    /// The file in which the keys are looked for; `None` when the key is configured.
    pub key_file: Option<PathBuf>,
}

/// The decisions of the person who restores.
#[derive(Debug, Clone, Copy)]
pub struct Decision {
    /// Replace a database that has data.
    pub force: bool,
    /// Let sends continue where they were: no service sent messages after the backup was made.
    pub nothing_sent_since: bool,
    /// Revoke all keys, and end all sessions and links.
    pub revoke_access: bool,
}

/// Writes a backup to a new file, while a service may be working.
///
/// # Errors
///
/// A sentence for the operator; no file is left then.
pub async fn write(config: &Config, to: &Path) -> anyhow::Result<Made> {
    begin(config)?;
    let options = store_options(config);
    // A database of another version can be backed up: that is the first step of an upgrade.
    if schema::standing(&options).await.is_ok_and(|standing| standing == SchemaStanding::Missing) {
        return Err(error::no_database(config));
    }
    let format = Format::of_url(&options.url);
    let bytes = backup::write(&options, to).await.map_err(|error| told(error, &options.url))?;
    Ok(Made { format, bytes, key_file: key_file(config) })
}

/// Restores a backup. No service may be working on the database.
///
/// # Errors
///
/// A sentence for the operator.
pub async fn restore(
    config: &Config,
    from: &Path,
    decision: Decision,
    who: &Who,
) -> anyhow::Result<Restored> {
    prepare(config)?;
    // A key file that cannot be read is reported before anything is done.
    let vault = Vault::open_existing(&config.secrets, &config.data.dir)?;
    let options = store_options(config);
    let Decision { force, nothing_sent_since, revoke_access } = decision;
    let how = Restoring { force, nothing_sent_since, revoke_access, conversations: CONVERSATIONS, who };
    let Replaced { ended, ignored_objects } =
        backup::restore(&options, from, how).await.map_err(|error| told(error, &options.url))?;
    let store = Store::open(&options).await.map_err(|error| error::unopened(error, &options.url))?;
    let missing_keys = sealing_keys::missing(&store, vault.as_ref()).await;
    store.close().await;
    let missing_keys = missing_keys.context("the database is restored, but its keys could not be checked")?;
    Ok(Restored { ended, ignored_objects, missing_keys, key_file: key_file(config) })
}

fn key_file(config: &Config) -> Option<PathBuf> {
    config.secrets.key.is_none().then(|| config.key_file())
}

fn told(error: Error, url: &str) -> anyhow::Error {
    match error {
        Error::Store(store::Error::Taken(sentence)) => anyhow::Error::msg(sentence),
        Error::Store(error) => error::unopened(error, url),
        other => other.into(),
    }
}
