//! The health of this process beside its work: whether its clock agrees with the database's, and whether it has the
//! sealing keys of the database.
//!
//! A process that lacks a key cannot connect the channels whose tokens are sealed with it. That is the process'
//! trouble, and no state of a channel: a node of a cluster gives its channels to the nodes that have the keys.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

use crate::{Engine, Error, RETRY_AFTER};
use clock::database::{self, Estimate, warning};
use store::Store;
use store::sealing_keys::KeyProof;
use vault::{KeyId, Vault};

/// How often a node looks, and how often a process that serves alone does: no other one depends on it.
const INTERVAL: Duration = Duration::from_secs(2);
const INTERVAL_ALONE: Duration = Duration::from_secs(60);
/// A smaller change of the clock's difference, in milliseconds, is not worth a write.
const CHANGE: i64 = 100;
/// Stands for a clock that was not compared: SQLite has none of its own.
const UNKNOWN: i64 = i64::MIN;

/// The health of this process, as last seen.
#[derive(Debug)]
pub(crate) struct Health {
    /// How far the clock of this machine is ahead of the database's, in milliseconds.
    clock_ahead: AtomicI64,
    /// The keys of the database that this process does not have.
    missing: RwLock<Vec<KeyId>>,
}

impl Default for Health {
    fn default() -> Self {
        Self { clock_ahead: AtomicI64::new(UNKNOWN), missing: RwLock::default() }
    }
}

impl Health {
    /// How far the clock of this machine is ahead of the database's, in milliseconds.
    pub(crate) fn clock_ahead(&self) -> Option<i64> {
        let ahead = self.clock_ahead.load(Ordering::Relaxed);
        (ahead != UNKNOWN).then_some(ahead)
    }

    /// The number of keys of the database that this process does not have.
    pub(crate) fn missing_keys(&self) -> usize {
        self.missing.read().len()
    }

    /// The sentence about missing keys.
    pub(crate) fn keys_sentence(&self) -> Option<String> {
        let missing = self.missing.read();
        let ids: Vec<_> = missing.iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| {
            format!(
                "this process lacks the sealing key {}, which the database needs: give it the key",
                ids.join(" and the key ")
            )
        })
    }

    /// The sentence about a clock that is far off.
    pub(crate) fn clock_sentence(&self) -> Option<String> {
        self.clock_ahead().and_then(warning)
    }

    /// Compares the keys of the database with those of this process. Returns the keys of the database.
    pub(crate) async fn compare_keys(&self, store: &Store, vault: &Vault) -> store::Result<Vec<KeyProof>> {
        let keys = store.sealing_keys().all().await?;
        let lacking = keys.iter().filter(|key| !vault.proves(&key.key_id, &key.proof));
        let lacking: Vec<_> = lacking.filter_map(|key| KeyId::from_slice(&key.key_id)).collect();
        let is_same = *self.missing.read() == lacking;
        if !is_same {
            *self.missing.write() = lacking;
            match self.keys_sentence() {
                Some(sentence) => tracing::error!("{sentence}"),
                None => tracing::info!("this process has every sealing key of the database again"),
            }
        }
        Ok(keys)
    }

    /// Whether a value did not open because this process lacks a key of the database. Then another process may open
    /// it, and the value says nothing of its channel.
    pub(crate) async fn explains(
        &self,
        error: &vault::Error,
        store: &Store,
        vault: &Vault,
    ) -> store::Result<bool> {
        let keys = self.compare_keys(store, vault).await?;
        Ok(match error {
            vault::Error::UnknownKey(id) => keys.iter().any(|key| key.key_id == id.as_slice()),
            // The value may be under a key that has no id.
            vault::Error::DoesNotOpen => self.missing_keys() > 0,
            _ => false,
        })
    }

    fn set_clock_ahead(&self, ahead: i64) {
        let before = self.clock_sentence().is_some();
        self.clock_ahead.store(ahead, Ordering::Relaxed);
        match self.clock_sentence() {
            Some(sentence) if !before => tracing::warn!("{sentence}"),
            None if before => tracing::info!("the clock of this machine agrees with the database's again"),
            _ => {}
        }
    }
}

/// What earlier rounds saw, and what the other nodes know of it.
#[derive(Debug)]
pub(super) struct Watch {
    estimate: Estimate,
    told: Option<(Vec<String>, bool, Option<i64>)>,
    was_blind: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { estimate: Estimate::new(database::origin()), told: None, was_blind: false }
    }

    /// Does one round. Returns the pause until the next.
    pub(super) async fn look(&mut self, engine: &Engine) -> Duration {
        let is_alone = engine.0.shared.cluster.is_alone();
        let result = self.try_look(engine).await;
        if let Err(error) = &result
            && !self.was_blind
        {
            tracing::debug!(%error, "cannot compare clocks and keys with the database");
        }
        self.was_blind = result.is_err();
        if is_alone && result.is_ok() { INTERVAL_ALONE } else { INTERVAL }
    }

    async fn try_look(&mut self, engine: &Engine) -> store::Result<()> {
        let (shared, store) = (&engine.0.shared, engine.store());
        let (health, vault) = (&shared.health, &shared.vault);
        let keys = health.compare_keys(store, vault).await?;
        let own = vault.current_key();
        // The key file got a new key, or a rotation removed one with which this process still seals.
        if health.missing_keys() == 0
            && keys.iter().all(|key| key.key_id != own.as_slice())
            && let Some(proof) = vault.prove(own)
        {
            store.sealing_keys().add(&KeyProof { key_id: own.as_slice().to_vec(), proof }).await?;
        }
        if let Some(reading) = store.nodes().read_clock().await? {
            if !shared.cluster.is_alone() {
                database::follow(self.estimate.take(&reading));
            }
            health.set_clock_ahead(reading.ahead());
        }
        let Some(node) = shared.cluster.node() else { return Ok(()) };
        let ids: Vec<_> = vault.key_ids().iter().map(ToString::to_string).collect();
        let (lacks_key, clock_ahead) = (health.missing_keys() > 0, health.clock_ahead());
        let is_told = self.told.as_ref().is_some_and(|(keys, lacked, ahead)| {
            let moved = ahead.unwrap_or(UNKNOWN).saturating_sub(clock_ahead.unwrap_or(UNKNOWN));
            *keys == ids && *lacked == lacks_key && moved.saturating_abs() < CHANGE
        });
        if !is_told {
            store.nodes().describe(node, &ids, lacks_key, clock_ahead).await?;
            self.told = Some((ids, lacks_key, clock_ahead));
        }
        Ok(())
    }
}

impl Engine {
    /// Refuses to seal for a cluster whose key this node lacks: the other nodes could not open the value.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`], until the node has the key.
    pub(crate) fn check_sealing(&self) -> Result<(), Error> {
        let lacks_key = !self.0.shared.cluster.is_alone() && self.0.shared.health.missing_keys() > 0;
        if lacks_key { Err(Error::Unavailable { retry_after: RETRY_AFTER }) } else { Ok(()) }
    }
}
