//! The outbox: the next record to write, and the record that is being written.

use std::mem;
use std::time::Instant;

use uuid::Uuid;

use super::work::Ticket;
use domain::message::Outcome;
use domain::send::Mark;
use store::ledger::{OutcomeOf, PendingWrites};
use store::suppressions;

/// A record that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    pub(super) marks: Vec<Mark>,
    /// The number of messages that are no longer in flight once the record is durable.
    pub(super) started: usize,
    /// Messages that may be retried then.
    pub(super) announced: Vec<Ticket>,
    pub(super) said: Vec<suppressions::Word>,
    pub(super) begun: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The next record without its marks. Outcomes are in the order of the answers, at most one for each message.
    /// Boxed, like the record under way, to keep the many idle channels small.
    writes: Option<Box<PendingWrites>>,
    /// How many of these messages were started and count as in flight.
    started: usize,
    /// Messages that may be retried once this record is durable.
    announced: Vec<Ticket>,
    writing: Option<Box<Writing>>,
}

impl Outbox {
    /// Adds the outcome of a message that was started. `again` says that an earlier outcome of it may still be here,
    /// which this one replaces.
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

    /// Announces the retry of a message, which may happen once the record is durable.
    pub(super) fn announce(&mut self, ticket: Ticket, company_id: Uuid, outcome: Outcome) {
        self.put(ticket.send_id, company_id, outcome, true);
        self.announced.push(ticket);
    }

    /// From now on, messages to a recipient are skipped or held.
    pub(super) fn suppress(&mut self, word: suppressions::Word) {
        self.writes().suppressions.push(word);
    }

    /// The announced messages whose record is not being written yet.
    pub(super) fn announced(&self) -> impl Iterator<Item = &Ticket> {
        self.announced.iter()
    }

    /// The announced messages, those of the record under way included.
    pub(super) fn announcements(&self) -> impl Iterator<Item = &Ticket> {
        let under_way = self.writing.iter().flat_map(|writing| &writing.announced);
        self.announced.iter().chain(under_way)
    }

    /// Whether there is nothing to write besides marks.
    pub(super) fn is_empty(&self) -> bool {
        self.writes.as_ref().is_none_or(|writes| writes.is_empty())
    }

    /// Whether something waits for this record: a retry, or a recipient's opt-out.
    pub(super) fn is_awaited(&self) -> bool {
        let is_said = self.writes.as_ref().is_some_and(|writes| !writes.suppressions.is_empty());
        is_said || !self.announced.is_empty()
    }

    /// Whether a record is being written.
    pub(super) const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Takes the record to write it, with these marks.
    pub(super) fn write(&mut self, marks: Vec<Mark>, now: Instant) -> Box<PendingWrites> {
        let mut writes = self.writes.take().unwrap_or_default();
        writes.marks.clone_from(&marks);
        let said = writes.suppressions.clone();
        let (started, announced) = (mem::take(&mut self.started), mem::take(&mut self.announced));
        self.writing = Some(Box::new(Writing { marks, started, announced, said, begun: now }));
        writes
    }

    /// The record that was under way is durable.
    pub(super) fn written(&mut self) -> Option<Writing> {
        self.writing.take().map(|writing| *writing)
    }

    fn writes(&mut self) -> &mut PendingWrites {
        self.writes.get_or_insert_default()
    }

    fn put(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        let ordinal = outcome.position.ordinal;
        let outcomes = &mut self.writes().outcomes;
        let mut earlier = outcomes
            .iter_mut()
            .filter(|row| row.send_id == send_id && row.outcome.position.ordinal == ordinal);
        match if again { earlier.next() } else { None } {
            Some(before) => before.outcome = outcome,
            None => outcomes.push(OutcomeOf { send_id, company_id, outcome }),
        }
    }
}
