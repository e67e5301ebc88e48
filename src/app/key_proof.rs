//! A process proves that it has the sealing keys of the database before it serves or seals anything.
//!
//! Otherwise a service with the key file of another database would find channels that it cannot connect, and seal
//! values that nobody else opens.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};

use super::App;
use crate::clock::Timestamp;
use crate::config::Config;
use crate::domain::channel::{Connection, Reason, ReasonCode, Status};
use crate::store::Store;
use crate::store::changes::Who;
use crate::store::sealed::{Kind, Place};
use crate::store::sealing_keys::KeyProof;
use crate::vault::{self, BEFORE_IDS, KeyId, Vault};

/// Values without the id of a key that are tried, of each kind.
const TRIED: u32 = 20;
/// Channels whose tokens are read at once.
const CHANNELS_AT_ONCE: u32 = 500;

/// The proof of the key that seals.
pub(super) fn own(vault: &Vault) -> Option<KeyProof> {
    let key = vault.current_key();
    proof(vault, key)
}

fn proof(vault: &Vault, key: KeyId) -> Option<KeyProof> {
    Some(KeyProof { key_id: key.as_slice().to_vec(), proof: vault.prove(key)? })
}

/// The keys of the database that this vault does not have.
pub(super) async fn missing(store: &Store, vault: &Vault) -> anyhow::Result<Vec<KeyId>> {
    Ok(lacking(vault, &store.sealing_keys().all().await?))
}

fn lacking(vault: &Vault, keys: &[KeyProof]) -> Vec<KeyId> {
    let lacking = keys.iter().filter(|key| !vault.proves(&key.key_id, &key.proof));
    lacking.filter_map(|key| KeyId::from_slice(&key.key_id)).collect()
}

/// Makes sure that this process has every key of the database. A database that has no keys yet gets those with which
/// its secrets are sealed, and the one of this process.
///
/// # Errors
///
/// A sentence for the operator when a key is missing; and those of the store.
pub(super) async fn require(config: &Config, store: &Store, vault: &Vault) -> anyhow::Result<Vec<KeyProof>> {
    loop {
        let mut keys = store.sealing_keys().all().await?;
        if keys.is_empty() {
            keys = store.sealing_keys().add_first(&first(config, store, vault).await?).await?;
        }
        let lacking = lacking(vault, &keys);
        if lacking.is_empty() {
            return Ok(keys);
        }
        if are_used(store, vault, &lacking).await? {
            return Err(refusal(config, &lacking));
        }
        for key in lacking {
            tracing::warn!(%key, "a sealing key with which nothing was sealed is gone");
            store.sealing_keys().remove(&Who::Pombo, key.as_slice(), &key.to_string(), "unused").await?;
        }
    }
}

/// Whether something is sealed with one of these keys, or a node has it.
async fn are_used(store: &Store, vault: &Vault, keys: &[KeyId]) -> anyhow::Result<bool> {
    for key in keys {
        if !store.nodes().with_key(&key.to_string()).await?.is_empty() {
            return Ok(true);
        }
    }
    let sealed = super::sealing_keys::missing(store, Some(vault)).await?;
    Ok(keys.iter().any(|key| sealed.contains_key(key)))
}

/// As [`require`]; and this process may seal: the nodes of a cluster have the key that it seals with.
///
/// # Errors
///
/// As [`require`], and a sentence when a node does not have the key.
pub async fn require_to_seal(app: &App) -> anyhow::Result<()> {
    let keys = require(&app.config, &app.store, &app.vault).await?;
    let key = app.vault.current_key();
    if keys.iter().any(|known| known.key_id == key.as_slice()) {
        return Ok(());
    }
    let without = app.store.nodes().without_key(&key.to_string()).await?;
    if !without.is_empty() {
        bail!(
            "this command would seal with the key {key}, which the node {} does not have: use the key file or the \
             secrets.key of the nodes",
            without.join(", ")
        );
    }
    if let Some(own) = own(&app.vault) {
        app.store.sealing_keys().add(&own).await?;
    }
    Ok(())
}

/// The keys of a database from before they were noted. Some secrets may have been sealed with a key that was lost long
/// ago; but a process that opens none of them has the wrong keys.
async fn first(config: &Config, store: &Store, vault: &Vault) -> anyhow::Result<Vec<KeyProof>> {
    let (mut used, mut without_id) = (BTreeSet::new(), Vec::new());
    for &kind in Kind::ALL {
        for beginning in store.sealed().beginnings(kind, 1 + KeyId::BYTES, BEFORE_IDS).await? {
            match beginning.bytes.get(1..).and_then(KeyId::from_slice) {
                Some(id) => drop(used.insert(id)),
                None => without_id.push(kind),
            }
        }
    }
    let ids = vault.key_ids();
    let (mut known, unknown): (Vec<_>, Vec<_>) = used.into_iter().partition(|id| ids.contains(id));
    if known.is_empty() && !opens_one(store, vault, &without_id).await? {
        if !unknown.is_empty() {
            return Err(refusal(config, &unknown));
        }
        if !without_id.is_empty() {
            bail!(
                "this process does not have the key with which the secrets of this database are sealed: put the key \
                 file that belongs to the database back as {}",
                place(config)
            );
        }
    }
    for id in unknown {
        tracing::warn!(key = %id, "secrets are sealed with a key that is missing: enter them again, or put the key back");
    }
    let own = vault.current_key();
    if !known.contains(&own) {
        known.push(own);
    }
    Ok(known.into_iter().filter_map(|id| proof(vault, id)).collect())
}

