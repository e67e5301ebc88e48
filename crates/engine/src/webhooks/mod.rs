//! Webhooks to companies: delivers the events of the log to the endpoints of companies.
//!
//! The [machine](machine) of an endpoint decides what is sent and when. A [shell](shell) for each endpoint carries out its
//! effects, and the [keeper](keeper) starts and ends the shells as people change endpoints. All of them run on one
//! thread, to which the connections to receivers are bound. In a cluster, the node that does the housekeeping delivers.
//!
//! Nothing here must survive: what is delivered, given up or retried is in the store, and everything else is read from the
//! log again. So the end of a shell at any moment costs repetitions, which have the same id, and no event.

mod attempt;
mod body;
mod context;
mod delivery_log;
mod editing;
mod endpoints;
mod example;
mod former;
mod graph;
mod keeper;
mod open;
mod prepared;
mod reading;
mod replaying;
mod rules;
mod shell;
mod stored;

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::ArbiterHandle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use self::context::DeliveryContext;
use self::delivery_log::DeliveryLog;
pub use self::endpoints::{Resent, SentExample, WebhookEndpoints, no_such_webhook, unverified_receiver};
pub use self::example::example as example_event;
use self::keeper::Keeper;
pub use self::rules::{CheckedEndpoint, EndpointChange, EndpointRules, checked_secret, former_until};
pub use self::stored::{ShownEndpoint, StoredEndpoints};
use crate::contents::ContentKeys;
use crate::events::tail::Tail;
use crate::machine::{Moment, webhook as machine};
use crate::{Engine, Error, RETRY_AFTER, rounds, threads};
use clock::Timestamp;
use config::Config;
use store::Store;
use store::webhooks::Delivery;
use vault::Vault;

/// How long the stop of the engine waits for deliveries in flight. One that takes longer is repeated after the next start.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How often old deliveries are removed from their log.
const TRIM: Duration = Duration::from_secs(60);

/// Both clocks as they are now.
fn moment() -> Moment {
    Moment { monotonic: Instant::now(), wall: Timestamp::now() }
}

/// The deliveries to all endpoints, as the engine holds them.
pub(crate) struct Deliverer {
    context: Arc<DeliveryContext>,
    thread: ArbiterHandle,
}

impl Deliverer {
    /// Starts the thread, and nothing on it yet. Returns the deliveries that wait for their log, too.
    ///
    /// # Errors
    ///
    /// When no client can be created.
    pub(crate) fn new(
        config: &Config,
        store: Store,
        contents: Arc<ContentKeys>,
        vault: Arc<Vault>,
        tail: Arc<Tail>,
    ) -> Result<(Self, mpsc::Receiver<Delivery>), connectors::Error> {
        let (context, deliveries) = DeliveryContext::new(config, store, contents, vault, tail)?;
        Ok((Self { context: Arc::new(context), thread: threads::start() }, deliveries))
    }

    /// Ends the shells politely, and waits for them for a while.
    pub(crate) async fn stop(&self) {
        self.context.stop();
        if timeout(STOP_PATIENCE, self.context.all_ended()).await.is_err() {
            tracing::warn!("webhooks are still being delivered, they are repeated after the next start");
        }
    }

    /// Ends the thread.
    pub(crate) fn end(&self) {
        self.thread.stop();
    }

    /// Runs `work` on the thread to which the connections are bound.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let (tell, told) = oneshot::channel();
        self.thread.spawn(async move {
            // The caller may be gone.
            let _ = tell.send(work.await);
        });
        told.await.map_err(|_| Error::Unavailable { retry_after: RETRY_AFTER })
    }
}

/// Delivers to the endpoints of all companies until the engine stops. In a cluster, the node that does the housekeeping
/// delivers the events of all.
pub(crate) fn deliver(engine: &Engine, deliveries: mpsc::Receiver<Delivery>) {
    let Deliverer { context, thread } = &engine.0.webhooks;
    let cluster = engine.0.shared.cluster.clone();
    let lease_lost = engine.0.lease_lost.subscribe();
    let mut keeper = Keeper::new(Arc::clone(context), cluster.clone(), lease_lost);
    rounds::repeat(thread, "webhooks", async move || keeper.round().await);
    let mut log = DeliveryLog::new(Arc::clone(context), deliveries);
    rounds::repeat(thread, "webhook log", async move || log.round().await);
    let context = Arc::clone(context);
    rounds::repeat(thread, "old webhooks", async move || {
        if cluster.keeps_house()
            && let Err(error) = context.store.webhooks().trim(Timestamp::now()).await
        {
            tracing::warn!(%error, "old deliveries of webhooks cannot be removed");
        }
        TRIM
    });
}
