//! The rounds of publishing.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use metrics::{Counter, Gauge};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use clock::Timestamp;
use connectors::nats::{EventStream, Outgoing, Published, Unready};
use domain::event::log::Sequence;
use domain::event::{Data, Event};
use store::Store;
use store::event_log::{Behind, LogEvent, Reader};

use super::tail::Tail;
use crate::contents::ContentKeys;

/// Events that are published together: one read, one wait for acknowledgements.
const AT_ONCE: usize = 1_000;
/// How often a failed publication is retried.
const LOOK: Duration = Duration::from_secs(1);
/// How often the connection is checked while there is none.
const RECONNECTING: Duration = Duration::from_millis(100);
/// How often what waits is measured, and how many times as seldom as measuring takes.
const MEASURE: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;

/// Publishes the events of the log, in their order, and notes how far the stream has them.
pub(super) struct Publisher {
    store: Store,
    /// Opens the contents of events.
    contents: Arc<ContentKeys>,
    stream: EventStream,
    /// How far the stream has the log; `None` if another node may have published since it was read.
    place: Option<Sequence>,
    /// Whether it was logged that nothing can be published.
    is_failing: bool,
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
}

impl Publisher {
    pub(super) fn new(store: Store, contents: Arc<ContentKeys>, stream: EventStream) -> Self {
        let figures = Figures {
            rows: metrics::gauge!("pombo_events_waiting"),
            age: metrics::gauge!("pombo_events_waiting_age_seconds"),
            published: metrics::counter!("pombo_events_total", "result" => "published"),
            refused: metrics::counter!("pombo_events_total", "result" => "refused"),
        };
        Self { store, contents, stream, place: None, is_failing: false, measured: None, figures }
    }

    /// Publishes the waiting events, and waits for more. Returns the pause before the next round.
    pub(super) async fn round(&mut self, tail: &Tail) -> Duration {
        let mut through = tail.through();
        if let Err(trouble) = self.publish_all(&mut through).await {
            self.note_trouble(&trouble);
            self.measure_at_times().await;
            return if matches!(trouble, Trouble::NotConnected) { RECONNECTING } else { LOOK };
        }
        self.measure().await;
        let _ = timeout(LOOK, through.changed()).await;
        Duration::ZERO
    }

    /// Another node publishes, and its figures count. Returns the pause until this node checks again.
    pub(super) fn rest(&mut self) -> Duration {
        (self.measured, self.place) = (None, None);
        self.figures.rows.set(0.0);
        self.figures.age.set(0.0);
        LOOK
    }

    async fn publish_all(&mut self, through: &mut watch::Receiver<i64>) -> Result<(), Trouble> {
        loop {
            self.stream.prepare().await?;
            let place = self.place().await?;
            let through = *through.borrow_and_update();
            let mut page = self.store.event_log().read(None, (place, through), AT_ONCE, |_| true).await?;
            let events = page.told.iter_mut().filter_map(|told| told.event.as_mut());
            self.contents.open_events(events).await;
            let done = self.publish(page.told, page.next).await;
            let to = match &done {
                Ok(()) => page.next,
                Err((sequence, _)) => *sequence,
            };
            if to > place {
                self.store.event_log().advance(Reader::Nats, to).await?;
                self.place = Some(to);
            }
            done.map_err(|(_, trouble)| trouble)?;
            self.note_success();
            if !page.more {
                return Ok(());
            }
            self.measure_at_times().await;
        }
    }

    /// How far the stream has the log.
    async fn place(&mut self) -> Result<Sequence, Trouble> {
        if let Some(place) = self.place {
            return Ok(place);
        }
        let place = self.store.event_log().register(Reader::Nats, Timestamp::now()).await?;
        Ok(*self.place.insert(place))
    }

