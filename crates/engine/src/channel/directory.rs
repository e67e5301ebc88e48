//! The directory: every channel in use, and the actor that dispatches it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix::ArbiterHandle;
use dashmap::{DashMap, DashSet, Entry as Place};
use uuid::Uuid;

use super::leaving::Leaving;
use super::load::Load;
use super::machine::Present;
use super::{Gate, Handle, Input, Stop, ToChannel};
use crate::ledger::Listeners;
use crate::shared::Shared;
use crate::threads;
use connectors::cloud_api::Connections;
use domain::channel::Channel;

/// A thread for channel actors, with connections of its own to the provider.
struct Thread {
    arbiter: ArbiterHandle,
    connections: Connections,
}

struct Entry {
    channel: Arc<Channel>,
    /// Started on first need; started again when it ended.
    actor: Option<Handle>,
    gate: Gate,
}

impl Entry {
    fn new(channel: &Arc<Channel>) -> Self {
        Self { channel: Arc::clone(channel), actor: None, gate: Gate::new(channel.connection.clone()) }
    }

    /// Passes an input to the actor, if there is one, without waiting.
    fn tell(&self, input: Input) {
        let Some(handle) = self.actor.clone() else { return };
        actix::spawn(async move {
            // A closed actor reads the store when it starts again.
            let _ = handle.send(input).await;
        });
    }

    /// The actor, unless it ended or was never started.
    fn running(&self) -> Option<&Handle> {
        self.actor.as_ref().filter(|actor| actor.is_running())
    }
}

/// The most ids in memory that name no channel; when there are more, all are dropped.
const MOST_UNKNOWN: usize = 10_000;

pub(crate) struct Directory {
    shared: Arc<Shared>,
    /// Where the ledger sends accepted sends: the mailboxes of the actors.
    listeners: Arc<Listeners>,
    entries: DashMap<Uuid, Entry>,
    /// Actors without an entry that have not ended. An actor is added here while its entry is locked, so that it is
    /// always in one of the two.
    leaving: Leaving,
    /// Ids that named no channel when they were asked for. A channel that is added later has an entry within
    /// `engine.watch_interval`, and entries are checked first.
    unknown: DashSet<Uuid>,
    /// Channels that were removed while this process runs. Their ids are never used again.
    removed: DashSet<Uuid>,
    threads: Vec<Thread>,
    next_thread: AtomicUsize,
}

impl Directory {
    /// An empty directory with `threads` threads.
    ///
    /// # Errors
    ///
    /// When no client for the provider can be made.
    pub(crate) fn new(
        shared: Arc<Shared>,
        listeners: Arc<Listeners>,
        threads: usize,
        network: &config::Network,
    ) -> Result<Self, connectors::Error> {
        let threads = (0..threads.max(1))
            .map(|_| {
                Ok(Thread {
                    arbiter: threads::start(),
                    connections: Connections::new(&shared.cloud_api, network)?,
                })
            })
            .collect::<Result<_, connectors::Error>>()?;
        Ok(Self {
            shared,
            listeners,
            entries: DashMap::new(),
            leaving: Leaving::default(),
            unknown: DashSet::new(),
            removed: DashSet::new(),
            threads,
            next_thread: AtomicUsize::new(0),
        })
    }

    /// The channel of this id, of any company.
    pub(crate) async fn find(&self, id: Uuid) -> store::Result<Option<Arc<Channel>>> {
        if let Some(entry) = self.entries.get(&id) {
            return Ok(Some(Arc::clone(&entry.channel)));
        }
        if self.unknown.contains(&id) {
            return Ok(None);
        }
        let channel = self.shared.store.channels().find(id).await?.map(Arc::new);
        match &channel {
            Some(channel) => {
                // A tier that was added with the channel may be newer than the last look at the tiers.
                if !self.shared.tiers.knows(&channel.tier) {
                    self.shared.load_tiers().await?;
                }
                self.update(Arc::clone(channel));
            }
            None => {
                if self.unknown.len() >= MOST_UNKNOWN {
                    self.unknown.clear();
                }
                self.unknown.insert(id);
            }
        }
        Ok(channel)
    }

