//! Writes a batch of which the database refuses a row permanently.
//!
//! The batch is written in parts: a refused part is halved until the refused row stands alone. That row is written
//! without the provider's words, or set aside; everything else is written. So a few commits find one row among
//! thousands, and one tenant's row never keeps those of others from being written.

use std::collections::HashMap;

use uuid::Uuid;

use super::super::message::Error;
use super::effect::{Effect, Effects, Figure};
use super::input::{Cause, Failure};
use store::ledger::{Committed, OutcomeOf, PendingWrites};

/// A batch that is written in parts.
pub(super) struct Apart {
    /// Groups of parts that are written together, the last group first. That group is under way.
    groups: Vec<Vec<PendingWrites>>,
    /// The results of the commits.
    pub(super) found: Committed,
    /// The number of outcomes written.
    pub(super) outcomes: usize,
    /// Sends with a refused row, and the answers to their callers.
    pub(super) refused: HashMap<Uuid, Error>,
}

/// The rows that are not written, because the database became unavailable.
pub(super) struct Left {
    pub(super) batch: PendingWrites,
    pub(super) failure: Failure,
}

impl Apart {
    pub(super) fn new(batch: PendingWrites) -> Self {
        let groups = vec![batch.apart()];
        Self { groups, found: Committed::default(), outcomes: 0, refused: HashMap::new() }
    }

    /// The rows to write next, if any are left.
    pub(super) fn next(&self) -> Option<PendingWrites> {
        self.groups.last().map(PendingWrites::together)
    }

    /// The commit of the [next](Self::next) rows is over. Returns the rest if the database became unavailable.
    pub(super) fn written(
        &mut self,
        together: &PendingWrites,
        result: Result<Committed, Failure>,
        effects: &mut Effects,
    ) -> Option<Left> {
        let mut parts = self.groups.pop()?;
        match result {
            Ok(found) => {
                self.found.add(found);
                self.outcomes += together.outcomes.len();
            }
            Err(failure) if failure.is_about_a_row() && parts.len() > 1 => {
                let rest = parts.split_off(parts.len() / 2);
                self.groups.push(rest);
                self.groups.push(parts);
            }
            Err(failure) if failure.is_about_a_row() => {
                let plainer = together.plainer();
                report(together, &failure, plainer.is_some(), effects);
                match plainer {
                    Some(plainer) => self.groups.push(vec![plainer]),
                    None => self.set_aside(together, &failure),
                }
            }
            Err(failure) => {
                let rest = self.groups.iter().rev().flatten();
                let batch = PendingWrites::together(parts.iter().chain(rest));
                self.groups.clear();
                return Some(Left { batch, failure });
            }
        }
        None
    }

    fn set_aside(&mut self, part: &PendingWrites, failure: &Failure) {
        // A row that the send refers to is gone: nothing of the send was accepted. Any other failure is a defect.
        let told = if failure.cause == Cause::Missing { Error::Unavailable } else { Error::Refused };
        self.refused.extend(part.builds().map(|send_id| (send_id, told)));
        // Without a durable mark, no message may be attempted.
        self.found.gone.extend(part.marks.iter().map(|mark| mark.send_id));
    }
}

/// Logs which row it is, without its private content.
fn report(part: &PendingWrites, failure: &Failure, goes_on: bool, effects: &mut Effects) {
    let then = if goes_on { "written without its texts" } else { "set aside" };
    let mut row = "other";
    let mut say = |kind: &'static str, send: Option<Uuid>, ordinal: Option<u64>, company: Option<Uuid>| {
        row = kind;
        let text = |id: Uuid| id.to_string();
        tracing::error!(
            error = %failure,
            row = kind,
            send.id = send.map(text),
            message.ordinal = ordinal,
            company.id = company.map(text),
            then,
            "the database refuses a row permanently"
        );
    };
    for send in &part.sends {
        say("send", Some(send.id), None, Some(send.company_id));
    }
    if part.sends.is_empty()
        && let Some(send_id) = part.builds().next()
    {
        say("audience", Some(send_id), None, None);
    }
    for OutcomeOf { send_id, company_id, outcome } in &part.outcomes {
        say("outcome", Some(*send_id), Some(outcome.position.ordinal), Some(*company_id));
    }
    for receipt in &part.receipts {
        say("receipt", Some(receipt.key.send_id), Some(receipt.key.ordinal), Some(receipt.company_id));
    }
    for mark in &part.marks {
        say("mark", Some(mark.send_id), None, None);
    }
    for message in &part.inbound {
        say("inbound", None, None, Some(message.company_id));
    }
    for word in &part.suppressions {
        say("suppression", None, None, Some(word.company_id));
    }
    effects.push(Effect::Note(Figure::RefusedRow { row, then }));
}
