//! The sentinel: background work, each kind in rounds of its own.
//!
//! It compares the store's revisions with those seen last, so that a tier, a channel or a key changed by the command
//! line is in force within one interval. It ends expired sends, restarts actors that panicked, keeps the lock on
//! dispatching, and wakes channels that were not told of their sends. A round that panics costs that round alone.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::ArbiterHandle;
use uuid::Uuid;

use super::retention::Retention;
use super::wall_clock::{Jump, WallClock};
use super::{census, indexing, quotas, tokens};
use crate::access::keys;
use crate::channel::{Input, Release};
use crate::health::Watch;
use crate::rounds::repeat;
use crate::{Engine, Error, Who};
use clock::Timestamp;
use domain::channel::{Kind, Status};
use domain::send::State;
use domain::template;
use store::channels::AtWork;
use store::{Lease, Revisions, Standing};

/// How often the numbers of people are written that the provider's answers and receipts show.
const LEARN_INTERVAL: Duration = Duration::from_secs(1);
/// How often tiers that channels have for a while are looked at.
const TIERS_INTERVAL: Duration = Duration::from_secs(1);
/// How often expired sends are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(2);
/// The most expired sends that are ended at once, and the most sends of a disabled company that are paused at once.
const EXPIRED_AT_ONCE: u32 = 500;
/// How often channels with work are looked for, and how many in one round: with ten thousand such channels, each is
/// checked every 40 s. A round reads some hundred rows of each channel at most.
const WORK_INTERVAL: Duration = Duration::from_secs(2);
const CHANNELS_AT_ONCE: u32 = 500;
/// How often the lease is checked.
const LEASE_INTERVAL: Duration = Duration::from_secs(2);
/// How often a node checks whether it does the housekeeping for all nodes.
const HOUSE_INTERVAL: Duration = Duration::from_secs(2);
/// How often the length of SQLite's log is checked.
const LOG_INTERVAL: Duration = Duration::from_millis(250);
/// The same while the log grows: at the fastest writing seen, it reaches the length that is copied in this time.
const GROWING_LOG_INTERVAL: Duration = Duration::from_millis(20);

/// The sentinel's parts.
pub(crate) struct Sentinel {
    pub(crate) engine: Engine,
    /// How often changes are looked for.
    pub(crate) interval: Duration,
    /// The revisions in force.
    pub(crate) seen: Revisions,
    pub(crate) lease: Arc<Lease>,
    pub(crate) retention: Retention,
    /// Whether somebody may read metrics.
    pub(crate) is_measured: bool,
}

