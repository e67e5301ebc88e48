//! Events: the log is followed and kept within its bounds here, published at NATS, and read for companies.
//!
//! The writer of an event waits for none of this. One task follows the log of all companies, and the others wait for what
//! it finds.

mod company;
mod publisher;
pub(crate) mod tail;

use std::sync::Arc;
use std::time::Duration;

pub use self::company::{After, EventFilter, EventPart, Events};
use self::publisher::Publisher;
pub use self::tail::Seat;
use super::Engine;
use super::rounds;
use clock::Timestamp;
use connectors::nats::EventStream;
use store::Store;
use store::event_log::LogBounds;

/// How often the log is kept within its bounds.
const TRIM: Duration = Duration::from_secs(5 * 60);

/// Follows the log, and keeps it within its bounds, until the engine stops. In a cluster, the node that does the
/// housekeeping removes what is old.
pub(crate) fn follow(engine: &Engine, options: &config::Events) {
    let (tail, store) = (Arc::clone(&engine.0.tail), engine.store().clone());
    rounds::repeat(&engine.0.threads[1], "event log", async move || tail.round(&store).await);
    let (store, cluster) = (engine.store().clone(), engine.0.shared.cluster.clone());
    let (keep, bytes) = (options.keep, options.max_bytes as u64);
    rounds::repeat(&engine.0.threads[1], "old events", async move || {
        if cluster.keeps_house() {
            let now = Timestamp::now();
            trim(&store, LogBounds { before: keep.map(|keep| now.minus(keep)), bytes }).await;
        }
        TRIM
    });
}

impl Events<'_> {
    /// Publishes all events at NATS from now until the engine stops. In a cluster, the node that does the housekeeping
    /// publishes the events of all.
    pub fn publish(self, stream: EventStream) {
        let engine = &self.engine.0;
        let mut publisher =
            Publisher::new(self.engine.store().clone(), Arc::clone(&engine.shared.contents), stream);
        let (tail, cluster) = (Arc::clone(&engine.tail), engine.shared.cluster.clone());
        rounds::repeat(&engine.threads[1], "events", async move || {
            if cluster.keeps_house() { publisher.round(&tail).await } else { publisher.rest() }
        });
    }
}

async fn trim(store: &Store, bounds: LogBounds) {
    if let Err(error) = try_to_trim(store, bounds).await {
        tracing::warn!(%error, "old events cannot be removed");
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
async fn try_to_trim(store: &Store, bounds: LogBounds) -> store::Result<()> {
    let lost = store.event_log().trim(bounds).await?;
    if lost > 0 {
        metrics::counter!("pombo_events_total", "result" => "dropped").increment(lost);
        tracing::error!(
            events = lost,
            "the log of events has no more room: events were dropped before they were published"
        );
    }
    metrics::gauge!("pombo_event_log_bytes").set(store.event_log().bytes().await? as f64);
    Ok(())
}