    /// Publishes these. The next event of a message or channel goes once the stream has the one before: after an event
    /// that the stream did not take, the later ones wait as well. `next` is the place after all of them.
    ///
    /// # Errors
    ///
    /// Why some were not taken, with the place up to which the stream has all.
    async fn publish(&self, told: Vec<LogEvent>, next: Sequence) -> Result<(), (Sequence, Trouble)> {
        let mut left = Vec::new();
        for LogEvent { sequence, event } in told {
            // A message that is no longer in the ledger has no event, and one that cannot be read was logged.
            let Some(event) = event else { continue };
            match outgoing(&event) {
                Some(outgoing) => left.push((sequence, subject(&event), outgoing)),
                None => self.figures.refused.increment(1),
            }
        }
        let (count, mut unknown) = (left.len(), BTreeSet::new());
        while !left.is_empty() && unknown.is_empty() {
            let (places, events): (Vec<_>, Vec<_>) = first_of_each(&mut left).into_iter().unzip();
            for (sequence, published) in places.into_iter().zip(self.stream.publish(events).await) {
                match published {
                    Published::Taken => self.figures.published.increment(1),
                    Published::Refused => {
                        tracing::error!(
                            sequence = sequence.as_i64(),
                            "an event is larger than NATS accepts, it is dropped"
                        );
                        self.figures.refused.increment(1);
                    }
                    Published::Unknown => {
                        unknown.insert(sequence);
                    }
                }
            }
        }
        unknown.extend(left.into_iter().map(|(sequence, _, _)| sequence));
        let Some(first) = unknown.first() else { return Ok(()) };
        let before = Sequence::from_i64(first.as_i64() - 1).min(next);
        Err((before, Trouble::NotAcknowledged { unknown: unknown.len(), count }))
    }

    /// Measures how many events wait.
    async fn measure(&mut self) {
        let begun = Instant::now();
        if let Err(error) = self.try_to_measure().await {
            tracing::debug!(%error, "the events that wait cannot be counted");
        }
        // Of a long log, less often.
        self.measured = Some(Instant::now() + begun.elapsed().saturating_mul(SHARE));
    }

    async fn measure_at_times(&mut self) {
        if self.measured.is_none_or(|last| Instant::now() >= last + MEASURE) {
            self.measure().await;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    async fn try_to_measure(&mut self) -> Result<(), Trouble> {
        // The log is written while this reader is registered.
        let place = self.store.event_log().register_at(Reader::Nats, self.place, Timestamp::now()).await?;
        let Behind { events, oldest } = self.store.event_log().behind(place).await?;
        self.figures.rows.set(events as f64);
        let age = oldest.map(|oldest| Timestamp::now().from_now(oldest));
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
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("events are published again");
        }
    }
}

/// What an event is about, if the order of its events matters: a message, a channel, a person who opted out, a template, or
/// a webhook endpoint.
type EventSubject = Option<(Uuid, Option<u64>)>;

fn subject(event: &Event) -> EventSubject {
    match &event.data {
        Data::Message(message) => Some((message.send_id, Some(message.ordinal))),
        Data::Channel(_) | Data::Notice(_) => event.channel_id.map(|channel| (channel, None)),
        Data::Contact(contact) => {
            Some((event.company_id, contact.number.trim_start_matches('+').parse().ok()))
        }
        Data::Template(template) => Some((event.company_id, Some(template.template_id.cast_unsigned()))),
        Data::WebhookDisabled(disabled) => Some((disabled.webhook_id, None)),
        Data::WebhookRecovered(recovered) => Some((recovered.webhook_id, None)),
        // In their order, so that a change of a message does not come before it.
        Data::Inbound(inbound) => inbound.conversation_id.map(|conversation| (conversation, None)),
        Data::Conversation(conversation) => Some((conversation.conversation_id, None)),
        Data::Send(_) | Data::Quota(_) | Data::Key(_) | Data::Lost(_) => None,
    }
}

/// Takes the first event of each subject, with its number, and leaves the later ones in their order.
fn first_of_each<T>(left: &mut Vec<(Sequence, EventSubject, T)>) -> Vec<(Sequence, T)> {
    let mut begun = HashSet::new();
    let is_first =
        |event: &mut (Sequence, EventSubject, T)| event.1.is_none_or(|subject| begun.insert(subject));
    left.extract_if(.., is_first).map(|(sequence, _, event)| (sequence, event)).collect()
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
        let places = (1..).map(|place| Sequence::new(1, place));
        let mut left: Vec<_> = places.zip(subjects).map(|(place, subject)| (place, subject, ())).collect();
        let mut waves = Vec::new();
        while !left.is_empty() {
            let wave = first_of_each(&mut left).into_iter();
            waves.push(wave.map(|(place, ())| place.as_i64() - (1 << 16)).collect::<Vec<_>>());
        }
        assert_eq!(waves, [vec![1, 2, 4, 5], vec![3, 7], vec![6]]);
    }
}