impl Sentinel {
    /// Starts all rounds; they end with the thread.
    pub(crate) fn start(self, thread: &ArbiterHandle) {
        let Self { engine, interval, mut seen, lease, retention, is_measured } = self;
        // Whether the last check failed: logged once, not at every check.
        let (watched, mut blind) = (engine.clone(), false);
        repeat(thread, "changes", async move || {
            let result = take_up(&watched, seen).await;
            let was_blind = std::mem::replace(&mut blind, result.is_err());
            watched.set_reachable(!blind);
            match result {
                Ok(now) => seen = now,
                Err(error) if was_blind => tracing::debug!(%error, "still cannot look for changes"),
                Err(error) => tracing::error!(%error, "cannot look for changes"),
            }
            interval
        });
        let learning = engine.clone();
        repeat(thread, "people", async move || {
            if let Err(error) = learning.webhooks().learn_people().await {
                tracing::debug!(%error, "cannot write the numbers of people");
            }
            LEARN_INTERVAL
        });
        let revived = engine.clone();
        repeat(thread, "revival", async move || {
            revived.directory().revive();
            if revived.check_running().is_ok() {
                revived.0.web_sessions.revive().await;
            }
            interval
        });
        let ended = engine.clone();
        repeat(thread, "expiry", async move || {
            if !ended.0.shared.cluster.keeps_house() {
                return EXPIRY_INTERVAL;
            }
            match expire(&ended).await {
                Ok(0) => {}
                Ok(sends) => tracing::info!(sends, "sends expired"),
                Err(error) => tracing::debug!(%error, "cannot look for expired sends"),
            }
            match pause_disabled(&ended).await {
                Ok(0) => {}
                Ok(sends) => tracing::info!(sends, "sends of disabled companies paused"),
                Err(error) => tracing::debug!(%error, "cannot look for sends of disabled companies"),
            }
            EXPIRY_INTERVAL
        });
        let tiers = engine.clone();
        repeat(thread, "tiers", async move || {
            if tiers.0.shared.cluster.keeps_house() {
                match tiers.store().channels().end_tiers(Timestamp::now()).await {
                    Ok(0) => {}
                    Ok(channels) => tracing::info!(channels, "channels have their own tiers again"),
                    Err(error) => tracing::debug!(%error, "cannot look for tiers that end"),
                }
            }
            TIERS_INTERVAL
        });
        let (set, mut clock, mut jumped) =
            (engine.clone(), WallClock::new(Timestamp::now(), Instant::now()), None);
        repeat(thread, "clock", async move || {
            jumped = last_jump(jumped, clock.look(Timestamp::now(), Instant::now()));
            if let Some(jump) = jumped {
                match set.clock_was_set(jump).await {
                    Ok(()) => jumped = None,
                    Err(error) => {
                        tracing::warn!(%error, "cannot correct times after the wall clock's jump yet");
                    }
                }
            }
            interval
        });
        let (looking, mut watch) = (engine.clone(), Watch::new());
        repeat(thread, "health", async move || watch.look(&looking).await);
        let (woken, mut behind) = (engine.clone(), Uuid::nil());
        repeat(thread, "work", async move || {
            // A node of a cluster has its own search for work.
            if !woken.0.shared.cluster.is_alone() {
                return WORK_INTERVAL;
            }
            match wake(&woken, behind).await {
                Ok(last) => behind = last,
                Err(error) => tracing::debug!(%error, "cannot look for channels with work"),
            }
            WORK_INTERVAL
        });
        let (holder, mut was_locked) = (engine.clone(), true);
        repeat(thread, "lease", async move || {
            was_locked = confirm(&holder, &lease, was_locked).await;
            LEASE_INTERVAL
        });
        let keeper = engine.clone();
        repeat(thread, "retention", async move || {
            if !keeper.0.shared.cluster.keeps_house() {
                return HOUSE_INTERVAL;
            }
            retention.round().await;
            retention.interval()
        });
        let used = engine.clone();
        repeat(thread, "key uses", async move || {
            used.write_key_uses().await;
            keys::WRITE_INTERVAL
        });
        let (store, mut known) = (engine.store().clone(), 0);
        repeat(thread, "log", async move || match store.copy_log().await {
            Ok(pages) if pages != mem::replace(&mut known, pages) => GROWING_LOG_INTERVAL,
            Ok(_) => LOG_INTERVAL,
            Err(error) => {
                tracing::debug!(%error, "cannot copy the database's log");
                LOG_INTERVAL
            }
        });
        let tried = engine.clone();
        repeat(thread, "tokens", async move || tokens::round(&tried).await);
        let looked = engine.clone();
        repeat(thread, "quotas", async move || quotas::round(&looked).await);
        let looked = engine.clone();
        repeat(thread, "expiring keys", async move || quotas::keys(&looked).await);
        if is_measured {
            let counted = engine.clone();
            repeat(thread, "census", async move || census::round(&counted).await);
        }
        let (keeper, store) = (engine.clone(), engine.store().clone());
        repeat(thread, "indexing", async move || {
            if !keeper.0.shared.cluster.keeps_house() {
                return HOUSE_INTERVAL;
            }
            indexing::round(&store).await
        });
    }
}

/// How the wall clock was set since the last round that handled it.
fn last_jump(earlier: Option<Jump>, jump: Option<Jump>) -> Option<Jump> {
    match jump {
        Some(Jump::Forward(by)) => {
            tracing::warn!(seconds = by.as_secs_f64(), "the wall clock jumped forward");
        }
        Some(Jump::Back(by)) => tracing::warn!(seconds = by.as_secs_f64(), "the wall clock jumped back"),
        None => {}
    }
    // Of two jumps, the one back needs more correction.
    match earlier {
        Some(Jump::Back(by)) => Some(Jump::Back(by)),
        earlier => jump.or(earlier),
    }
}

