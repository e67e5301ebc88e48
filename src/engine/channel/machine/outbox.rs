//! The outbox: what is to be written with the next record, and the record that is being written.

use std::mem;
use std::time::Instant;

use uuid::Uuid;

use super::work::Ticket;
use crate::domain::message::Outcome;
use crate::domain::send::Mark;
use crate::engine::ledger::Record;
use crate::store::suppression;

/// What one record writes, besides marks.
#[derive(Debug, Default)]
struct Parcel {
    /// With send and company, in the order of their messages' answers; one for each message at most.
    outcomes: Vec<(Uuid, Uuid, Outcome)>,
    /// How many messages of these were started and count as in flight.
    started: usize,
    /// Messages that may be tried again once this is durable.
    announced: Vec<Ticket>,
    suppressions: Vec<suppression::Word>,
}

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
    parcel: Parcel,
    writing: Option<Writing>,
}

impl Outbox {
    /// Adds the outcome of a message that was started. `again` says that an earlier outcome of it may still
    /// be here: this one takes its place.
    pub(super) fn push(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        self.parcel.started += 1;
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
        self.parcel.announced.push(ticket);
    }

    /// A recipient is left out, or let be, from now on.
    pub(super) fn suppress(&mut self, word: suppression::Word) {
        self.parcel.suppressions.push(word);
    }

    /// How many messages are announced and not on their way to the store yet.
    pub(super) const fn announced(&self) -> usize {
        self.parcel.announced.len()
    }

    /// The messages that are announced, and those that the record under way announces.
    pub(super) fn announcements(&self) -> impl Iterator<Item = &Ticket> {
        let under_way = self.writing.iter().flat_map(|writing| &writing.announced);
        self.parcel.announced.iter().chain(under_way)
    }

    /// Whether there is nothing to write besides marks.
    pub(super) const fn is_empty(&self) -> bool {
        self.parcel.outcomes.is_empty() && self.parcel.suppressions.is_empty()
    }

    /// Whether a record is being written.
    pub(super) const fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Everything is written now, with these marks.
    pub(super) fn write(&mut self, marks: Vec<Mark>, now: Instant) -> Record {
        let Parcel { outcomes, started, announced, suppressions } = mem::take(&mut self.parcel);
        let said = suppressions.clone();
        self.writing = Some(Writing { marks: marks.clone(), started, announced, said, begun: now });
        Record { outcomes, marks, suppressions }
    }

    /// The record that was under way is durable.
    pub(super) const fn written(&mut self) -> Option<Writing> {
        self.writing.take()
    }

    fn put(&mut self, send_id: Uuid, company_id: Uuid, outcome: Outcome, again: bool) {
        let ordinal = outcome.position.ordinal;
        let outcomes = &mut self.parcel.outcomes;
        let mut earlier = outcomes
            .iter_mut()
            .filter(|(id, _, before)| *id == send_id && before.position.ordinal == ordinal);
        match if again { earlier.next() } else { None } {
            Some((_, _, before)) => *before = outcome,
            None => outcomes.push((send_id, company_id, outcome)),
        }
    }
}