    /// Starts the channel's actor if it does not run, unless another node owns the channel or the service stops; from
    /// then on the actor is told of the channel's sends. Returns the state that the actor publishes.
    pub(crate) fn actor(&self, channel: &Arc<Channel>) -> Gate {
        if let Some(entry) = self.entries.get(&channel.id).filter(|entry| entry.running().is_some()) {
            return entry.gate.clone();
        }
        let mut entry = self.entries.entry(channel.id).or_insert_with(|| Entry::new(channel));
        if entry.running().is_some() {
            return entry.gate.clone();
        }
        // Checked while the entry is locked: a shard is marked as given away, and the service as stopping, before the
        // entries are searched for actors to stop.
        let is_stopping = self.shared.stopping.load(Ordering::Acquire);
        if is_stopping || !self.shared.cluster.owns(&entry.channel) {
            return entry.gate.clone();
        }
        let thread = &self.threads[self.next_thread.fetch_add(1, Ordering::Relaxed) % self.threads.len()];
        let (shared, connections) = (Arc::clone(&self.shared), thread.connections.clone());
        let (channel_id, channel, gate) = (channel.id, Arc::clone(&entry.channel), entry.gate.clone());
        let shown = gate.clone();
        let handle = Handle::start(&thread.arbiter, shared, connections, channel, shown);
        self.listeners.add(channel_id, handle.listener());
        entry.actor = Some(handle);
        gate
    }

    /// A channel's actor, unless it ended or was never started.
    pub(crate) fn handle(&self, channel_id: Uuid) -> Option<Handle> {
        self.entries.get(&channel_id)?.running().cloned()
    }

    /// The messages that all running channels have in memory.
    pub(super) fn load(&self) -> Load {
        let mut load = Load::default();
        for entry in &self.entries {
            entry.running().into_iter().for_each(|handle| load.add(handle.load()));
        }
        load
    }

    /// The running channels.
    pub(crate) fn running(&self) -> Vec<Arc<Channel>> {
        let running = self.entries.iter().filter(|entry| entry.running().is_some());
        running.map(|entry| Arc::clone(&entry.channel)).collect()
    }

    /// The running channels, each with what it did at its last input.
    pub(super) fn present(&self) -> Vec<(Arc<Channel>, Present)> {
        let present = |entry: &Entry| Some((Arc::clone(&entry.channel), entry.running()?.present()?));
        self.entries.iter().filter_map(|entry| present(&entry)).collect()
    }

    /// Takes over a channel's record, unless the one here is newer, and tells the channel's actor.
    pub(crate) fn update(&self, channel: Arc<Channel>) {
        let place = self.entries.entry(channel.id);
        // Checked while the entry is locked: a removal is noted before the entry is taken away, so that a record that was
        // read before does not bring the channel back.
        if self.removed.contains(&channel.id) {
            return;
        }
        let mut entry = place.or_insert_with(|| Entry::new(&channel));
        if channel.revision >= entry.channel.revision {
            entry.channel = channel;
        }
        // The actor runs on another node, and the record has the state that it wrote.
        if !self.shared.cluster.is_alone() && entry.running().is_none() {
            entry.gate.publish(&entry.channel.connection);
        }
        refresh(&entry);
    }

    /// Stops the actors of these shards, which another node will own, each once its outcomes are written.
    pub(crate) async fn let_go(&self, shards: &HashSet<Uuid>) {
        let mut stopping = Vec::new();
        for mut entry in self.entries.iter_mut() {
            if shards.contains(&cluster::shard(&entry.channel))
                && let Some(actor) = entry.actor.take()
            {
                self.listeners.remove(entry.channel.id);
                stopping.push((self.leaving.add(actor.clone()), actor));
            }
        }
        // A closed actor has stopped already.
        futures_util::future::join_all(stopping.iter().map(|(_, actor)| actor.send(Stop))).await;
        stopping.iter().for_each(|(number, _)| self.leaving.remove(*number));
    }

