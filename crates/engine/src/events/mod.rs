//! Publishes events: from the outbox to the stream, in order; events that the stream has are removed from the outbox.
//!
//! The writer of an event does not wait for this. While nothing can be published, the outbox fills up to its bound;
//! then the oldest events are dropped. The log says once when publishing stops and once when it resumes.

mod publisher;

use self::publisher::Publisher;
use super::Engine;
use super::rounds;
use connectors::nats::EventStream;

impl Engine {
    /// Publishes the events of the outbox, from now until the engine stops; at most `max_rows` events wait. The
    /// engine's store has to be one that writes events. In a cluster, the node that does the housekeeping publishes the
    /// events of all.
    pub fn publish_events(&self, stream: EventStream, max_rows: u64) {
        let mut publisher = Publisher::new(self.store().clone(), stream, max_rows);
        let cluster = self.0.shared.cluster.clone();
        rounds::repeat(&self.0.threads[1], "events", async move || {
            if cluster.keeps_house() { publisher.round().await } else { publisher.rest() }
        });
    }
}
