//! The database to which the ledger commits: its writes and its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use uuid::Uuid;

use super::answers::REFUSED_CONTENT;
use super::ledger::LedgerEvent;
use super::model::Model;
use super::world::{Event, World};
use crate::ledger::machine::{Commit, Failure, Input};
use crate::planted::{Fault, is_planted};
use store::Error;
use store::ledger::{Committed, OutcomeOf, PendingWrites};

/// Is in texts that the database refuses permanently, as PostgreSQL refuses this character.
pub(super) const REFUSED_CHARACTER: char = '\0';

/// The fate of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fare {
    Done,
    /// Nothing is written, and the answer says so.
    Fails,
    /// The result is unknown: the batch is written, or not.
    InDoubt {
        is_written: bool,
    },
    /// The result is unknown: only the first of several statements is written.
    InPart,
    /// The result is unknown: the batch is written later.
    Late,
}

/// A write request to the database.
struct Write {
    epoch: u64,
    batch: Box<PendingWrites>,
    fare: Fare,
    result: Option<Result<Committed, Error>>,
    /// The rows when the batch was handed over, for a planted fault.
    seen: Option<Box<Model>>,
    /// Nobody waits for its answer.
    is_left: bool,
}

#[derive(Default)]
pub(super) struct Database {
    writes: BTreeMap<u64, Write>,
    asked: u64,
    /// A late write holds its rows until then.
    pub(super) held_until: Duration,
}

impl World {
    /// The ledger commits.
    pub(super) fn begin_commit(&mut self, commit: Commit) {
        let Commit { batch, in_one_statement } = commit;
        let trouble = self.plan.trouble;
        let fare = if self.is_cut_off() {
            // No request reaches the database.
            Fare::InDoubt { is_written: false }
        } else if self.goes_wrong(trouble.commit_fails) {
            Fare::Fails
        } else if self.goes_wrong(trouble.commit_in_doubt) {
            match self.dice.below(3) {
                // Decided without the dice, so that the story of a world stays the same.
                0 if in_one_statement && is_in_pieces(&batch) && self.figures.steps.is_multiple_of(2) => {
                    Fare::InPart
                }
                0 => Fare::InDoubt { is_written: true },
                1 => Fare::InDoubt { is_written: false },
                _ => Fare::Late,
            }
        } else {
            Fare::Done
        };
        let now = self.clock.elapsed();
        let mut applies = Duration::from_micros(self.dice.between(200, 6_000));
        if self.goes_wrong(trouble.commit_hangs) {
            applies += self.dice.time(Duration::from_millis(100), Duration::from_secs(15));
        }
        // The write waits for rows that another transaction holds.
        applies += self.database.held_until.saturating_sub(now);
        let reports = applies + Duration::from_micros(self.dice.between(50, 2_000));
        if fare == Fare::Late {
            applies = reports + self.dice.time(Duration::from_millis(1), Duration::from_secs(5));
            // A single statement may still be on its way, and hold no rows.
            if !in_one_statement || !is_sends_only(&batch) {
                self.database.held_until = now + applies;
            }
        }
        let Some(process) = &mut self.process else { return };
        self.database.asked += 1;
        let number = self.database.asked;
        process.ledger.commit = Some(number);
        let seen = is_planted(Fault::EventOfEarlierRow).then(|| Box::new(self.model.clone()));
        let write = Write { epoch: process.epoch, batch, fare, result: None, seen, is_left: false };
        self.database.writes.insert(number, write);
        self.after(applies, Event::CommitApplies { number });
        self.later_for_ledger(reports, LedgerEvent::CommitReports);
    }

    /// The database carries out the write, or does not.
    pub(super) fn commit_applies(&mut self, number: u64) {
        let wall = self.clock.wall();
        let Some(write) = self.database.writes.get_mut(&number) else { return };
        if !matches!(write.fare, Fare::Fails | Fare::InDoubt { is_written: false }) {
            let piece = (write.fare == Fare::InPart).then(|| first_piece(&write.batch));
            let batch = piece.as_ref().unwrap_or(&write.batch);
            let result = match write.seen.take() {
                _ if is_refused(batch) => Err(Error::Refused("the database takes no such row".to_owned())),
                Some(seen) => self.model.commit_with_events_of(*seen, write.epoch, batch, wall),
                None => self.model.commit(write.epoch, batch, wall),
            };
            if result.is_ok() {
                let other = self.nodes.as_ref().and_then(|nodes| {
                    nodes.written_by_another(&self.model, &self.channels, write.epoch, batch)
                });
                if let Some(what) = other {
                    self.watch.break_("two nodes never both write what happens to a channel", what);
                }
                if let Some(nodes) = &mut self.nodes {
                    nodes.note_resolvers(write.epoch, batch);
                }
                self.watch.committed(&self.model, batch);
                if self.process.is_none() {
                    self.watch.committed_after_crash(batch);
                }
            }
            write.result = Some(result);
        }
        if write.is_left {
            self.database.writes.remove(&number);
        }
    }

