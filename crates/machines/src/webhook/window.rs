//! The window of the log: the events that were read and are beyond the stored cursor.
//!
//! Everything that a crash may repeat is in the window, so its capacity is also the bound of repetitions.

use std::collections::BTreeMap;
use std::time::Instant;

use super::input::{EndpointSettings, EventItem};

/// The capacity of the window, in multiples of the events that may be in flight.
const CAPACITY: usize = 4;
/// The least capacity, in events.
const LEAST_CAPACITY: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventStage {
    /// The event waits for an attempt, not before this time.
    Waiting {
        not_before: Option<Instant>,
    },
    InFlight,
    /// The event is delivered, given up, or has a retry.
    Settled,
}

/// The events between the stored cursor and the last read one.
#[derive(Debug)]
pub(super) struct EventWindow {
    events: BTreeMap<i64, (EventItem, EventStage)>,
    /// The sequence up to which the log was read.
    read_to: i64,
}

impl EventWindow {
    /// The window after a start: `retries` beyond the cursor are settled, whenever they are read.
    pub(super) fn new(cursor: i64, retries: impl Iterator<Item = EventItem>) -> Self {
        let beyond = retries.filter(|item| item.sequence > cursor);
        let events = beyond.map(|item| (item.sequence, (item, EventStage::Settled))).collect();
        Self { events, read_to: cursor }
    }

    pub(super) const fn read_to(&self) -> i64 {
        self.read_to
    }

    /// The number of events to read next; 0 while the window is more than half full.
    pub(super) fn room(&self, settings: &EndpointSettings) -> usize {
        let capacity = (CAPACITY * settings.max_in_flight * settings.batch).max(LEAST_CAPACITY);
        let room = capacity.saturating_sub(self.events.range(..=self.read_to).count());
        if room >= capacity / 2 { room } else { 0 }
    }

    /// Takes in events that were read, and the sequence up to which the log was read.
    pub(super) fn extend(&mut self, items: Vec<EventItem>, up_to: i64) {
        for item in items.into_iter().filter(|item| item.sequence > self.read_to) {
            self.events.entry(item.sequence).or_insert((item, EventStage::Waiting { not_before: None }));
        }
        self.read_to = self.read_to.max(up_to);
    }

    /// The events that may be attempted now, in their order.
    pub(super) fn waiting(&self, now: Instant) -> impl Iterator<Item = &EventItem> {
        self.events.values().filter_map(move |(item, stage)| match stage {
            EventStage::Waiting { not_before } if not_before.is_none_or(|time| time <= now) => Some(item),
            EventStage::Waiting { .. } | EventStage::InFlight | EventStage::Settled => None,
        })
    }

    /// The events that wait for a later time, and that time.
    pub(super) fn deferred(&self, now: Instant) -> impl Iterator<Item = (EventItem, Instant)> {
        self.events.values().filter_map(move |(item, stage)| match stage {
            EventStage::Waiting { not_before: Some(time) } if *time > now => Some((*item, *time)),
            EventStage::Waiting { .. } | EventStage::InFlight | EventStage::Settled => None,
        })
    }

    pub(super) fn begin(&mut self, sequence: i64) {
        self.set(sequence, EventStage::InFlight);
    }

    pub(super) fn put_back(&mut self, sequence: i64, not_before: Option<Instant>) {
        self.set(sequence, EventStage::Waiting { not_before });
    }

    pub(super) fn settle(&mut self, sequence: i64) {
        self.set(sequence, EventStage::Settled);
    }

    fn set(&mut self, sequence: i64, to: EventStage) {
        if let Some((_, stage)) = self.events.get_mut(&sequence) {
            *stage = to;
        }
    }

    /// Whether the event was not dropped meanwhile.
    pub(super) fn contains(&self, sequence: i64) -> bool {
        self.events.contains_key(&sequence)
    }

    /// The cursor: all events up to it are settled.
    pub(super) fn cursor(&self) -> i64 {
        let unsettled = self.events.iter().find(|(_, (_, stage))| *stage != EventStage::Settled);
        unsettled.map_or(self.read_to, |(sequence, _)| self.read_to.min(sequence - 1))
    }

    /// Whether all events that were read are settled.
    pub(super) fn is_settled(&self) -> bool {
        self.cursor() == self.read_to
    }

    /// Whether the way to this cursor has an event, and not only events that the endpoint does not want.
    pub(super) fn passes_events(&self, cursor: i64) -> bool {
        self.events.first_key_value().is_some_and(|(sequence, _)| *sequence <= cursor)
    }

    /// The cursor is in the store.
    pub(super) fn stored(&mut self, cursor: i64) {
        self.events = self.events.split_off(&cursor.saturating_add(1));
    }

    /// Drops all events, and those of the log up to `end`.
    pub(super) fn skip_to(&mut self, end: i64) {
        self.events.clear();
        self.read_to = self.read_to.max(end);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
