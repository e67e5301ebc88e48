//! The machine of the ledger: the only place that decides what is written when, and whom the ledger tells of it.
//!
//! It holds the open batch. Requests that arrive during a commit join the next one. A batch without waiting callers
//! gathers for a few milliseconds first: each commit costs the same few statements, however much it writes. A caller is
//! answered when its part is durable. Outcomes are never given up: while the database is unavailable they wait here,
//! and are written first when it is back. A send that could not be written is answered with an error at once; if its
//! commit may have happened, as soon as that is [known](in_doubt). A row that the database refuses permanently is [set
//! aside](apart), and the others are written.

mod apart;
mod effect;
mod in_doubt;
mod input;
mod intake;
mod open;

#[cfg(test)]
mod tests;

use std::mem;
use std::time::{Duration, Instant};

use self::apart::{Apart, Left};
pub(crate) use self::effect::{Answer, Commit, Effect, Effects, Figure};
use self::in_doubt::{InDoubt, InDoubtSend};
pub(crate) use self::input::{Cause, Failure, Input};
use self::open::{Open, Waiting};
use super::message::{Condition, Error};
use crate::machine::{Caller, Moment};
use crate::planted::{Fault, is_planted};
use store::ledger::{Committed, PendingWrites};

/// The first and the longest wait before a failed commit is retried.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// The time between the starts of two commits without waiting callers. Channels meanwhile use their marks, which last
/// longer.
const BETWEEN: Duration = Duration::from_millis(5);

pub(crate) struct Machine {
    /// The most sends that may wait at once.
    capacity: usize,
    open: Open,
    /// What people wrote, with the receipts beside it. It costs more than other rows, and is committed in turns with them: who
    /// waits for a send does not wait for all of it.
    heard: Open,
    /// Whether the last commit was of those.
    heard_last: bool,
    writing: Writing,
    /// When the last commit began.
    committed_at: Option<Instant>,
    in_doubt: InDoubt,
    condition: Condition,
    /// Commits in a row that failed.
    failures: u32,
    /// The callers that wait for the end.
    closing: Vec<Caller>,
    is_over: bool,
    /// The last requested time to wake the machine.
    wakes_at: Option<Instant>,
}

/// The progress of the next commit.
#[derive(Default)]
enum Writing {
    #[default]
    Nothing,
    /// No caller waits for the batch: the next commit begins then, or when a caller waits.
    Waiting(Instant),
    /// Requests that are just arriving may join.
    Gathering,
    /// A batch is being committed.
    Whole { waiting: Waiting, outcomes: usize, since: Instant },
    /// A batch with a refused row is being committed in parts.
    Apart { waiting: Waiting, apart: Apart },
    /// The last commit failed, and the next one begins then.
    Resting(Instant),
}

/// The wait after this many failures in a row.
fn backing_off(failures: u32) -> Duration {
    let (first, longest) = RETRY;
    first.saturating_mul(1 << failures.min(10)).min(longest)
}

