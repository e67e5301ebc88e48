//! The rounds of publishing.

use std::collections::HashSet;
use std::time::Duration;

use metrics::{Counter, Gauge};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use clock::Timestamp;
use connectors::nats::{EventStream, Outgoing, Published, Unready};
use domain::event::{Data, Event};
use store::Store;
use store::outbox::Pending;

/// Events that are published together: one read, one wait for acknowledgements, one removal.
const AT_ONCE: u32 = 1_000;
/// How often events of another process are looked for, and a failed publication is retried.
const LOOK: Duration = Duration::from_secs(1);
/// How often the connection is checked while there is none.
const RECONNECTING: Duration = Duration::from_millis(100);
/// How often the outbox is measured.
const MEASURE: Duration = Duration::from_secs(1);

/// Publishes the events of the outbox, and removes those that the stream has.
pub(super) struct Publisher {
    store: Store,
    stream: EventStream,
    max_rows: u64,
    /// Whether it was logged that nothing can be published.
    is_failing: bool,
    /// Events that were dropped since publishing stopped.
    dropped: u64,
    measured: Option<Instant>,
    figures: Figures,
}

/// Why events wait.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("there is no connection to NATS")]
    NotConnected,
    #[error("{0}")]
    Unready(Unready),
    #[error("{unknown} of {count} events were not acknowledged")]
    NotAcknowledged { unknown: usize, count: usize },
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl From<Unready> for Trouble {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::NotConnected => Self::NotConnected,
            other => Self::Unready(other),
        }
    }
}

struct Figures {
    rows: Gauge,
    age: Gauge,
    published: Counter,
    refused: Counter,
    dropped: Counter,
}

impl Publisher {
    pub(super) fn new(store: Store, stream: EventStream, max_rows: u64) -> Self {
        let figures = Figures {
            rows: metrics::gauge!("pombo_outbox_rows"),
            age: metrics::gauge!("pombo_outbox_age_seconds"),
            published: metrics::counter!("pombo_events_total", "result" => "published"),
            refused: metrics::counter!("pombo_events_total", "result" => "refused"),
            dropped: metrics::counter!("pombo_events_total", "result" => "dropped"),
        };
        Self { store, stream, max_rows, is_failing: false, dropped: 0, measured: None, figures }
    }