    /// Hides a channel that is about to be removed. When the guard is dropped, the channel is visible again.
    pub(crate) fn hide(&self, id: Uuid) -> Hidden<'_> {
        self.unknown.insert(id);
        let (mut entry, mut leaving) = (None, None);
        if let Place::Occupied(place) = self.entries.entry(id) {
            leaving = place.get().actor.clone().map(|actor| self.leaving.add(actor));
            entry = Some(place.remove());
        }
        Hidden { directory: self, id, entry, leaving, is_removed: false }
    }

    /// Whether a known channel runs under the tier of this name.
    pub(crate) fn has_channel_under(&self, tier: &str) -> bool {
        self.entries.iter().any(|entry| entry.channel.tier == tier)
    }

    /// Tells every actor to read its tier again.
    pub(crate) fn retune(&self) {
        for entry in &self.entries {
            refresh(&entry);
        }
    }

    /// Passes `input` to the running actors of a company's channels of one business account.
    pub(crate) fn tell_account(&self, company_id: Uuid, waba_id: &str, input: impl Fn() -> Input) {
        let of_account = |channel: &Channel| {
            channel.company_id == company_id && channel.waba_id.as_deref() == Some(waba_id)
        };
        for entry in self.entries.iter().filter(|entry| of_account(&entry.channel)) {
            entry.tell(input());
        }
    }

    /// Passes `input` to a channel's actor, if it runs.
    pub(crate) fn tell(&self, channel_id: Uuid, input: Input) {
        if let Some(entry) = self.entries.get(&channel_id) {
            entry.tell(input);
        }
    }

    /// Passes `input` to every running actor.
    pub(crate) fn tell_all(&self, input: impl Fn() -> Input) {
        for entry in &self.entries {
            entry.tell(input());
        }
    }

    /// Passes `message` to a channel's actor and waits for the answer; `None` when the actor does not run or has just
    /// ended: then the sentinel starts it again, and it reads the store.
    pub(crate) async fn ask<M: ToChannel>(&self, channel_id: Uuid, message: M) -> Option<M::Result> {
        self.handle(channel_id)?.send(message).await.ok()
    }

    /// Starts the actor of a channel that has work without a request: unfinished sends, or a number that the provider
    /// has not confirmed.
    pub(crate) fn wake(&self, channel: &Arc<Channel>) {
        if !self.shared.stopping.load(Ordering::Acquire) {
            self.actor(channel);
        }
    }

    /// Restarts actors that ended because of a defect, so that the queues of their channels go on. Does nothing while
    /// the service stops, because actors end on purpose then. Returns how many were started.
    pub(crate) fn revive(&self) -> usize {
        if self.shared.stopping.load(Ordering::Acquire) {
            return 0;
        }
        let ended = |entry: &Entry| entry.actor.as_ref().is_some_and(|actor| !actor.is_running());
        let ended: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| ended(entry))
            .map(|entry| Arc::clone(&entry.channel))
            .collect();
        for channel in &ended {
            tracing::error!(channel.id = %channel.id, channel.name = %channel.name, "a channel's actor ended unexpectedly, restarting it");
            self.wake(channel);
        }
        ended.len()
    }

    /// Stops every actor, each once its outcomes are written; also those whose channels are being given away or
    /// removed.
    pub(crate) async fn stop(&self) {
        self.shared.stopping.store(true, Ordering::Release);
        let mut actors: Vec<_> = self.entries.iter().filter_map(|entry| entry.actor.clone()).collect();
        actors.extend(self.leaving.all());
        // A closed actor has stopped already.
        futures_util::future::join_all(actors.iter().map(|actor| actor.send(Stop))).await;
        for thread in &self.threads {
            thread.arbiter.stop();
        }
    }
}

/// A hidden channel.
pub(crate) struct Hidden<'a> {
    directory: &'a Directory,
    id: Uuid,
    entry: Option<Entry>,
    /// The number of its actor among those that leave.
    leaving: Option<u64>,
    is_removed: bool,
}

impl Hidden<'_> {
    /// The channel is removed: its actor ends, and the channel stays hidden.
    pub(crate) async fn remove(mut self) {
        self.is_removed = true;
        if let Some(actor) = self.entry.take().and_then(|entry| entry.actor) {
            // A closed actor has stopped already.
            let _ = actor.send(Stop).await;
        }
        self.has_left();
        // An update at the same time may have added it again.
        self.directory.removed.insert(self.id);
        self.directory.entries.remove(&self.id);
        self.directory.listeners.remove(self.id);
        self.directory.unknown.insert(self.id);
    }

    fn has_left(&mut self) {
        if let Some(number) = self.leaving.take() {
            self.directory.leaving.remove(number);
        }
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        if self.is_removed {
            return;
        }
        if let Some(entry) = self.entry.take() {
            self.directory.entries.entry(self.id).or_insert(entry);
        }
        // A service that began to stop may have searched the entries before: then it finds the actor among those that
        // leave.
        if !self.directory.shared.stopping.load(Ordering::Acquire) {
            self.has_left();
        }
        self.directory.unknown.remove(&self.id);
    }
}

fn refresh(entry: &Entry) {
    entry.tell(Input::Refreshed(Arc::clone(&entry.channel)));
}
