//! The events of a device, until its receiver takes them.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use driver::Event;

/// The maximum number of acks and similar events that wait for the receiver; more are dropped and counted.
const MOST_WAITING: usize = 16_384;

/// The queue of events. It keeps their order.
#[derive(Default)]
pub(super) struct Telling {
    queue: VecDeque<Event>,
    /// The number of frequent events in the queue.
    waiting: usize,
    missed: u64,
    missed_untold: u64,
    is_unheard: bool,
}

impl Telling {
    /// Puts an event into the queue. Never waits.
    pub(super) fn tell(&mut self, event: Event) {
        if self.is_unheard {
            return;
        }
        if is_one_of_many(&event) {
            if self.waiting == MOST_WAITING {
                return self.lose(1);
            }
            self.waiting += 1;
        }
        self.queue.push_back(event);
    }

    /// Counts acks that the receiver does not get.
    pub(super) fn lose(&mut self, count: u64) {
        self.missed += count;
        self.missed_untold += count;
    }

    /// The number of all acks that the receiver did not get.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Option<Event> {
        let untold = std::mem::take(&mut self.missed_untold);
        if untold > 0 {
            return Some(Event::Missed { count: untold });
        }
        let event = self.queue.pop_front()?;
        if is_one_of_many(&event) {
            self.waiting -= 1;
        }
        Some(event)
    }

    /// Notes that the receiver is gone, and drops all events.
    pub(super) fn unheard(&mut self) {
        *self = Self { is_unheard: true, missed: self.missed, ..Self::default() };
    }

    /// Sends the remaining events, while there is a receiver.
    pub(super) async fn finish(mut self, events: &mpsc::Sender<Event>) {
        while let Some(event) = self.next() {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// Whether the event is frequent. All other events are rare and never dropped.
const fn is_one_of_many(event: &Event) -> bool {
    matches!(event, Event::Ack(_) | Event::LidLearned { .. } | Event::Inbound { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Timestamp;
    use driver::{Ack, AckState, MessageId};

    #[test]
    fn acks_beyond_the_bound_are_counted_and_other_events_never_lost() {
        let id = MessageId::parse("3EB0").unwrap();
        let ack = Event::Ack(Ack { id, state: AckState::Server, at: Timestamp::from_millis(0), from: None });
        let mut telling = Telling::default();
        for _ in 0..MOST_WAITING + 3 {
            telling.tell(ack.clone());
        }
        telling.tell(Event::Connected);
        assert_eq!((telling.missed(), telling.next()), (3, Some(Event::Missed { count: 3 })));
        let rest: Vec<_> = std::iter::from_fn(|| telling.next()).collect();
        assert_eq!((rest.len(), rest.last()), (MOST_WAITING + 1, Some(&Event::Connected)));
        telling.tell(ack);
        assert_eq!(telling.missed(), 3, "there is room again");
    }
}