    /// Publishes the waiting events, and waits for more. Returns the pause before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        if let Err(trouble) = self.publish_all().await {
            self.note_trouble(&trouble);
            self.measure_at_times().await;
            return if matches!(trouble, Trouble::NotConnected) { RECONNECTING } else { LOOK };
        }
        self.measure().await;
        // Events of another process are found after the wait.
        let _ = timeout(LOOK, self.store.outbox().written()).await;
        Duration::ZERO
    }

    /// Another node publishes, and its figures count. Returns the pause until this node checks again.
    pub(super) fn rest(&mut self) -> Duration {
        self.measured = None;
        self.figures.rows.set(0.0);
        self.figures.age.set(0.0);
        LOOK
    }

    async fn publish_all(&mut self) -> Result<(), Trouble> {
        loop {
            self.stream.prepare().await?;
            let pending = self.store.outbox().pending(AT_ONCE).await?;
            if pending.is_empty() {
                self.note_success();
                return Ok(());
            }
            let is_last = pending.len() < AT_ONCE as usize;
            self.publish(pending).await?;
            self.note_success();
            if is_last {
                return Ok(());
            }
            self.measure_at_times().await;
        }
    }

    /// Publishes these, and removes those that were acknowledged. The next event of a message or channel goes once the
    /// stream has the one before: after an event that the stream did not take, the later ones wait as well.
    async fn publish(&self, pending: Vec<Pending>) -> Result<(), Trouble> {
        let (mut left, mut done) = (Vec::new(), Vec::new());
        for Pending { seq, event } in pending {
            match event.as_ref().and_then(|event| Some((seq, subject(event), outgoing(event)?))) {
                Some(event) => left.push(event),
                // The store has logged it; it must not hold up the others.
                None => {
                    self.figures.refused.increment(1);
                    done.push(seq);
                }
            }
        }
        let count = left.len();
        let mut unknown = 0;
        while !left.is_empty() && unknown == 0 {
            let (numbers, events): (Vec<_>, Vec<_>) = first_of_each(&mut left).into_iter().unzip();
            for (seq, published) in numbers.into_iter().zip(self.stream.publish(events).await) {
                match published {
                    Published::Taken => {
                        self.figures.published.increment(1);
                        done.push(seq);
                    }
                    Published::Refused => {
                        tracing::error!(seq, "an event is larger than NATS accepts, it is dropped");
                        self.figures.refused.increment(1);
                        done.push(seq);
                    }
                    Published::Unknown => unknown += 1,
                }
            }
        }
        unknown += left.len();
        self.store.outbox().remove(&done).await?;
        if unknown == 0 {
            return Ok(());
        }
        Err(Trouble::NotAcknowledged { unknown, count })
    }

    /// Keeps the outbox within its bound, and measures how many events wait.
    async fn measure(&mut self) {
        self.measured = Some(Instant::now());
        if let Err(error) = self.try_to_measure().await {
            tracing::debug!(%error, "the outbox cannot be measured");
        }
    }

    async fn measure_at_times(&mut self) {
        if self.measured.is_none_or(|last| last.elapsed() >= MEASURE) {
            self.measure().await;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    async fn try_to_measure(&mut self) -> store::Result<()> {
        let mut extent = self.store.outbox().extent().await?;
        if extent.rows > self.max_rows {
            let dropped = self.store.outbox().drop_oldest(self.max_rows).await?;
            if dropped > 0 {
                if self.dropped == 0 {
                    tracing::error!(
                        max_rows = self.max_rows,
                        "the outbox of events is full: the oldest events are dropped until events can be published"
                    );
                }
                self.dropped += dropped;
                self.figures.dropped.increment(dropped);
                extent = self.store.outbox().extent().await?;
            }
        }
        self.figures.rows.set(extent.rows as f64);
        let age = extent.oldest.map(|oldest| Timestamp::now().from_now(oldest));
        self.figures.age.set(age.unwrap_or_default().as_secs_f64());
        Ok(())
    }

    fn note_trouble(&mut self, error: &Trouble) {
        // The connector logs lost connections.
        if matches!(error, Trouble::NotConnected) || std::mem::replace(&mut self.is_failing, true) {
            tracing::debug!(%error, "events still cannot be published");
        } else {
            tracing::warn!(%error, "events cannot be published and wait in the database");
        }
    }

    fn note_success(&mut self) {
        if std::mem::take(&mut self.is_failing) || self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            tracing::info!(dropped, "events are published again");
        }
    }
}

/// What an event is about, if the order of its events matters: a message, or a channel.
type Subject = Option<(Uuid, Option<u64>)>;

fn subject(event: &Event) -> Subject {
    match &event.data {
        Data::Message(message) => Some((message.send_id, Some(message.ordinal))),
        Data::Channel(_) => event.channel_id.map(|channel| (channel, None)),
        Data::Send(_) | Data::Inbound(_) | Data::Lost(_) => None,
    }
}

/// Takes the first event of each subject, with its number, and leaves the later ones in their order.
fn first_of_each<T>(left: &mut Vec<(i64, Subject, T)>) -> Vec<(i64, T)> {
    let mut begun = HashSet::new();
    let is_first = |event: &mut (i64, Subject, T)| event.1.is_none_or(|subject| begun.insert(subject));
    left.extract_if(.., is_first).map(|(seq, _, event)| (seq, event)).collect()
}

/// The event as it goes out; `None` for one that cannot be written as JSON.
fn outgoing(event: &Event) -> Option<Outgoing> {
    let body = serde_json::to_vec(event).ok()?;
    let subject = format!("{}.{}", event.company_id, event.r#type);
    Some(Outgoing { subject, id: event.id.clone(), body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_a_message_go_one_after_the_other_and_those_of_others_together() {
        let message = |ordinal| Some((Uuid::from_u128(7), Some(ordinal)));
        let subjects = [message(0), message(1), message(0), None, None, message(0), message(1)];
        let mut left: Vec<_> = (1..).zip(subjects).map(|(seq, subject)| (seq, subject, ())).collect();
        let mut waves = Vec::new();
        while !left.is_empty() {
            waves.push(first_of_each(&mut left).into_iter().map(|(seq, ())| seq).collect::<Vec<_>>());
        }
        assert_eq!(waves, [vec![1, 2, 4, 5], vec![3, 7], vec![6]]);
    }
}
