//! A batch and its waiting callers, before and during its commit.

use std::collections::{HashMap, HashSet};
use std::mem;

use uuid::Uuid;

use super::super::message::{AcceptedSend, Arrived, Error, Written};
use super::effect::{Answer, Effect, Effects, Figure};
use crate::machine::Caller;
use crate::planted::{Fault, is_planted};
use store::ledger::{Committed, Ignored, PendingWrites};

/// The rows to write, and their waiting callers.
#[derive(Default)]
pub(super) struct Open {
    pub(super) batch: PendingWrites,
    pub(super) waiting: Waiting,
    /// Whether a message waits for one of these records, a provider for the answer to its receipts, or a large webhook
    /// to write its next opt-outs.
    pub(super) is_awaited: bool,
}

/// The callers that wait for a commit.
#[derive(Default)]
pub(super) struct Waiting {
    /// In the order of the batch's sends.
    pub(super) accepts: Vec<Accepting>,
    pub(super) extensions: Vec<Extending>,
    pub(super) activations: Vec<Activating>,
    pub(super) records: Vec<Caller>,
    pub(super) hearings: Vec<Caller>,
    /// The result of an earlier commit that wrote a part of the records.
    pub(super) found: Written,
}

pub(super) struct Accepting {
    pub(super) send: AcceptedSend,
    /// Whether the send is complete once it is written, so that its channel is told. Otherwise more blocks follow.
    pub(super) counts: bool,
    pub(super) caller: Caller,
}

pub(super) struct Extending {
    pub(super) send_id: Uuid,
    pub(super) caller: Caller,
}

pub(super) struct Activating {
    pub(super) send: AcceptedSend,
    /// The send that becomes active together with it.
    pub(super) instead: Option<AcceptedSend>,
    pub(super) caller: Caller,
}

impl Open {
    /// Whether a caller waits for the next commit: rows without such a caller may wait for a later one.
    pub(super) const fn is_urgent(&self) -> bool {
        let Waiting { accepts, extensions, activations, hearings: _, records: _, found: _ } = &self.waiting;
        !accepts.is_empty() || !extensions.is_empty() || !activations.is_empty() || self.is_awaited
    }

    /// Puts the rows of a failed batch that must be written at the front of the next one.
    pub(super) fn put_first(&mut self, mut failed: PendingWrites, mut records: Vec<Caller>, found: Written) {
        if is_planted(Fault::BatchDropped) {
            return;
        }
        if is_planted(Fault::OutcomeDropped) {
            failed.outcomes.clear();
        }
        prepend(&mut self.batch.outcomes, &mut failed.outcomes);
        prepend(&mut self.batch.marks, &mut failed.marks);
        prepend(&mut self.batch.suppressions, &mut failed.suppressions);
        prepend(&mut self.waiting.records, &mut records);
        self.waiting.found.add(found);
    }
}

/// Puts `earlier` before the present `rows`.
fn prepend<T>(rows: &mut Vec<T>, earlier: &mut Vec<T>) {
    earlier.append(rows);
    mem::swap(rows, earlier);
}

impl Waiting {
    /// Everything is written: tells each channel of its sends, and answers each caller.
    pub(super) fn answer(self, found: Committed, effects: &mut Effects) {
        let Self { accepts, extensions, activations, records, hearings, found: mut written } = self;
        written.add(note_ignored(found, effects));
        // The channel is told before the client is answered, so that it knows the send when the client's next request
        // comes.
        let (mut accepted, mut arrived) = (Vec::with_capacity(accepts.len()), ByChannel::default());
        for Accepting { send, counts, caller } in accepts {
            accepted.push((caller, send.id));
            if counts {
                arrived.add(send);
            }
        }
        for (channel_id, sends) in arrived.sends {
            effects.push(Effect::Tell { channel_id, arrived: Arrived { sends, is_late: false } });
        }
        for Activating { send, instead, caller } in activations {
            let channel_id = send.order.channel_id;
            let sends = [send].into_iter().chain(instead).collect();
            effects.push(Effect::Tell { channel_id, arrived: Arrived { sends, is_late: false } });
            effects.push(Effect::Reply(caller, Ok(Answer::Done)));
        }
        for (caller, send_id) in accepted {
            effects.push(Effect::Reply(caller, Ok(Answer::Accepted(send_id))));
        }
        for Extending { caller, .. } in extensions {
            effects.push(Effect::Reply(caller, Ok(Answer::Done)));
        }
        for caller in records {
            effects.push(Effect::Reply(caller, Ok(Answer::Written(written.clone()))));
        }
        for caller in hearings {
            effects.push(Effect::Reply(caller, Ok(Answer::Done)));
        }
    }

