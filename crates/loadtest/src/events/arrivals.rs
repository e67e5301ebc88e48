//! What arrived at the receiver of webhooks, as the report shows it, and the verdict on it.

use serde::Serialize;

use super::expected::ExpectedEvents;
use super::tally::{EventFigures, EventTally};
use crate::latency::Summary;
use crate::verdict::{Outcome, count, millis, number};

/// What arrived at the receiver of webhooks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventArrivals {
    /// Events of the sends of this test in the service's log.
    pub expected: u64,
    /// Those among them that arrived, each counted once.
    pub arrived: u64,
    /// Those that did not.
    pub missing: u64,
    /// Events that the log does not have, at least, by the service's account of its sends.
    pub untold: u64,
    /// Events that arrived again.
    pub repeated: u64,
    /// Events that arrived after a later event of the same person in the same channel.
    pub disordered: u64,
    /// Events that arrived at the endpoint of another company.
    pub foreign: u64,
    /// Requests without a valid signature.
    pub unsigned: u64,
    /// Requests whose body could not be read.
    pub unreadable: u64,
    /// Requests whose events were counted.
    pub requests: u64,
    /// Events in a second, from the first arrival to the last.
    pub per_s: f64,
    /// The most within any one second, to a tenth of a second.
    pub most_in_a_second: u64,
    /// From when an event happened to its arrival. Events whose time the provider gave, in whole seconds, are left out.
    pub latency_ms: Summary,
    /// Whether the wait for missing events was ended early.
    pub ended_early: bool,
}

impl EventArrivals {
    pub(super) fn new(expected: &ExpectedEvents, tally: &EventTally, ended_early: bool) -> Self {
        let EventFigures { requests, events: _, repeated, disordered, foreign, unsigned, unreadable } =
            tally.figures;
        let (all, missing) = (expected.logged.len(), expected.logged.missing_in(&tally.seen));
        Self {
            expected: all,
            arrived: all - missing,
            missing,
            untold: expected.untold,
            repeated,
            disordered,
            foreign,
            unsigned,
            unreadable,
            requests,
            per_s: tally.per_second(),
            most_in_a_second: tally.most_in_a_second(),
            latency_ms: tally.latencies(),
            ended_early: ended_early && missing > 0,
        }
    }

    /// Whether every event arrived, signed and in order.
    pub(crate) fn judge(&self) -> (Outcome, String) {
        let faults = [
            (self.missing, "did not arrive"),
            (self.untold, "are not in the log of events"),
            (self.disordered, "arrived after a later event of the same person"),
            (self.foreign, "arrived at the endpoint of another company"),
        ];
        let of_events = faults.iter().filter(|(events, _)| *events > 0);
        let mut told: Vec<_> =
            of_events.map(|(events, what)| format!("{} {what}", number(*events))).collect();
        for (requests, what) in
            [(self.unsigned, "had no valid signature"), (self.unreadable, "could not be read")]
        {
            if requests > 0 {
                told.push(format!("{} {what}", count(requests, "request")));
            }
        }
        let mut answer = format!(
            "{} of {} arrived in {}, at most {} in a second",
            number(self.arrived),
            count(self.expected, "event"),
            count(self.requests, "request"),
            number(self.most_in_a_second)
        );
        if self.latency_ms.count > 0 {
            answer = format!("{answer}; p99 is {} from an event to its arrival", millis(self.latency_ms.p99));
        }
        if self.repeated > 0 {
            told.push(format!("{} arrived again, which is allowed", number(self.repeated)));
        }
        for what in &told {
            answer = format!("{answer}; {what}");
        }
        if self.ended_early {
            answer = format!("{answer}; the wait for them was ended early");
        }
        let others = self.untold + self.disordered + self.foreign + self.unsigned + self.unreadable;
        // A test that did not wait for an event does not prove that it came.
        let outcome = match (self.missing, others, self.expected) {
            (1.., ..) | (_, 1.., _) | (_, _, 0) => Outcome::Bad,
            _ if self.repeated > 0 => Outcome::Fair,
            _ => Outcome::Good,
        };
        (outcome, format!("{answer}."))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use domain::message::State;

    use super::super::set::EventName;
    use super::super::set::tests::{moved, send};
    use super::*;

    fn expected() -> ExpectedEvents {
        let mut expected = ExpectedEvents::default();
        for ordinal in 0..2 {
            expected.logged.add(moved(ordinal, State::Sent));
        }
        expected.logged.add(EventName::End { send: send() });
        expected
    }

    /// What arrived without the first `lost` events.
    fn arrived(lost: usize) -> EventTally {
        let mut tally = EventTally::new(Instant::now());
        let all = [moved(0, State::Sent), moved(1, State::Sent), EventName::End { send: send() }];
        for name in all.into_iter().skip(lost) {
            tally.seen.add(name);
            tally.figures.events += 1;
        }
        tally
    }

    #[test]
    fn a_lost_event_fails_the_verdict() {
        let whole = EventArrivals::new(&expected(), &arrived(0), false);
        assert_eq!((whole.expected, whole.arrived, whole.missing), (3, 3, 0));
        let (outcome, answer) = whole.judge();
        assert_eq!(outcome, Outcome::Good, "{answer}");
        assert!(answer.starts_with("3 of 3 events arrived"), "{answer}");

        let lacking = EventArrivals::new(&expected(), &arrived(1), false);
        assert_eq!((lacking.expected, lacking.arrived, lacking.missing), (3, 2, 1));
        let (outcome, answer) = lacking.judge();
        assert_eq!(outcome, Outcome::Bad, "{answer}");
        assert!(answer.contains("; 1 did not arrive."), "{answer}");
        // A second Ctrl-C does not wait for it.
        let (outcome, answer) = EventArrivals::new(&expected(), &arrived(1), true).judge();
        assert!(outcome == Outcome::Bad && answer.contains("was ended early"), "{answer}");
        let whole = EventArrivals::new(&expected(), &arrived(0), true);
        assert_eq!((whole.judge().0, whole.ended_early), (Outcome::Good, false));
    }

    #[test]
    fn an_event_that_the_log_lacks_a_wrong_order_and_a_wrong_signature_fail_the_verdict() {
        let good = EventArrivals::new(&expected(), &arrived(0), false);
        for (bad, words) in [
            (EventArrivals { untold: 2, ..good.clone() }, "2 are not in the log of events"),
            (EventArrivals { disordered: 1, ..good.clone() }, "1 arrived after a later event"),
            (EventArrivals { foreign: 1, ..good.clone() }, "1 arrived at the endpoint of another company"),
            (EventArrivals { unsigned: 1, ..good.clone() }, "1 request had no valid signature"),
            (EventArrivals { unreadable: 3, ended_early: true, ..good }, "3 requests could not be read"),
        ] {
            let (outcome, answer) = bad.judge();
            assert!(outcome == Outcome::Bad && answer.contains(words), "{answer}");
        }
        let nothing = EventArrivals::new(&ExpectedEvents::default(), &arrived(0), false);
        assert_eq!(nothing.judge().0, Outcome::Bad, "nothing was tested");
        let again = EventArrivals { repeated: 1, ..good };
        let (outcome, answer) = again.judge();
        assert!(outcome == Outcome::Fair && answer.contains("1 arrived again"), "{answer}");
    }
}
