//! The events of a session: a queue between the library, which must not be delayed, and a receiver that may
//! be slow.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, watch};

use super::backend::Numbers;
use driver::{End, Event, Jid};

/// The maximum number of acks and similar events that wait for the receiver; more are dropped and counted. A
/// device that was offline for a day gets all events of that day at once. They take some 2 MB of memory.
const MOST_WAITING: usize = 16_384;

/// An event to pass on.
#[derive(Debug)]
pub(super) enum Untold {
    Event(Event),
    /// A person wrote whose number is hidden and has to be looked up first.
    Wrote(Jid),
}

/// The sender of one session's events, shared by their sources.
pub(super) struct Telling {
    queue: mpsc::UnboundedSender<Untold>,
    /// The number of frequent events in the queue.
    waiting: AtomicUsize,
    missed: AtomicU64,
    missed_untold: AtomicU64,
    /// Failed attempts to connect in a row.
    attempts: AtomicU32,
    /// Whether a connection was opened and has carried nothing yet.
    is_dialled: AtomicBool,
    end: Mutex<Option<End>>,
    end_wanted: Notify,
    /// Whether WhatsApp waits for a passkey, or for the phone after it.
    at_gate: watch::Sender<bool>,
}

impl Telling {
    /// The sender, and the receiving end of the queue for [`Telling::forward`].
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Untold>) {
        let (queue, queued) = mpsc::unbounded_channel();
        let telling = Self {
            queue,
            waiting: AtomicUsize::new(0),
            missed: AtomicU64::new(0),
            missed_untold: AtomicU64::new(0),
            attempts: AtomicU32::new(0),
            is_dialled: AtomicBool::new(false),
            end: Mutex::new(None),
            end_wanted: Notify::new(),
            at_gate: watch::Sender::new(false),
        };
        (telling, queued)
    }

    /// Puts an event into the queue. Never waits.
    pub(super) fn tell(&self, event: Event) {
        self.put(Untold::Event(event));
    }

    /// Reports that a person wrote whose address hides the number. The event is passed on with the number, or
    /// dropped when the number is unknown. Never waits.
    pub(super) fn wrote(&self, lid: Jid) {
        self.put(Untold::Wrote(lid));
    }

    fn put(&self, untold: Untold) {
        if is_one_of_many(&untold) && self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.missed.fetch_add(1, Ordering::Relaxed);
            self.missed_untold.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The receiver may be gone.
        let _ = self.queue.send(untold);
    }

    /// Passes events on until the end of the session.
    pub(super) async fn forward(
        &self,
        mut queued: mpsc::UnboundedReceiver<Untold>,
        events: &mpsc::Sender<Event>,
        numbers: &Numbers,
    ) {
        while let Some(untold) = queued.recv().await {
            if is_one_of_many(&untold) {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            let event = match untold {
                Untold::Event(event) => event,
                Untold::Wrote(lid) => match numbers.behind(&lid).await {
                    Some(from) => Event::Inbound { from },
                    None => continue,
                },
            };
            let count = self.missed_untold.swap(0, Ordering::Relaxed);
            if count > 0 && events.send(Event::Missed { count }).await.is_err() {
                return;
            }
            let is_last = matches!(event, Event::Ended(_));
            if events.send(event).await.is_err() || is_last {
                return;
            }
        }
    }

    /// Makes the session end for this reason, unless there is another reason already.
    pub(super) fn end(&self, end: End) {
        self.end.lock().get_or_insert(end);
        self.end_wanted.notify_one();
    }

    /// Waits for [`Telling::end`]. For one caller.
    pub(super) async fn end_wanted(&self) {
        self.end_wanted.notified().await;
    }

    /// Sends the last event, with the reason for the end.
    pub(super) fn ended(&self) {
        self.gate(false);
        let end = self.end.lock().take();
        let end = end.unwrap_or_else(|| End::Failed { sentence: "the session broke down".to_owned() });
        let _ = self.queue.send(Untold::Event(Event::Ended(end)));
    }

    /// Sets whether WhatsApp waits for a passkey.
    pub(super) fn gate(&self, is_waiting: bool) {
        self.at_gate.send_replace(is_waiting);
    }

    /// Whether WhatsApp waits for a passkey.
    pub(super) fn at_gate(&self) -> watch::Receiver<bool> {
        self.at_gate.subscribe()
    }

    /// Notes the start of an attempt to connect. If the attempt before got a connection that carried nothing,
    /// its failure is reported now.
    pub(super) fn dialling(&self) {
        if self.is_dialled.swap(false, Ordering::Relaxed) {
            self.failed("WhatsApp was reached, but there was no conversation");
        }
    }

    pub(super) fn dialled(&self) {
        self.is_dialled.store(true, Ordering::Relaxed);
    }

    /// Notes that the connection carries data.
    pub(super) fn conversing(&self) {
        self.is_dialled.store(false, Ordering::Relaxed);
        self.attempts.store(0, Ordering::Relaxed);
    }

    /// Reports a failed attempt to connect.
    pub(super) fn failed(&self, sentence: &str) {
        let attempts = self.attempts.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.tell(Event::Unreachable { attempts, sentence: sentence.to_owned() });
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

/// Whether the event is frequent. All other events are rare and never dropped.
const fn is_one_of_many(untold: &Untold) -> bool {
    matches!(
        untold,
        Untold::Event(Event::Ack(_) | Event::LidLearned { .. } | Event::Inbound { .. }) | Untold::Wrote(_)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::backend::tests::Memory;
    use super::*;
    use clock::Timestamp;
    use domain::phone::PhoneNumber;
    use driver::{Ack, AckState, Change, MessageId, Record, Records as _};

    fn ack(number: usize) -> Event {
        let id = MessageId::parse(&number.to_string()).unwrap();
        Event::Ack(Ack { id, state: AckState::Server, at: Timestamp::from_millis(0), from: None })
    }

    async fn told(telling: &Telling, queued: mpsc::UnboundedReceiver<Untold>) -> Vec<Event> {
        told_with(telling, queued, Memory::default()).await
    }

    async fn told_with(
        telling: &Telling,
        queued: mpsc::UnboundedReceiver<Untold>,
        records: Memory,
    ) -> Vec<Event> {
        telling.ended();
        let (events, mut heard) = mpsc::channel(MOST_WAITING + 8);
        telling.forward(queued, &events, &Numbers::new(Arc::new(records))).await;
        drop(events);
        let mut all = Vec::new();
        while let Some(event) = heard.recv().await {
            all.push(event);
        }
        all
    }

    #[tokio::test]
    async fn events_keep_their_order_and_the_end_is_the_last() {
        let (telling, queued) = Telling::new();
        telling.tell(Event::Connected);
        telling.tell(ack(1));
        telling.end(End::Replaced);
        telling.end(End::Stopped);
        telling.tell(ack(2));
        let all = told(&telling, queued).await;
        assert_eq!(all, [Event::Connected, ack(1), ack(2), Event::Ended(End::Replaced)]);
    }

    #[tokio::test]
    async fn acks_beyond_the_bound_are_counted_and_other_events_never_lost() {
        let (telling, queued) = Telling::new();
        for number in 0..MOST_WAITING + 3 {
            telling.tell(ack(number));
        }
        telling.tell(Event::Connected);
        let all = told(&telling, queued).await;
        assert_eq!(telling.missed(), 3);
        assert_eq!(all[0], Event::Missed { count: 3 });
        assert_eq!(all.len(), 1 + MOST_WAITING + 2);
        assert_eq!(all[all.len() - 2], Event::Connected);
        telling.tell(ack(0));
        assert_eq!(telling.missed(), 3, "there is room again");
    }

    #[tokio::test]
    async fn a_hidden_sender_is_reported_by_number_or_not_at_all() {
        let records = Memory::default();
        let value = br#"{"lid":"100","phone_number":"5511900000001","created_at":1,"updated_at":1,"learning_source":"usync"}"#;
        let record = Record { key: "100".to_owned(), value: value.to_vec(), mark: 0 };
        let known = Change::Put { namespace: "lid".to_owned(), record };
        records.apply(vec![known]).await.unwrap();
        let (telling, queued) = Telling::new();
        let lid = |lid| Jid::parse(lid).unwrap();
        telling.wrote(lid("100@lid"));
        telling.tell(ack(1));
        telling.wrote(lid("999@lid"));
        let all = told_with(&telling, queued, records).await;
        let from = PhoneNumber::parse("5511900000001").unwrap();
        assert_eq!(all[..2], [Event::Inbound { from }, ack(1)]);
        assert!(matches!(all[2..], [Event::Ended(_)]), "{all:?}");
    }

    #[tokio::test]
    async fn an_end_without_a_reason_is_a_failure() {
        let (telling, queued) = Telling::new();
        let all = told(&telling, queued).await;
        assert!(matches!(all[..], [Event::Ended(End::Failed { .. })]), "{all:?}");
    }

    #[tokio::test]
    async fn failed_attempts_are_counted_until_one_succeeds() {
        let (telling, queued) = Telling::new();
        telling.dialling();
        telling.failed("refused");
        telling.dialling();
        telling.dialled();
        telling.dialling();
        assert_eq!(telling.attempts(), 2);
        telling.dialled();
        telling.conversing();
        telling.dialling();
        assert_eq!(telling.attempts(), 0);
        let all = told(&telling, queued).await;
        let attempts = all.iter().filter_map(|event| match event {
            Event::Unreachable { attempts, .. } => Some(*attempts),
            _ => None,
        });
        assert_eq!(attempts.collect::<Vec<_>>(), [1, 2]);
    }
}
