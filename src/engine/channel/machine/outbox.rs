//! The outbox: what is to be written with the next record.

use std::mem;

use uuid::Uuid;

use super::work::Ticket;
use crate::domain::message::Outcome;
use crate::store::suppression;

/// What one record writes, besides marks.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    /// With send and company, in the order of their messages' answers; one for each message at most.
    pub(super) outcomes: Vec<(Uuid, Uuid, Outcome)>,
    /// How many messages of these were started and count as in flight.
    pub(super) started: usize,
    /// Messages that may be tried again once this is durable.
    pub(super) announced: Vec<Ticket>,
    pub(super) suppressions: Vec<suppression::Word>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Outbox(Parcel);

impl Outbox {
    /// Adds the outcome of a message that was started. `again` says that an earlier outcome of it may still
    /// be here: this one takes its place.
    pub(super) fn push(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        self.0.started += 1;
        self.put(send_id, company_id, outcome, again);
    }

    /// Adds the outcome of a message that was not started now.
    pub(super) fn add(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome) {
        self.put(send_id, company_id, outcome, true);
    }

    /// Adds the first row of a message that was passed over.
    pub(super) fn pass(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome) {
        self.put(send_id, company_id, outcome, false);
    }

    /// Adds that a message is tried again, which may happen once that is durable.
    pub(super) fn announce(&mut self, ticket: Ticket, company_id: Uuid, outcome: Outcome) {
        self.put(ticket.send_id, company_id, outcome, true);
        self.0.announced.push(ticket);
    }

    /// A recipient is left out, or let be, from now on.
    pub(super) fn suppress(&mut self, word: suppression::Word) {
        self.0.suppressions.push(word);
    }

    /// How many messages are announced and not durable yet.
    pub(super) fn announced(&self) -> usize {
        self.0.announced.len()
    }

    /// Which messages these are.
    pub(super) fn announcements(&self) -> &[Ticket] {
        &self.0.announced
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.outcomes.is_empty() && self.0.suppressions.is_empty()
    }

    /// Everything to be written.
    pub(super) fn take(&mut self) -> Parcel {
        mem::take(&mut self.0)
    }

    fn put(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        let ordinal = outcome.position.ordinal;
        let outcomes = &mut self.0.outcomes;
        let mut earlier = outcomes
            .iter_mut()
            .filter(|(id, _, before)| *id == send_id && before.position.ordinal == ordinal);
        match if again { earlier.next() } else { None } {
            Some((_, _, before)) => *before = outcome,
            None => outcomes.push((send_id, company_id, outcome)),
        }
    }
}