/// Ends expired sends, wherever they wait. Returns how many.
async fn expire(engine: &Engine) -> store::Result<usize> {
    let expired = engine.store().sends().expire(Timestamp::now(), EXPIRED_AT_ONCE).await?;
    let released = expired.iter().map(|(send_id, channel_id)| {
        let release = Release { send_id: *send_id, over: Some(State::Expired) };
        // If this node dies first, the owner ends the send by itself.
        async move { engine.owners().release(*channel_id, release, None).await }
    });
    // In parallel: none waits for the write of another.
    for result in futures_util::future::join_all(released).await {
        result?;
    }
    Ok(expired.len())
}

/// Pauses sends of disabled companies, whichever process disabled them. Returns how many.
async fn pause_disabled(engine: &Engine) -> Result<usize, Error> {
    let mut paused = 0;
    for (send_id, company_id) in engine.store().sends().of_disabled_companies(EXPIRED_AT_ONCE).await? {
        match engine.sends().pause(&Who::Pombo, company_id, send_id).await {
            Ok(()) => paused += 1,
            // It ended meanwhile.
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(paused)
}

/// Wakes channels with work after this one in order, and returns where the next round continues. Usually a channel
/// hears of its sends from the ledger. It does not hear of sends that another process accepted just before it noticed
/// that it had lost its lease.
async fn wake(engine: &Engine, behind: Uuid) -> store::Result<Uuid> {
    let working = engine.store().channels().at_work(behind, Timestamp::now(), CHANNELS_AT_ONCE).await?;
    let is_last = working.len() < CHANNELS_AT_ONCE as usize;
    let last = working.last().filter(|_| !is_last).map_or_else(Uuid::nil, |last| last.channel_id);
    for AtWork { channel_id, direct, bulk } in working {
        if let Some(handle) = engine.directory().handle(channel_id) {
            if direct.or(bulk).is_some() {
                // A full mailbox belongs to a busy channel, which is told in another round.
                handle.try_send(Input::Overlooked { direct, bulk });
            }
        } else if let Some(channel) = engine.directory().find(channel_id).await? {
            engine.directory().wake(&channel);
        }
    }
    Ok(last)
}

/// Confirms that this process still has the lease. Returns whether it holds the lock.
async fn confirm(engine: &Engine, lease: &Lease, was_locked: bool) -> bool {
    match engine.store().lease().confirm(lease).await {
        Ok(Standing::Locked) => {
            if !was_locked {
                tracing::info!("took the lock on dispatching again");
            }
            true
        }
        Ok(Standing::Unlocked) => {
            if was_locked {
                tracing::warn!("the lock on dispatching is lost and cannot be taken again yet");
            }
            false
        }
        Err(store::Error::Fenced) => {
            engine.lose_lease();
            false
        }
        Err(error) => {
            tracing::debug!(%error, "cannot check the lock on dispatching");
            was_locked
        }
    }
}

/// Applies the changes since `seen`. Returns the revisions seen now.
async fn take_up(engine: &Engine, seen: Revisions) -> store::Result<Revisions> {
    let now = engine.store().revisions().await?;
    if now.api_key != seen.api_key {
        engine.forget_keys(now.api_key);
    }
    if now.suppression != seen.suppression {
        engine.load_suppressions().await?;
    }
    if now.template != seen.template {
        let mut accounts: HashMap<(Uuid, String), Vec<(i64, bool)>> = HashMap::new();
        for template in engine.store().templates().changed_since(seen.template).await? {
            let account = accounts.entry((template.company_id, template.waba_id)).or_default();
            account.push((template.id, template.status == template::Status::Approved));
        }
        for ((company_id, waba_id), changed) in accounts {
            engine
                .directory()
                .tell_account(company_id, &waba_id, || Input::TemplatesChanged(changed.clone()));
        }
    }
    let mut tiers = None;
    if now.tier != seen.tier {
        tiers = Some(engine.0.shared.load_tiers().await?);
        engine.directory().retune();
    }
    if now.channel != seen.channel {
        for channel in engine.store().channels().changed_since(seen.channel).await? {
            let channel = Arc::new(channel);
            engine.directory().update(Arc::clone(&channel));
            let is_asked = channel.kind == Kind::BusinessAccount;
            if is_asked && channel.connection.status == Status::Connecting {
                engine.directory().wake(&channel);
            }
        }
    }
    // Last: the channels of a tier with another name have followed it, and none ran without its tier in between.
    if let Some(tiers) = tiers {
        let directory = engine.directory();
        engine.0.shared.tiers.keep(|name| tiers.contains(name) || directory.has_channel_under(name));
    }
    Ok(now)
}