impl Machine {
    /// An empty ledger; `capacity` is the most sends that may wait at once.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            open: Open::default(),
            heard: Open::default(),
            heard_last: false,
            writing: Writing::default(),
            committed_at: None,
            in_doubt: InDoubt::default(),
            condition: Condition::Writing,
            failures: 0,
            closing: Vec::new(),
            is_over: false,
            wakes_at: None,
        }
    }

    /// The rows of the open batches.
    pub(crate) const fn open_rows(&self) -> usize {
        self.open.batch.rows() + self.heard.batch.rows()
    }

    /// Handles one input, and adds its effects to `effects`.
    pub(crate) fn handle(&mut self, input: Input, at: Moment, effects: &mut Effects) {
        match input {
            Input::Accept { id, accept, caller } => self.accept(id, accept, caller, effects),
            Input::Extend { extend, caller } => self.extend(extend, caller, effects),
            Input::Activate { activate, caller } => self.activate(activate, caller, effects),
            Input::Withdraw(send_id) => self.withdraw(send_id, effects),
            Input::Record { writes, is_awaited, caller } => self.record(*writes, is_awaited, caller, effects),
            Input::Hear { hear, caller } => self.hear(hear, caller, effects),
            Input::Close(caller) => self.closing.push(caller),
            Input::Gathered => self.gathered(at, effects),
            Input::Written { batch, result } => self.written(*batch, result, at, effects),
            Input::Settled { sends, result: Ok(accepted) } => {
                self.in_doubt.settled(&sends, &accepted, effects);
            }
            Input::Settled { sends: _, result: Err(failure) } => self.in_doubt.not_settled(&failure, at),
            Input::Timer => self.woken(at),
        }
        self.in_doubt.settle(effects);
        self.go_on(at, effects);
        self.set_timer(effects);
    }

    /// Begins the next commit, unless one is under way; ends the machine when nothing is left and a caller waits for
    /// that.
    fn go_on(&mut self, at: Moment, effects: &mut Effects) {
        if !matches!(self.writing, Writing::Nothing | Writing::Waiting(_)) {
            return;
        }
        if self.open.batch.is_empty() {
            // These requests write nothing.
            mem::take(&mut self.open.waiting).answer(Committed::default(), effects);
        }
        let (is_empty, is_urgent) = (self.open_rows() == 0, self.open.is_urgent() || self.heard.is_urgent());
        // A service that cannot write gets no requests, so an empty batch finds out when it can again.
        let tries_again = self.condition == Condition::Failing && self.closing.is_empty();
        if !is_empty || tries_again {
            let next = self.committed_at.map(|begun| begun + BETWEEN).filter(|next| *next > at.monotonic);
            self.writing = match next {
                Some(next) if !is_urgent && self.closing.is_empty() => Writing::Waiting(next),
                _ => {
                    effects.push(Effect::Gather);
                    Writing::Gathering
                }
            };
            return;
        }
        if !self.closing.is_empty() && self.in_doubt.is_empty() {
            for caller in mem::take(&mut self.closing) {
                effects.push(Effect::Reply(caller, Ok(Answer::Done)));
            }
            if !mem::replace(&mut self.is_over, true) {
                effects.push(Effect::End);
            }
        }
    }

    fn gathered(&mut self, at: Moment, effects: &mut Effects) {
        if !matches!(self.writing, Writing::Gathering) {
            return;
        }
        let is_of_people = !self.heard.batch.is_empty() && (self.open.batch.is_empty() || !self.heard_last);
        self.heard_last = is_of_people;
        let next = if is_of_people { &mut self.heard } else { &mut self.open };
        let Open { batch, waiting, is_awaited: _ } = mem::take(next);
        self.committed_at = Some(at.monotonic);
        waiting.answer_too_early(effects);
        self.writing = Writing::Whole { waiting, outcomes: batch.outcomes.len(), since: at.monotonic };
        // Connections that broke together are found one after the other: after the first failure, batches use
        // transactions, so that no further one is left in doubt.
        let in_one_statement = self.failures == 0;
        effects.push(Effect::Commit(Commit { batch: Box::new(batch), in_one_statement }));
    }

    /// The commit under way is over.
    fn written(
        &mut self,
        batch: PendingWrites,
        result: Result<Committed, Failure>,
        at: Moment,
        effects: &mut Effects,
    ) {
        match mem::take(&mut self.writing) {
            Writing::Whole { waiting, outcomes, since } => {
                effects.push(Effect::Note(Figure::Took(at.monotonic.saturating_duration_since(since))));
                match result {
                    Ok(found) => self.committed(waiting, outcomes, found, effects),
                    Err(failure) if failure.is_about_a_row() && is_planted(Fault::RefusedRowFailsAll) => {
                        waiting.turn_away(Error::Refused, effects);
                    }
                    Err(failure) if failure.is_about_a_row() => {
                        effects.push(Effect::Note(Figure::Failed));
                        self.write_apart(waiting, Apart::new(batch), effects);
                    }
                    Err(failure) => {
                        self.failed(Open { batch, waiting, is_awaited: true }, &failure, at, effects);
                    }
                }
            }
            Writing::Apart { waiting, mut apart } => match apart.written(&batch, result, effects) {
                None => self.write_apart(waiting, apart, effects),
                Some(left) => self.broken_off(waiting, apart, left, at, effects),
            },
            // No commit was under way.
            other => self.writing = other,
        }
    }

    /// Writes the next part of a batch, and answers once there is none.
    fn write_apart(&mut self, mut waiting: Waiting, apart: Apart, effects: &mut Effects) {
        let Some(part) = apart.next() else {
            waiting.refuse(&apart.refused, effects);
            return self.committed(waiting, apart.outcomes, apart.found, effects);
        };
        self.writing = Writing::Apart { waiting, apart };
        effects.push(Effect::Commit(Commit { batch: Box::new(part), in_one_statement: false }));
    }

    /// The database became unavailable while a part of a batch was written.
    fn broken_off(
        &mut self,
        mut waiting: Waiting,
        apart: Apart,
        left: Left,
        at: Moment,
        effects: &mut Effects,
    ) {
        let Left { batch, failure } = left;
        waiting.refuse(&apart.refused, effects);
        let mut rest = waiting.split_off(&batch);
        let (outcomes, mut found) = (apart.outcomes, apart.found);
        if !rest.records.is_empty() {
            // The channel that recorded them waits for the rest of its record.
            rest.found.gone.append(&mut found.gone);
            rest.found.overtaken.append(&mut found.overtaken);
        }
        note_rows(&waiting, outcomes, effects);
        waiting.answer(found, effects);
        self.failed(Open { batch, waiting: rest, is_awaited: true }, &failure, at, effects);
    }

    /// A batch with this many outcomes is written.
    fn committed(&mut self, waiting: Waiting, outcomes: usize, found: Committed, effects: &mut Effects) {
        if self.failures > 0 {
            tracing::info!(attempts = self.failures, "the database writes again");
            self.failures = 0;
        }
        self.show(Condition::Writing, effects);
        note_rows(&waiting, outcomes, effects);
        waiting.answer(found, effects);
    }

    /// A batch is not written, or is in doubt.
    fn failed(&mut self, failed: Open, failure: &Failure, at: Moment, effects: &mut Effects) {
        effects.push(Effect::Note(Figure::Failed));
        if self.failures == 0 || !failure.is_passing() {
            tracing::error!(error = %failure, "the ledger cannot be written");
        }
        self.failures += 1;
        let Open { batch, waiting, is_awaited: _ } = failed;
        let Waiting { accepts, extensions, activations, records, hearings, found } = waiting;
        let mut told = Waiting { extensions, hearings, ..Waiting::default() };
        if failure.cause == Cause::InDoubt && !is_planted(Fault::DoubtNotSettled) {
            for accepting in accepts {
                self.in_doubt.add(accepting.send.id, InDoubtSend::Accept(accepting), effects);
            }
            for activating in activations {
                self.in_doubt.add(activating.send.id, InDoubtSend::Activate(activating), effects);
            }
        } else {
            (told.accepts, told.activations) = (accepts, activations);
        }
        // The resolver withdraws its send, which does not count without its activation. The provider repeats its
        // webhooks. Suppressions are written in any case.
        let error = if failure.is_passing() { Error::Unavailable } else { Error::Closed };
        told.turn_away(error, effects);
        if failure.cause == Cause::Fenced {
            self.show(Condition::Fenced, effects);
            // Callers of records that can no longer be written are told that the ledger is closed.
            Waiting { records, ..Waiting::default() }.turn_away(Error::Closed, effects);
            for open in [mem::take(&mut self.open), mem::take(&mut self.heard)] {
                open.waiting.turn_away(Error::Closed, effects);
            }
            return;
        }
        self.show(Condition::Failing, effects);
        self.open.put_first(batch, records, found);
        self.writing = Writing::Resting(at.monotonic + backing_off(self.failures));
    }

    fn show(&mut self, condition: Condition, effects: &mut Effects) {
        if mem::replace(&mut self.condition, condition) != condition {
            effects.push(Effect::Show(condition));
        }
    }

    fn woken(&mut self, at: Moment) {
        self.wakes_at = None;
        if self.rests_until().is_some_and(|until| until <= at.monotonic) {
            self.writing = Writing::Nothing;
        }
        self.in_doubt.woken(at);
    }

    const fn rests_until(&self) -> Option<Instant> {
        match self.writing {
            Writing::Resting(until) | Writing::Waiting(until) => Some(until),
            Writing::Nothing | Writing::Gathering | Writing::Whole { .. } | Writing::Apart { .. } => None,
        }
    }

    /// The only place that computes when the machine has to be woken.
    fn set_timer(&mut self, effects: &mut Effects) {
        let moments = [self.rests_until(), self.in_doubt.rests_until()];
        let next = moments.into_iter().flatten().min();
        if self.wakes_at != next {
            self.wakes_at = next;
            if let Some(next) = next
                && !(is_planted(Fault::LedgerTimerForgotten) && self.failures > 0)
            {
                effects.push(Effect::WakeAt(next));
            }
        }
    }
}

/// Counts the rows written for the waiting callers.
fn note_rows(waiting: &Waiting, outcomes: usize, effects: &mut Effects) {
    effects.push(Effect::Note(Figure::Rows((waiting.accepts.len() + outcomes) as u64)));
}
