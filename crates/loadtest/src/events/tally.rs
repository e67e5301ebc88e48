//! What the receiver counts: events, each by its id, repetitions, the order of the events of a person, and latencies.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use serde::Deserialize;
use uuid::Uuid;

use super::set::{EventName, EventSet};
use crate::latency::{Latencies, Summary};
use crate::receiver::most_in_ten;
use clock::Timestamp;

/// An event, as far as the load test reads it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ReceivedEvent {
    pub(super) id: String,
    pub(super) sequence: i64,
    pub(super) at: Timestamp,
    pub(super) company_id: Uuid,
    pub(super) channel_id: Option<Uuid>,
    pub(super) data: EventDetails,
}

impl ReceivedEvent {
    /// Whether it is an example that the service sends when an endpoint is tested.
    pub(super) fn is_example(&self) -> bool {
        self.id.starts_with("example.")
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct EventDetails {
    /// The person, in events of messages.
    pub(super) recipient: Option<String>,
}

/// When a request arrived, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrivalTime {
    pub(super) monotonic: Instant,
    pub(super) wall: Timestamp,
}

/// The counts.
#[derive(Debug)]
pub(super) struct EventTally {
    begin: Instant,
    /// The events that arrived.
    pub(super) seen: EventSet,
    /// The newest event of each person in a channel. It grows with the people of the test.
    newest: HashMap<u64, i64>,
    pub(super) figures: EventFigures,
    latencies: Latencies,
    /// Events by tenth of a second since the beginning.
    by_tenth: Vec<u32>,
    first_and_last: Option<(Instant, Instant)>,
}

/// The counts that are only added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EventFigures {
    /// Requests whose events were taken.
    pub(super) requests: u64,
    /// Different events.
    pub(super) events: u64,
    /// Events that arrived again.
    pub(super) repeated: u64,
    /// Events that arrived after a later one of the same person.
    pub(super) disordered: u64,
    /// Events of another company than that of the endpoint.
    pub(super) foreign: u64,
    /// Requests without a valid signature.
    pub(super) unsigned: u64,
    /// Requests whose body is not what the documents say.
    pub(super) unreadable: u64,
}

impl EventTally {
    pub(super) fn new(begin: Instant) -> Self {
        Self {
            begin,
            seen: EventSet::default(),
            newest: HashMap::new(),
            figures: EventFigures::default(),
            latencies: Latencies::new(),
            by_tenth: Vec::new(),
            first_and_last: None,
        }
    }

    /// Counts the events of a request to an endpoint of this company. Events that are of no send are left out, and those
    /// that came before the endpoint's company was known: no send of the test began before that.
    pub(super) fn take(&mut self, events: &[ReceivedEvent], company: Option<Uuid>, at: ArrivalTime) {
        let Some(company) = company else { return };
        let named = events.iter().filter_map(|event| Some((EventName::parse(&event.id)?, event)));
        let before = self.figures.events;
        let mut is_of_a_send = false;
        for (name, event) in named {
            is_of_a_send = true;
            if event.company_id != company {
                self.figures.foreign += 1;
            } else if self.seen.add(name) {
                self.take_new(event, at);
            } else {
                self.figures.repeated += 1;
            }
        }
        // An example of an event is not counted as a request, either.
        self.figures.requests += u64::from(is_of_a_send);
        let tenth = at.monotonic.saturating_duration_since(self.begin).as_millis() / 100;
        let tenth = usize::try_from(tenth).unwrap_or(usize::MAX);
        let new = u32::try_from(self.figures.events - before).unwrap_or(u32::MAX);
        if new > 0 {
            if self.by_tenth.len() <= tenth {
                self.by_tenth.resize(tenth + 1, 0);
            }
            self.by_tenth[tenth] += new;
            let (first, _) = self.first_and_last.unwrap_or((at.monotonic, at.monotonic));
            self.first_and_last = Some((first, at.monotonic));
        }
    }

    fn take_new(&mut self, event: &ReceivedEvent, at: ArrivalTime) {
        self.figures.events += 1;
        // The provider gives the times of its receipts in whole seconds: they say nothing about latency.
        if event.at.millis().rem_euclid(1_000) > 0 {
            self.latencies.record(at.wall.from_now(event.at));
        }
        let Some(recipient) = &event.data.recipient else { return };
        let mut hasher = DefaultHasher::new();
        (event.channel_id, recipient).hash(&mut hasher);
        let newest = self.newest.entry(hasher.finish()).or_insert(event.sequence);
        if event.sequence < *newest {
            self.figures.disordered += 1;
        }
        *newest = event.sequence.max(*newest);
    }

    /// From when an event happened to its arrival.
    pub(super) fn latencies(&self) -> Summary {
        self.latencies.summary()
    }

