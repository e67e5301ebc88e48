//! The keys that seal secrets: their list, what is sealed with each, and their rotation.
//!
//! A rotation adds a new current key to the key file, seals everything with it, and removes the older keys once
//! nothing is sealed with them. The service keeps running: it reads the key file again. An interrupted rotation
//! leaves both keys in the file, and the next rotation continues it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde::{Serialize, Serializer};

use super::{App, key_proof};
use crate::store::Store;
use crate::store::changes::Who;
use crate::store::sealed::{Kind, Place};
use crate::vault::{self, BEFORE_IDS, KeyId, Vault, context};

/// Values that are resealed in one transaction.
const BATCH: u32 = 100;
/// The maximum of passes over all values. A value that is written during a pass is left to the next pass.
const PASSES: u32 = 100;
/// How long a rotation waits until the nodes of a cluster have read the new key.
const NODES_PATIENCE: Duration = Duration::from_secs(6);
/// The pause between two passes, and between two looks at the nodes.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of sealed values, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Channels' access tokens.
    pub tokens: u64,
    /// Channels' app secrets.
    pub app_secrets: u64,
    /// Verify tokens of channels' webhooks.
    pub verify_tokens: u64,
    /// Records of web sessions.
    pub session_records: u64,
    /// Secrets of users' second factors.
    pub totp_secrets: u64,
}

impl Counts {
    /// The sum.
    pub const fn total(self) -> u64 {
        let Self { tokens, app_secrets, verify_tokens, session_records, totp_secrets } = self;
        tokens + app_secrets + verify_tokens + session_records + totp_secrets
    }

    const fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Token => &mut self.tokens,
            Kind::AppSecret => &mut self.app_secrets,
            Kind::VerifyToken => &mut self.verify_tokens,
            Kind::SessionRecord => &mut self.session_records,
            Kind::TotpSecret => &mut self.totp_secrets,
        }
    }
}

/// What a key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum State {
    /// The key seals.
    Current,
    /// The key opens what was sealed before.
    Previous,
    /// Values are sealed with it, and it is neither in the key file nor in the configuration.
    Missing,
    /// Not a key, but the values that were sealed before keys had ids.
    WithoutId,
}

impl State {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Previous => "previous",
            Self::Missing => "missing",
            Self::WithoutId => "without id",
        }
    }
}

impl From<State> for &'static str {
    fn from(state: State) -> Self {
        state.as_str()
    }
}

/// A key, and the number of values that are sealed with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Key {
    /// `None` for values that were sealed before keys had ids.
    #[serde(serialize_with = "as_text")]
    pub id: Option<KeyId>,
    /// What it is used for.
    pub state: State,
    /// What is sealed with it.
    #[serde(flatten)]
    pub counts: Counts,
}

fn as_text<S: Serializer>(id: &Option<KeyId>, serializer: S) -> Result<S::Ok, S::Error> {
    id.map(|id| id.to_string()).serialize(serializer)
}

/// The result of a rotation.
#[derive(Debug, Clone, Default)]
pub struct Rotated {
    /// The key that was added; `None` when an earlier rotation had added it, or the key is configured.
    pub added: Option<KeyId>,
    /// The values that were resealed.
    pub resealed: Counts,
    /// Values that no key opens; they stay as they are.
    pub unopened: u64,
    /// Keys that were removed from the key file.
    pub retired: Vec<KeyId>,
}

/// Every key: the current key, the previous keys, and the missing keys.
pub async fn list(app: &App) -> anyhow::Result<Vec<Key>> {
    let current = app.vault.current_key();
    let known = std::iter::once((current, State::Current))
        .chain(app.vault.previous_keys().into_iter().map(|id| (id, State::Previous)));
    let mut keys: Vec<_> =
        known.map(|(id, state)| Key { id: Some(id), state, counts: Counts::default() }).collect();
    let mut others: BTreeMap<Option<KeyId>, Counts> = BTreeMap::new();
    for kind in Kind::ALL {
        for beginning in app.store.sealed().beginnings(kind, 1 + KeyId::BYTES, BEFORE_IDS).await? {
            let id = beginning.bytes.get(1..).and_then(KeyId::from_slice);
            let counts = match keys.iter_mut().find(|key| id.is_some() && key.id == id) {
                Some(key) => &mut key.counts,
                None => others.entry(id).or_default(),
            };
            *counts.of(kind) += beginning.values;
        }
    }
    // A key of the database may be missing although nothing is sealed with it yet.
    for id in key_proof::missing(&app.store, &app.vault).await? {
        others.entry(Some(id)).or_default();
    }
    keys.extend(others.into_iter().map(|(id, counts)| {
        let state = if id.is_some() { State::Missing } else { State::WithoutId };
        Key { id, state, counts }
    }));
    Ok(keys)
}

/// The keys that values in the database are sealed with but this vault does not have, each with its number of
/// values. Without a vault, all keys are missing.
pub async fn missing(store: &Store, vault: Option<&Vault>) -> anyhow::Result<BTreeMap<KeyId, u64>> {
    let has = |id: KeyId| {
        vault.is_some_and(|vault| id == vault.current_key() || vault.previous_keys().contains(&id))
    };
    let mut missing = BTreeMap::new();
    for kind in Kind::ALL {
        for beginning in store.sealed().beginnings(kind, 1 + KeyId::BYTES, BEFORE_IDS).await? {
            let id = beginning.bytes.get(1..).and_then(KeyId::from_slice);
            if let Some(id) = id.filter(|id| !has(*id)) {
                *missing.entry(id).or_default() += beginning.values;
            }
        }
    }
    Ok(missing)
}

