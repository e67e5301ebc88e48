//! The outbox: outcomes that are to be written with the next record.

use uuid::Uuid;

use crate::domain::message::Outcome;

/// Outcomes in the order of their messages' answers; one for each message at most.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    outcomes: Vec<(Uuid, Uuid, Outcome)>,
    /// Messages of these that were started and count as in flight.
    started: usize,
}

impl Outbox {
    /// Adds the outcome of a message that was started. `again` says that an earlier outcome of it may still
    /// be here: this one takes its place.
    pub(super) fn push(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        self.started += 1;
        let ordinal = outcome.position.ordinal;
        let mut earlier = self
            .outcomes
            .iter_mut()
            .filter(|(id, _, before)| *id == send_id && before.position.ordinal == ordinal);
        match if again { earlier.next() } else { None } {
            Some((_, _, before)) => *before = outcome,
            None => self.outcomes.push((send_id, company_id, outcome)),
        }
    }

    /// Adds the outcome of a message that was started in an earlier life of the process.
    pub(super) fn add(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome) {
        self.outcomes.push((send_id, company_id, outcome));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Everything to be written, and how many messages in flight it settles.
    pub(super) fn take(&mut self) -> (Vec<(Uuid, Uuid, Outcome)>, usize) {
        (std::mem::take(&mut self.outcomes), std::mem::take(&mut self.started))
    }
}