    /// Events in a second, from the first arrival to the last. A shorter time than a second counts as one.
    pub(super) fn per_second(&self) -> f64 {
        let Some((first, last)) = self.first_and_last else { return 0.0 };
        let lasted = last.saturating_duration_since(first).max(Duration::from_secs(1));
        self.figures.events as f64 / lasted.as_secs_f64()
    }

    /// The most events within any one second, to a tenth of a second.
    pub(super) fn most_in_a_second(&self) -> u64 {
        most_in_ten(&self.by_tenth)
    }
}

#[cfg(test)]
mod tests {
    use domain::message::State;

    use super::*;
    use crate::events::set::tests::send;

    const COMPANY: Uuid = Uuid::from_u128(3);

    fn event(ordinal: u64, state: State, sequence: i64) -> ReceivedEvent {
        ReceivedEvent {
            id: format!("{}.{ordinal}.{}", send().simple(), state.as_str()),
            sequence,
            at: Timestamp::from_millis(5_001),
            company_id: COMPANY,
            channel_id: None,
            data: EventDetails { recipient: Some(format!("+99980000000{ordinal}")) },
        }
    }

    fn at(begin: Instant, millis: u64) -> ArrivalTime {
        let wall = Timestamp::from_millis(5_001).plus(Duration::from_millis(millis));
        ArrivalTime { monotonic: begin + Duration::from_millis(millis), wall }
    }

    #[test]
    fn an_event_counts_once_and_one_after_a_later_one_of_its_person_is_out_of_order() {
        let begin = Instant::now();
        let mut tally = EventTally::new(begin);
        let mut take = |events: &[ReceivedEvent], at| tally.take(events, Some(COMPANY), at);
        take(&[event(0, State::Sent, 1), event(1, State::Sent, 2)], at(begin, 20));
        take(&[event(0, State::Read, 9)], at(begin, 30));
        // Another person's event may come later than one that happened after it.
        take(&[event(1, State::Delivered, 4), event(0, State::Delivered, 3)], at(begin, 40));
        take(&[event(0, State::Delivered, 3)], at(begin, 50));
        let expected = EventFigures { requests: 4, events: 5, repeated: 1, disordered: 1, ..tally.figures };
        assert_eq!(tally.figures, expected);
        assert_eq!((tally.seen.len(), tally.most_in_a_second(), tally.latencies().count), (5, 5, 5));
        assert!((tally.latencies().max - 40.0).abs() < 0.1, "{:?}", tally.latencies());
        assert!((tally.per_second() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn examples_and_other_events_are_left_out_and_times_of_the_provider_are_no_latency() {
        let begin = Instant::now();
        let mut tally = EventTally::new(begin);
        let example = ReceivedEvent { id: "example.1.sent".to_owned(), ..event(0, State::Sent, 1) };
        assert!(example.is_example());
        tally.take(&[example], Some(COMPANY), at(begin, 5));
        assert_eq!(tally.figures, EventFigures::default());
        let receipt = ReceivedEvent { at: Timestamp::from_millis(5_000), ..event(0, State::Read, 1) };
        tally.take(&[receipt], Some(COMPANY), at(begin, 5));
        assert_eq!((tally.figures.events, tally.latencies().count), (1, 0));
    }

    #[test]
    fn an_event_of_another_company_does_not_count_as_arrived() {
        let begin = Instant::now();
        let mut tally = EventTally::new(begin);
        tally.take(&[event(0, State::Sent, 1)], None, at(begin, 5));
        assert_eq!(tally.figures, EventFigures::default(), "no send of the test began");
        let other = ReceivedEvent { company_id: Uuid::from_u128(4), ..event(0, State::Sent, 1) };
        tally.take(&[other, event(1, State::Sent, 2)], Some(COMPANY), at(begin, 5));
        let expected = EventFigures { requests: 1, events: 1, foreign: 1, ..EventFigures::default() };
        assert_eq!((tally.figures, tally.seen.len()), (expected, 1));
    }

    #[test]
    fn an_event_is_read_as_the_documents_show_it() {
        let written = r#"{"version": 1, "id": "a.7.sent", "type": "message.sent", "sequence": 458754,
            "at": "2026-11-21T09:30:00.007Z", "company_id": "019aa1b2-0000-7000-8000-000000000001",
            "channel_id": "019aa1b2-0000-7000-8000-000000000002", "data": {"recipient": "+5511988887777"}}"#;
        let read: ReceivedEvent = serde_json::from_str(written).unwrap();
        assert_eq!((read.sequence, read.at.millis() % 1_000), (458_754, 7));
        let end = written.replace("\"recipient\": \"+5511988887777\"", "\"recipients_count\": 3");
        let end: ReceivedEvent = serde_json::from_str(&end).unwrap();
        assert_eq!(end.data.recipient, None);
    }
}
