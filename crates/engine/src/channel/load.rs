//! The messages in memory, waiting or under way, for monitoring and for operators.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use uuid::Uuid;

use super::machine::{Backlog, Present};
use crate::channel::Channels;
use domain::channel::Status;

/// The messages in memory, of one channel or of all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Messages of sends to one recipient that were not started yet.
    pub direct: u64,
    /// Messages of bulk sends that were not started yet. Sends beyond `engine.active_bulk_sends` wait in the store.
    pub bulk: u64,
    /// Messages that wait for a retry.
    pub retry: u64,
    /// Messages between their start and their durable outcome.
    pub in_flight: u64,
    /// Messages in the mailboxes of actors.
    pub mailbox: u64,
}

impl Load {
    pub(super) fn add(&mut self, other: Self) {
        let Self { direct, bulk, retry, in_flight, mailbox } = other;
        self.direct += direct;
        self.bulk += bulk;
        self.retry += retry;
        self.in_flight += in_flight;
        self.mailbox += mailbox;
    }
}

/// The numbers that a channel's shell publishes after each input.
#[derive(Debug, Default)]
pub(super) struct Shown {
    direct: AtomicU64,
    bulk: AtomicU64,
    retry: AtomicU64,
    in_flight: AtomicU64,
    /// `None` until the first input.
    present: Mutex<Option<Present>>,
}

impl Shown {
    pub(super) fn show(&self, backlog: Backlog, present: Present) {
        *self.present.lock() = Some(present);
        let Backlog { direct, bulk, retry, in_flight } = backlog;
        self.direct.store(direct, Ordering::Relaxed);
        self.bulk.store(bulk, Ordering::Relaxed);
        self.retry.store(retry, Ordering::Relaxed);
        self.in_flight.store(in_flight, Ordering::Relaxed);
    }

    /// What the channel did at its last input.
    pub(super) fn present(&self) -> Option<Present> {
        self.present.lock().clone()
    }

    /// The load, given the number of messages in the channel's mailbox.
    pub(super) fn load(&self, mailbox: u64) -> Load {
        Load {
            direct: self.direct.load(Ordering::Relaxed),
            bulk: self.bulk.load(Ordering::Relaxed),
            retry: self.retry.load(Ordering::Relaxed),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            mailbox,
        }
    }
}

impl Channels<'_> {
    /// The messages of a channel in memory; `None` while its actor does not run.
    pub fn load(&self, channel_id: Uuid) -> Option<Load> {
        self.engine.directory().handle(channel_id).map(|handle| handle.load())
    }

    /// Sets the gauges of all channels' messages in memory, and of the mailboxes.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn measure(&self) {
        let Load { direct, bulk, retry, in_flight, mailbox } = self.engine.directory().load();
        metrics::gauge!("pombo_lane_messages", "lane" => "direct").set(direct as f64);
        metrics::gauge!("pombo_lane_messages", "lane" => "bulk").set(bulk as f64);
        metrics::gauge!("pombo_lane_messages", "lane" => "retry").set(retry as f64);
        metrics::gauge!("pombo_messages_in_flight").set(in_flight as f64);
        metrics::gauge!("pombo_mailbox_messages", "actor" => "channel").set(mailbox as f64);
        let ledger = self.engine.0.shared.ledger.waiting();
        metrics::gauge!("pombo_mailbox_messages", "actor" => "ledger").set(ledger as f64);
        for status in Status::ALL {
            let channels = self.engine.0.shared.census.channels(*status);
            metrics::gauge!("pombo_channels", "status" => status.as_str()).set(channels as f64);
        }
        let cluster = &self.engine.0.shared.cluster;
        if let Some((shards, nodes)) = cluster.figures() {
            metrics::gauge!("pombo_cluster_shards").set(shards as f64);
            metrics::gauge!("pombo_cluster_nodes").set(nodes as f64);
            metrics::gauge!("pombo_cluster_trusted").set(if cluster.may_begin() { 1.0 } else { 0.0 });
        }
        let health = &self.engine.0.shared.health;
        metrics::gauge!("pombo_sealing_keys_missing").set(health.missing_keys() as f64);
        if let Some(ahead) = health.clock_ahead() {
            metrics::gauge!("pombo_clock_offset_seconds").set(ahead as f64 / 1_000.0);
        }
        if let Some(trust) = cluster.trust() {
            metrics::gauge!("pombo_cluster_lease_seconds").set(trust.as_secs_f64());
        }
    }
}
