//! What all shells of endpoints share: the store, the client for receivers, and the bounds of their use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use uuid::Uuid;

use super::graph::GraphNames;
use crate::contents::ContentKeys;
use crate::events::tail::{Follower, Tail};
use config::Config;
use connectors::fair_semaphore::{FairSemaphore, Permit};
use connectors::webhook::Sender;
use domain::webhook::Schemes;
use store::Store;
use store::webhooks::Delivery;
use vault::Vault;

/// Deliveries in flight to receivers that accepted a request and failed with none since, of all endpoints together. A company
/// uses no more of them than it leaves free.
const IN_FLIGHT: usize = 256;
/// Deliveries in flight to the other receivers: each may take as long as the timeout, and those that answer do not wait for that.
const IN_DOUBT: usize = 192;
/// Deliveries that wait for their log. Further ones are not logged.
const LOG_QUEUE: usize = 4_096;

pub(super) struct DeliveryContext {
    /// Each use waits for its [turn](DeliveryContext::turn).
    pub(super) store: Store,
    /// Opens the contents of events.
    pub(super) contents: Arc<ContentKeys>,
    pub(super) vault: Arc<Vault>,
    pub(super) sender: Arc<Sender>,
    /// The schemes of the addresses that endpoints may have.
    pub(super) schemes: Schemes,
    /// What bodies in Meta's form name.
    pub(super) names: GraphNames,
    /// How long the door that speaks Graph waits for the provider before it answers.
    pub(super) graph_wait: Duration,
    /// Whether programs that speak Graph are told of what is written in groups.
    pub(super) tells_groups: bool,
    tail: Arc<Tail>,
    permits: Arc<FairSemaphore>,
    /// The permits for the other receivers.
    doubtful: Arc<FairSemaphore>,
    /// Leaves connections for the other users of the store's share.
    turns: Arc<FairSemaphore>,
    log: mpsc::Sender<Delivery>,
    /// Notified when an endpoint may have changed.
    pub(super) changed: Notify,
    is_stopping: AtomicBool,
    /// The number of shells.
    shells: watch::Sender<usize>,
}

impl DeliveryContext {
    pub(super) fn new(
        config: &Config,
        store: Store,
        contents: Arc<ContentKeys>,
        vault: Arc<Vault>,
        tail: Arc<Tail>,
    ) -> Result<(Self, mpsc::Receiver<Delivery>), connectors::Error> {
        let (log, deliveries) = mpsc::channel(LOG_QUEUE);
        let context = Self {
            turns: FairSemaphore::new((store.connections() / 2).max(1)),
            store,
            contents,
            vault,
            sender: Arc::new(Sender::new(&config.webhooks)?),
            schemes: config.webhooks.schemes(),
            names: GraphNames::default(),
            graph_wait: config.graph.wait,
            tells_groups: config.graph.groups,
            tail,
            permits: FairSemaphore::new(IN_FLIGHT),
            doubtful: FairSemaphore::new(IN_DOUBT),
            log,
            changed: Notify::new(),
            is_stopping: AtomicBool::new(false),
            shells: watch::Sender::new(0),
        };
        Ok((context, deliveries))
    }

    /// Waits for a turn of this company to use the store.
    pub(super) async fn turn(&self, company: Uuid) -> Permit {
        self.turns.acquire(company, 1).await
    }

    /// Waits until a delivery of this company may begin. `has_accepted` says whether its receiver accepted a request and failed with
    /// none since.
    pub(super) async fn permit(&self, company: Uuid, has_accepted: bool) -> Permit {
        let permits = if has_accepted { &self.permits } else { &self.doubtful };
        permits.acquire(company, 1).await
    }

    /// Follows the log of this company.
    pub(super) fn follow(&self, company: Uuid) -> Follower {
        self.tail.follow(company)
    }

    /// Logs a delivery, unless too many wait for that.
    pub(super) fn log(&self, delivery: Delivery) {
        if self.log.try_send(delivery).is_err() {
            tracing::debug!("a delivery is not logged: too many wait for it");
        }
    }

    /// Ends all shells, and lets no others start.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    pub(super) fn shell_started(&self) {
        self.shells.send_modify(|shells| *shells += 1);
    }

    pub(super) fn shell_ended(&self) {
        self.shells.send_modify(|shells| *shells = shells.saturating_sub(1));
    }

    /// Waits until there is no shell.
    pub(super) async fn all_ended(&self) {
        // The sender is in this value.
        let _ = self.shells.subscribe().wait_for(|shells| *shells == 0).await;
    }
}