    /// The answers that a planted fault gives before the batch is written.
    pub(super) fn answer_too_early(&self, effects: &mut Effects) {
        for Accepting { send, counts, caller } in &self.accepts {
            if is_planted(Fault::AnsweredBeforeCommit) {
                effects.push(Effect::Reply(*caller, Ok(Answer::Accepted(send.id))));
            }
            if is_planted(Fault::ToldBeforeCommit) && *counts {
                let arrived = Arrived { sends: vec![send.clone()], is_late: false };
                effects.push(Effect::Tell { channel_id: send.order.channel_id, arrived });
            }
        }
    }

    /// Answers the callers of sends with a refused row.
    pub(super) fn refuse(&mut self, refused: &HashMap<Uuid, Error>, effects: &mut Effects) {
        if refused.is_empty() {
            return;
        }
        let mut is_refused = |send_id: Uuid, caller: Caller| {
            let Some(error) = refused.get(&send_id) else { return false };
            effects.push(Effect::Reply(caller, Err(*error)));
            true
        };
        self.accepts.retain(|accepting| !is_refused(accepting.send.id, accepting.caller));
        self.extensions.retain(|extending| !is_refused(extending.send_id, extending.caller));
        self.activations.retain(|activating| !is_refused(activating.send.id, activating.caller));
    }

    /// Takes out the callers that wait for rows in `left`.
    pub(super) fn split_off(&mut self, left: &PendingWrites) -> Self {
        let sends: HashSet<_> = left.builds().collect();
        let mut rest = Self {
            accepts: self.accepts.extract_if(.., |accepting| sends.contains(&accepting.send.id)).collect(),
            extensions: self
                .extensions
                .extract_if(.., |extending| sends.contains(&extending.send_id))
                .collect(),
            activations: self
                .activations
                .extract_if(.., |activating| sends.contains(&activating.send.id))
                .collect(),
            ..Self::default()
        };
        let is_said = !left.suppressions.is_empty();
        if is_said || !left.outcomes.is_empty() || !left.marks.is_empty() {
            rest.records = mem::take(&mut self.records);
            rest.found = mem::take(&mut self.found);
        }
        if is_said || !left.receipts.is_empty() || !left.inbound.is_empty() {
            rest.hearings = mem::take(&mut self.hearings);
        }
        rest
    }

    /// Nothing of the batch is written: answers each caller with the error.
    pub(super) fn turn_away(self, error: Error, effects: &mut Effects) {
        let Self { accepts, extensions, activations, records, hearings, found: _ } = self;
        let accepts = accepts.into_iter().map(|accepting| accepting.caller);
        let extensions = extensions.into_iter().map(|extending| extending.caller);
        let activations = activations.into_iter().map(|activating| activating.caller);
        for caller in accepts.chain(extensions).chain(activations).chain(records).chain(hearings) {
            effects.push(Effect::Reply(caller, Err(error)));
        }
    }
}

/// Counts the receipts that a commit ignored. Returns the rest of the result, for the callers of records.
fn note_ignored(found: Committed, effects: &mut Effects) -> Written {
    let Committed { gone, overtaken, ignored: Ignored { unknown_send, never_attempted } } = found;
    if unknown_send > 0 {
        effects.push(Effect::Note(Figure::UnknownSend(unknown_send)));
    }
    if never_attempted > 0 {
        effects.push(Effect::Note(Figure::NeverAttempted(never_attempted)));
    }
    Written { gone, overtaken }
}

/// Sends by their channels, in the order in which each channel comes first.
#[derive(Default)]
struct ByChannel {
    sends: Vec<(Uuid, Vec<AcceptedSend>)>,
    places: HashMap<Uuid, usize>,
}

impl ByChannel {
    fn add(&mut self, send: AcceptedSend) {
        let channel_id = send.order.channel_id;
        let place = *self.places.entry(channel_id).or_insert(self.sends.len());
        match self.sends.get_mut(place) {
            Some((_, sends)) => sends.push(send),
            None => self.sends.push((channel_id, vec![send])),
        }
    }
}