/// Adds a new current key, unless an earlier rotation did not finish, seals everything with it and removes the
/// older keys. A configured key stays as it is, and everything is sealed with it. The nodes of a cluster must have the
/// key first.
///
/// # Errors
///
/// Those of the key file and of the store, and a sentence when a node does not have the key. Everything can still be
/// opened then, and the next rotation continues.
pub async fn rotate(app: &App, who: &Who) -> anyhow::Result<Rotated> {
    let App { config, store, vault } = app;
    key_proof::require(config, store, vault).await?;
    let mut rotated = Rotated::default();
    let mut former = None;
    if vault.key_file().is_some() && vault.keys_to_retire()?.is_empty() {
        former = Some(vault.current_key().to_string());
        rotated.added = Some(vault.add_key().await?);
    }
    let current = vault.current_key();
    wait_for_nodes(store, current).await?;
    let Some(own) = key_proof::own(vault) else { bail!("the key file changed meanwhile: run this again") };
    match (rotated.added, former) {
        (Some(added), Some(former)) => {
            store.sealing_keys().rotate(who, &own, [&added.to_string(), &former]).await?;
        }
        _ => store.sealing_keys().add(&own).await?,
    }
    reseal(app, &mut rotated).await?;
    let of_file = if vault.key_file().is_some() { vault.keys_to_retire()? } else { Vec::new() };
    let mut over = of_file.clone();
    if rotated.unopened == 0 {
        let known = store.sealing_keys().all().await?;
        let others = known.iter().filter_map(|known| KeyId::from_slice(&known.key_id));
        over.extend(others.filter(|id| *id != current && !of_file.contains(id)));
    }
    // First in the database: a key that only the database knows would keep every service from starting. A service that
    // still seals with one of them adds it again.
    for id in &over {
        store.sealing_keys().remove(who, id.as_slice(), &id.to_string(), "retired").await?;
    }
    if !of_file.is_empty() {
        vault.retire_keys(&of_file).await?;
    }
    rotated.retired = of_file;
    Ok(rotated)
}

/// Waits until every node of a cluster has the key, which each reads from its own key file.
async fn wait_for_nodes(store: &Store, key: KeyId) -> anyhow::Result<()> {
    let deadline = Instant::now() + NODES_PATIENCE;
    loop {
        let without = store.nodes().without_key(&key.to_string()).await?;
        if without.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            bail!(
                "the node {} does not have the key {key}: copy the key file to every node, or give the key to each as \
                 one of secrets.previous_keys, and run this again",
                without.join(", ")
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Repeats passes until every value that can be opened is sealed with the current key.
async fn reseal(app: &App, rotated: &mut Rotated) -> anyhow::Result<()> {
    for pass in 0..PASSES {
        if pass > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let (mut found, mut unopened) = (0, 0);
        for kind in Kind::ALL {
            found += reseal_kind(app, kind, rotated.resealed.of(kind), &mut unopened).await?;
        }
        rotated.unopened = unopened;
        if found == 0 {
            return Ok(());
        }
    }
    bail!(
        "some values are still being written; all values can be opened, and running this again continues \
         with the rest"
    )
}

/// Seals the values of a kind with the current key, batch by batch. Counts the values that were sealed with
/// another key.
async fn reseal_kind(app: &App, kind: Kind, resealed: &mut u64, unopened: &mut u64) -> anyhow::Result<u64> {
    let beginning = vault::beginning(app.vault.current_key());
    let (mut after, mut found) = (Place::first(), 0);
    loop {
        let begun = Instant::now();
        let values = app.store.sealed().otherwise(kind, &beginning, &after, BATCH).await?;
        let Some(last) = values.last() else { return Ok(found) };
        after = last.place.clone();
        let mut fresh = Vec::with_capacity(values.len());
        for value in values {
            let place = context_of(kind, &value.place);
            match app.vault.unseal_bytes(&value.sealed, &place) {
                Ok(opened) => {
                    let opened = zeroize::Zeroizing::new(opened);
                    let sealed = app.vault.seal(&opened, &place);
                    fresh.push((value, sealed));
                }
                Err(error) => {
                    tracing::debug!(?kind, channel.id = %value.place.channel_id, %error, "no key opens a \
                         sealed value");
                    *unopened += 1;
                }
            }
        }
        found += fresh.len() as u64;
        if !fresh.is_empty() {
            *resealed += app.store.sealed().reseal(kind, &fresh).await?;
            // The pause is as long as the batch took, so that the service's own writes have at least every
            // other turn.
            tokio::time::sleep(begun.elapsed()).await;
        }
    }
}

/// The context that the value is sealed to.
pub(super) fn context_of(kind: Kind, Place { channel_id, namespace, key }: &Place) -> String {
    match kind {
        Kind::Token => context::token(*channel_id),
        Kind::AppSecret => context::app_secret(*channel_id),
        Kind::VerifyToken => context::verify_token(*channel_id),
        Kind::SessionRecord => context::web_session_record(*channel_id, namespace, key),
        Kind::TotpSecret => context::totp_secret(*channel_id),
    }
}
