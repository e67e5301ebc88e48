//! The keys that seal secrets: their list, what is sealed with each, and their rotation.
//!
//! A rotation adds a new current key to the key file and seals everything with it. The service keeps running: it reads
//! the key file again. An interrupted rotation leaves values under the former key, and the next rotation continues it.
//!
//! The former keys stay in the key file, because older copies of the database are sealed with them, until a person
//! discards them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde::{Serialize, Serializer};

use super::{App, key_proof};
use crate::clock::Timestamp;
use crate::domain::page::PageRequest;
use crate::store::Store;
use crate::store::changes::{Filter, What, Who};
use crate::store::sealed::{Kind, Place};
use crate::vault::{self, BEFORE_IDS, KeyId, Vault, context};

/// How many changes of a key are read to find its last rotation.
const RECORDED: u64 = 100;
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
pub struct SealedCounts {
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
    /// Secrets of webhook endpoints, former ones too.
    pub webhook_secrets: u64,
    /// Headers of webhook endpoints.
    pub webhook_headers: u64,
    /// Keys of companies, with which what people write is sealed.
    pub data_keys: u64,
}

impl SealedCounts {
    /// The sum.
    pub const fn total(self) -> u64 {
        let of_channels = self.tokens + self.app_secrets + self.verify_tokens + self.session_records;
        of_channels + self.totp_secrets + self.webhook_secrets + self.webhook_headers + self.data_keys
    }

    const fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Token => &mut self.tokens,
            Kind::AppSecret => &mut self.app_secrets,
            Kind::VerifyToken => &mut self.verify_tokens,
            Kind::SessionRecord => &mut self.session_records,
            Kind::TotpSecret => &mut self.totp_secrets,
            Kind::WebhookSecret | Kind::FormerWebhookSecret => &mut self.webhook_secrets,
            Kind::WebhookHeaders => &mut self.webhook_headers,
            Kind::DataKey => &mut self.data_keys,
        }
    }
}

/// What a key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum KeyState {
    /// The key seals.
    Current,
    /// The key opens what was sealed before.
    Previous,
    /// Values are sealed with it, and it is neither in the key file nor in the configuration.
    Missing,
    /// Not a key, but the values that were sealed before keys had ids.
    WithoutId,
}

impl KeyState {
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

impl From<KeyState> for &'static str {
    fn from(state: KeyState) -> Self {
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
    pub state: KeyState,
    /// What is sealed with it.
    #[serde(flatten)]
    pub counts: SealedCounts,
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
    pub resealed: SealedCounts,
    /// Values that no key opens; they stay as they are.
    pub unopened: u64,
    /// Keys of the key file with which nothing is sealed any more.
    pub retired: Vec<KeyId>,
}

/// Every key: the current key, the previous keys, and the missing keys.
pub async fn list(app: &App) -> anyhow::Result<Vec<Key>> {
    let current = app.vault.current_key();
    let known = std::iter::once((current, KeyState::Current))
        .chain(app.vault.previous_keys().into_iter().map(|id| (id, KeyState::Previous)));
    let mut keys: Vec<_> =
        known.map(|(id, state)| Key { id: Some(id), state, counts: SealedCounts::default() }).collect();
    let mut others: BTreeMap<Option<KeyId>, SealedCounts> = BTreeMap::new();
    for &kind in Kind::ALL {
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
        let state = if id.is_some() { KeyState::Missing } else { KeyState::WithoutId };
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
    for &kind in Kind::ALL {
        for beginning in store.sealed().beginnings(kind, 1 + KeyId::BYTES, BEFORE_IDS).await? {
            let id = beginning.bytes.get(1..).and_then(KeyId::from_slice);
            if let Some(id) = id.filter(|id| !has(*id)) {
                *missing.entry(id).or_default() += beginning.values;
            }
        }
    }
    Ok(missing)
}

/// Adds a new current key, unless an earlier rotation did not finish, and seals everything with it. The older keys stay in
/// the key file. A configured key stays as it is, and everything is sealed with it. The nodes of a cluster must have the
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
    let left = if vault.key_file().is_some() { left(app).await? } else { RotationLeft::OfKey };
    if left != RotationLeft::Nothing {
        seal_all(app, who, None, &mut rotated).await?;
        // Values that no key opens are no rotation that is left.
        if left == RotationLeft::OfKey || rotated.resealed.total() > 0 {
            return Ok(rotated);
        }
    }
    let former = vault.current_key();
    rotated.added = Some(vault.add_key().await?);
    seal_all(app, who, Some(former), &mut rotated).await?;
    Ok(rotated)
}

/// What an interrupted rotation left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RotationLeft {
    Nothing,
    /// The current key is new, and the database or a node does not know it yet.
    OfKey,
    /// Values are sealed with a former key.
    Values,
}

