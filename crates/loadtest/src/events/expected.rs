//! The events that a run must have made: those in the service's log, and by the service's account of each send, whether
//! the log has them all.

use std::collections::HashSet;

use uuid::Uuid;

use super::TestEndpoint;
use super::set::{EventName, EventSet};
use crate::client::Sent;

/// The events of the test's sends.
#[derive(Debug, Default)]
pub(super) struct ExpectedEvents {
    /// Those in the service's log.
    pub(super) logged: EventSet,
    /// Those that the log does not have, at least.
    pub(super) untold: u64,
    /// Where the reading of each endpoint's log ended.
    cursors: Vec<String>,
}

impl ExpectedEvents {
    /// None yet. The logs are read from where they were when the endpoints were added.
    pub(super) fn new(endpoints: &[TestEndpoint]) -> Self {
        let cursors = endpoints.iter().map(|endpoint| endpoint.begin.clone()).collect();
        Self { cursors, ..Self::default() }
    }

    /// Reads what the logs have got since the last reading. The account of the sends is older than that: their messages may
    /// have moved on meanwhile.
    pub(super) async fn read_on(&mut self, endpoints: &[TestEndpoint], sends: &[Sent]) -> anyhow::Result<()> {
        let wanted: HashSet<Uuid> = sends.iter().map(|send| send.id).collect();
        for (endpoint, cursor) in endpoints.iter().zip(&mut self.cursors) {
            loop {
                let part = endpoint.service.events_after(cursor).await?;
                let names = part.data.iter().filter_map(|event| EventName::parse(&event.id));
                for name in names.filter(|name| wanted.contains(&name.send())) {
                    self.logged.add(name);
                }
                *cursor = part.next_cursor;
                if !part.has_more {
                    break;
                }
            }
        }
        self.untold = sends.iter().map(|send| untold(&self.logged, send)).sum();
        Ok(())
    }
}

/// How many events of this send the log lacks, at least. A message only moves to states of higher rank, and a state that it
/// skipped has no event, so at each rank as many messages have an event as the service counted, or more.
fn untold(logged: &EventSet, send: &Sent) -> u64 {
    let lacking = send.handed_over.iter().map(|(state, _)| {
        let rank = state.rank();
        let counted = send.handed_over.iter().filter(|(state, _)| state.rank() >= rank);
        let counted: u64 = counted.map(|(_, messages)| messages).sum();
        counted.saturating_sub(logged.reached(send.id, rank))
    });
    let messages = lacking.max().unwrap_or_default();
    messages + u64::from(send.is_over && !logged.has_end(send.id))
}

#[cfg(test)]
mod tests {
    use domain::message::State;

    use super::super::set::tests::{moved, send};
    use super::*;
    use crate::client::Counts;

    #[test]
    fn a_state_that_the_service_counted_and_no_event_tells_of_is_missing() {
        let account = |delivered, read, is_over| Sent {
            id: send(),
            counts: Counts::default(),
            is_over,
            handed_over: [
                (State::Unknown, 0),
                (State::Sent, 1),
                (State::Failed, 0),
                (State::Delivered, delivered),
                (State::Read, read),
            ],
        };
        let mut logged = EventSet::default();
        for name in [
            moved(0, State::Sent),
            moved(1, State::Sent),
            moved(1, State::Delivered),
            // It was read before the receipt of its delivery came.
            moved(2, State::Sent),
            moved(2, State::Read),
        ] {
            logged.add(name);
        }
        assert_eq!(untold(&logged, &account(1, 1, false)), 0);
        // The service counted before the messages moved on.
        assert_eq!(untold(&logged, &account(2, 0, false)), 0);
        assert_eq!(untold(&logged, &account(0, 2, false)), 1, "an event of reading is missing");
        assert_eq!(untold(&logged, &account(3, 1, false)), 2, "two messages have no such event");
        assert_eq!(untold(&logged, &account(1, 1, true)), 1, "the end is missing");
        logged.add(EventName::End { send: send() });
        assert_eq!(untold(&logged, &account(1, 1, true)), 0);
    }
}
