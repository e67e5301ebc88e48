//! The outbox: what is to be written with the next record, and the record that is being written.

use std::mem;
use std::time::Instant;

use uuid::Uuid;

use super::work::Ticket;
use crate::domain::message::Outcome;
use crate::domain::send::Mark;
use crate::store::ledger::{OutcomeOf, PendingWrites};
use crate::store::suppression;

/// A record that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) marks: Vec<Mark>,
    /// How many messages are no longer in flight once it is durable.
    pub(super) started: usize,
    /// Messages that may be tried again then.
    pub(super) announced: Vec<Ticket>,
    pub(super) said: Vec<suppression::Word>,
    pub(super) begun: Instant,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Everything but marks. The outcomes are in the order of their messages' answers, one for each message at most.
    writes: PendingWrites,
    /// How many messages of these were started and count as in flight.
    started: usize,
    /// Messages that may be tried again once this is durable.
    announced: Vec<Ticket>,
    writing: Option<Writing>,
}

impl Outbox {
    /// Adds the outcome of a message that was started. `again` says that an earlier outcome of it may still
    /// be here: this one takes its place.
    pub(super) fn push(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        self.started += 1;
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
        self.announced.push(ticket);
    }

    /// A recipient is left out, or let be, from now on.
    pub(super) fn suppress(&mut self, word: suppression::Word) {
        self.writes.suppressions.push(word);
    }

    /// How many messages are announced and not on their way to the store yet.
    pub(super) const fn announced(&self) -> usize {
        self.announced.len()
    }

    /// The messages that are announced, and those that the record under way announces.
    pub(super) fn announcements(&self) -> impl Iterator<Item = &Ticket> {
        let under_way = self.writing.iter().flat_map(|writing| &writing.announced);
        self.announced.iter().chain(under_way)
    }

    /// Whether there is nothing to write besides marks.
    pub(super) const fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Whether a record is being written.
    pub(super) const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Everything is written now, with these marks.
    pub(super) fn write(&mut self, marks: Vec<Mark>, now: Instant) -> PendingWrites {
        let writes = PendingWrites { marks, ..mem::take(&mut self.writes) };
        let (marks, said) = (writes.marks.clone(), writes.suppressions.clone());
        let (started, announced) = (mem::take(&mut self.started), mem::take(&mut self.announced));
        self.writing = Some(Writing { marks, started, announced, said, begun: now });
        writes
    }

    /// The record that was under way is durable.
    pub(super) const fn written(&mut self) -> Option<Writing> {
        self.writing.take()
    }

    fn put(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        let ordinal = outcome.position.ordinal;
        let outcomes = &mut self.writes.outcomes;
        let mut earlier = outcomes
            .iter_mut()
            .filter(|row| row.send_id == send_id && row.outcome.position.ordinal == ordinal);
        match if again { earlier.next() } else { None } {
            Some(before) => before.outcome = outcome,
            None => outcomes.push(OutcomeOf { send_id, company_id, outcome }),
        }
    }
}