async fn left(app: &App) -> anyhow::Result<RotationLeft> {
    let current = app.vault.current_key();
    let known = app.store.sealing_keys().all().await?;
    if known.iter().all(|key| key.key_id != current.as_slice())
        || !app.store.nodes().without_key(&current.to_string()).await?.is_empty()
    {
        return Ok(RotationLeft::OfKey);
    }
    let keys = list(app).await?;
    let is_used = keys.iter().any(|key| key.state == KeyState::Previous && key.counts.total() > 0);
    Ok(if is_used { RotationLeft::Values } else { RotationLeft::Nothing })
}

/// Seals everything with the current key, which came after `former` if it was added now. The database needs the other keys
/// no longer.
async fn seal_all(app: &App, who: &Who, former: Option<KeyId>, rotated: &mut Rotated) -> anyhow::Result<()> {
    let App { config: _, store, vault } = app;
    let current = vault.current_key();
    wait_for_nodes(store, current).await?;
    let Some(own) = key_proof::own(vault) else { bail!("the key file changed meanwhile: run this again") };
    match former {
        Some(former) => {
            store.sealing_keys().rotate(who, &own, [&current.to_string(), &former.to_string()]).await?;
        }
        None => store.sealing_keys().add(&own).await?,
    }
    reseal(app, rotated).await?;
    let kept = if vault.key_file().is_some() { vault.former_keys()? } else { Vec::new() };
    // A key of the database that this process does not have is needed as long as there are values that it may open. A
    // service that still seals with one of the keys adds it again.
    let known = store.sealing_keys().all().await?;
    for id in known.iter().filter_map(|known| KeyId::from_slice(&known.key_id)).filter(|id| *id != current) {
        if rotated.unopened == 0 || kept.contains(&id) {
            store.sealing_keys().remove(who, id.as_slice(), &id.to_string(), "retired").await?;
        }
    }
    rotated.retired = kept;
    Ok(())
}

/// Removes a former key, with which nothing is sealed, from the key file. Returns since when nothing is sealed with it, if
/// the record of changes still has that: older copies of the database need the key.
///
/// # Errors
///
/// A sentence for the operator when the key is in use or not in the key file; and those of the key file and of the store.
pub async fn discard(app: &App, who: &Who, id: &str) -> anyhow::Result<Option<Timestamp>> {
    let App { config, store, vault } = app;
    let key = key_proof::parse(id)?;
    key_proof::require(config, store, vault).await?;
    if vault.key_file().is_none() {
        bail!("the keys are configured: remove this one from secrets.previous_keys and restart the service");
    }
    let current = vault.current_key();
    if key == current {
        bail!("the key {key} seals: `pombo secrets rotate` makes a new one, then this one can be discarded");
    }
    if !vault.former_keys()?.contains(&key) {
        bail!("the key file does not have the key {key}: `pombo secrets list` shows the keys");
    }
    wait_for_nodes(store, current).await?;
    let listed = list(app).await?.into_iter().find(|listed| listed.id == Some(key));
    if let Some(values) = listed.map(|listed| listed.counts.total()).filter(|values| *values > 0) {
        bail!("{values} secrets are sealed with the key {key}: run `pombo secrets rotate` first");
    }
    let shown = key.to_string();
    let filter = Filter { what: &[What::SealingKey], subject: Some(&shown), ..Filter::default() };
    let page = PageRequest { page: 1, limit: RECORDED };
    let changes = store.changes().page(filter, page).await?.records;
    let retired = changes.iter().find(|change| change.after == "retired");
    let since = retired.map(|change| change.at);
    store.sealing_keys().remove(who, key.as_slice(), &shown, "discarded").await?;
    vault.discard_key(key).await?;
    Ok(since)
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
        for &kind in Kind::ALL {
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
        Kind::WebhookSecret | Kind::FormerWebhookSecret => context::webhook_secret(*channel_id),
        Kind::WebhookHeaders => context::webhook_headers(*channel_id),
        Kind::DataKey => context::data_key(*channel_id),
    }
}