/// Whether a value from before keys had ids can be opened.
async fn opens_one(store: &Store, vault: &Vault, kinds: &[Kind]) -> anyhow::Result<bool> {
    for kind in kinds {
        // Values under the current key are not read: there are none of them here.
        let beginning = vault::beginning(vault.current_key());
        for value in store.sealed().otherwise(*kind, &beginning, &Place::first(), TRIED).await? {
            let place = super::sealing_keys::context_of(*kind, &value.place);
            if let Ok(opened) = vault.unseal_bytes(&value.sealed, &place) {
                drop(zeroize::Zeroizing::new(opened));
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn refusal(config: &Config, lacking: &[KeyId]) -> anyhow::Error {
    let ids: Vec<_> = lacking.iter().map(ToString::to_string).collect();
    anyhow!(
        "secrets of this database are sealed with the key {}, which this process does not have: put the key file that \
         belongs to the database back as {}; if the key is lost, `pombo secrets forget {}` lets the service start, \
         and the secrets must be entered again",
        ids.join(" and the key "),
        place(config),
        ids.first().map_or("KEY", String::as_str)
    )
}

/// The id of a key in a person's words.
pub(super) fn parse(id: &str) -> anyhow::Result<KeyId> {
    let bytes = hex::decode(id).ok().and_then(|bytes| KeyId::from_slice(&bytes));
    bytes.ok_or_else(|| anyhow!("`{id}` is no id of a key: `pombo secrets list` shows them"))
}

/// Where the keys of this process come from.
pub(super) fn place(config: &Config) -> String {
    match config.secrets.key {
        Some(_) => "secrets.key or one of secrets.previous_keys".to_owned(),
        None => config.key_file().display().to_string(),
    }
}

/// Declares a key lost, so that a service starts without it. What is sealed with it stays as it is and cannot be
/// opened. Returns the number of such values.
///
/// # Errors
///
/// A sentence for the operator when somebody still has the key, or nothing needs it; and those of the store.
pub async fn forget(app: &App, who: &Who, id: &str) -> anyhow::Result<u64> {
    let App { config: _, store, vault } = app;
    let key = parse(id)?;
    if vault.key_ids().contains(&key) {
        bail!("this process has the key {key}, so it is not lost");
    }
    let with = store.nodes().with_key(&key.to_string()).await?;
    if !with.is_empty() {
        bail!("the node {} has the key {key}, so it is not lost: copy the key from there", with.join(", "));
    }
    let values = super::sealing_keys::missing(store, Some(vault)).await?.remove(&key);
    let is_known = store.sealing_keys().all().await?.iter().any(|known| known.key_id == key.as_slice());
    if values.is_none() && !is_known {
        bail!("nothing is sealed with the key {key}: `pombo secrets list` shows the keys that are missing");
    }
    store.sealing_keys().remove(who, key.as_slice(), &key.to_string(), "lost").await?;
    if let Some(own) = own(vault) {
        store.sealing_keys().add(&own).await?;
    }
    disconnect(store, key).await?;
    Ok(values.unwrap_or_default())
}

/// Disconnects the channels whose access token is sealed with a key that is lost. A service would find out by itself;
/// but lists show it from now on.
async fn disconnect(store: &Store, key: KeyId) -> anyhow::Result<()> {
    let (beginning, mut after) = (vault::beginning(key), Place::first());
    loop {
        // No value begins with this byte, so that all are read.
        let values = store.sealed().otherwise(Kind::Token, &[0], &after, CHANNELS_AT_ONCE).await?;
        let Some(last) = values.last() else { return Ok(()) };
        after = last.place.clone();
        for value in values.iter().filter(|value| value.sealed.starts_with(&beginning)) {
            let Some(channel) = store.channels().find(value.place.channel_id).await? else { continue };
            if !channel.connection.accepts() {
                continue;
            }
            let sentence = format!(
                "the channel's access token cannot be read: the sealing key {key} is lost; enter the token again"
            );
            let reason = Reason { code: ReasonCode::NoUsableToken.into(), sentence, provider_code: None };
            let to =
                Connection { status: Status::Disconnected, reason: Some(reason), since: Timestamp::now() };
            store.channels().set_connection(channel.id, &channel.connection, &to).await?;
        }
    }
}