    /// The ledger hears how its commit ended.
    pub(super) fn commit_reports(&mut self) {
        let Some(process) = &mut self.process else { return };
        let number = process.ledger.commit.take();
        let write = number.and_then(|number| Some((number, self.database.writes.remove(&number)?)));
        let Some((number, write)) = write else { return };
        let Write { epoch, batch, fare, result, seen, is_left: _ } = write;
        let result = match (fare, result) {
            (Fare::Done, Some(result)) => result,
            (Fare::Fails, _) => Err(Error::Unavailable("it is away".to_owned())),
            (Fare::InDoubt { .. } | Fare::InPart | Fare::Late, _) | (Fare::Done, None) => {
                Err(Error::InDoubt("the database did not answer in time".to_owned()))
            }
        };
        if fare == Fare::Late {
            let left = Write { epoch, batch: batch.clone(), fare, result: None, seen, is_left: true };
            self.database.writes.insert(number, left);
        }
        match &result {
            Ok(_) => self.watch.marked(&self.model, &batch.marks, self.clock.elapsed()),
            Err(Error::Taken(_) | Error::Impossible(_) | Error::Defect(_)) => {
                self.watch.break_("the ledger writes only what the store can take", format!("{result:?}"));
            }
            Err(_) => {}
        }
        self.tell_ledger(Input::Written { batch, result: result.map_err(Failure::from) });
    }

    /// The ledger asks which sends are written.
    pub(super) fn begin_settling(&mut self, sends: Vec<Uuid>) {
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_secs(2));
        self.later_for_ledger(wait, LedgerEvent::Settles(sends));
    }

    /// Settles sends whose commit is in doubt: each is written by now, or never will be.
    pub(super) fn settle(&mut self, sends: Vec<Uuid>) {
        let held = self.database.held_until.saturating_sub(self.clock.elapsed());
        if !held.is_zero() {
            // The database answers once the rows are free.
            let wait = held + Duration::from_millis(1);
            return self.later_for_ledger(wait, LedgerEvent::Settles(sends));
        }
        let result = if self.store_fails() {
            Err(Failure::from(Error::Unavailable("the database did not answer in time".to_owned())))
        } else {
            self.figures.settled += sends.len() as u64;
            Ok(self.model.settle(&sends, self.clock.wall()))
        };
        self.tell_ledger(Input::Settled { sends, result });
    }

    /// The process that asked is gone: the database carries the write out all the same, or rolls it back.
    pub(super) fn leave_commit(&mut self, commit: Option<u64>) {
        let Some(number) = commit else { return };
        let is_rolled_back = self.dice.happens(500);
        let Some(write) = self.database.writes.get_mut(&number) else { return };
        write.is_left = true;
        if is_rolled_back || write.result.is_some() {
            self.database.writes.remove(&number);
        }
    }
}

/// Whether a batch holds a row that the database refuses permanently.
fn is_refused(batch: &PendingWrites) -> bool {
    let words = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(REFUSED_CHARACTER));
    let sentence = |failure: &Option<domain::message::Failure>| {
        failure.as_ref().is_some_and(|failure| failure.sentence.contains(REFUSED_CHARACTER))
    };
    batch.sends.iter().any(|send| send.content.contains(REFUSED_CONTENT))
        || batch
            .outcomes
            .iter()
            .any(|row| words(&row.outcome.provider_message_id) || sentence(&row.outcome.error))
        || batch
            .receipts
            .iter()
            .any(|receipt| words(&receipt.provider_message_id) || sentence(&receipt.error))
}

/// Whether PostgreSQL writes the batch in several statements without a transaction around them.
const fn is_in_pieces(batch: &PendingWrites) -> bool {
    let is_simple = batch.rows() == batch.sends.len() + batch.outcomes.len() + batch.marks.len();
    is_simple && !batch.outcomes.is_empty() && batch.rows() > 1
}

/// The part of a batch that is written first: the outcomes and marks before the sends; without sends, the outcomes of
/// some messages.
fn first_piece(batch: &PendingWrites) -> PendingWrites {
    let (mut outcomes, mut marks) = (batch.outcomes.clone(), batch.marks.clone());
    if batch.sends.is_empty() {
        let messages: BTreeSet<_> = outcomes.iter().map(place).collect();
        let some: BTreeSet<_> = messages.iter().take(messages.len().div_ceil(2)).collect();
        outcomes.retain(|row| some.contains(&place(row)));
        marks.clear();
    }
    PendingWrites { outcomes, marks, ..PendingWrites::default() }
}

const fn place(row: &OutcomeOf) -> (Uuid, u64) {
    (row.send_id, row.outcome.position.ordinal)
}

/// Whether nothing but new sends is written.
const fn is_sends_only(batch: &PendingWrites) -> bool {
    batch.blocks.is_empty()
        && batch.personal.is_empty()
        && batch.values.is_empty()
        && batch.references.is_empty()
        && batch.skipped.is_empty()
        && batch.activations.is_empty()
        && batch.outcomes.is_empty()
        && batch.marks.is_empty()
        && batch.receipts.is_empty()
        && batch.suppressions.is_empty()
        && batch.inbound.is_empty()
}
