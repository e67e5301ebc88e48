//! Writing a batch of which the database refuses a row for ever.
//!
//! The batch is written in parts: a part that is refused is halved until the guilty row stands alone. That one is
//! written with fewer of the provider's words, or set aside; everything else is written. So it takes a few commits to
//! find one row among thousands, and one tenant's row never keeps those of others from being written.

use std::collections::HashSet;
use std::time::Duration;

use uuid::Uuid;

use super::Error;
use crate::clock::Timestamp;
use crate::store::ledger::{Batch, Committed, Terms};
use crate::store::{self, Lease, Store};

/// What came of writing a batch in parts.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// What the commits found.
    pub(super) found: Committed,
    /// Sends of which a row was refused, and what their callers are told.
    pub(super) refused: Vec<(Uuid, Error)>,
    /// What is not written yet, because the database went away meanwhile.
    pub(super) left: Option<(Batch, store::Error)>,
}

impl Apart {
    /// The sends of which something is left to be written.
    pub(super) fn left_sends(&self) -> HashSet<Uuid> {
        let Some((batch, _)) = &self.left else { return HashSet::new() };
        let sends = batch.sends.iter().map(|send| send.id);
        let extended = batch.blocks.iter().map(|(send_id, _)| *send_id);
        sends.chain(extended).chain(batch.activations.iter().map(|(send_id, ..)| *send_id)).collect()
    }

    /// Whether anything that a channel recorded, or that was heard from a provider, is left to be written.
    pub(super) fn leaves(&self) -> (bool, bool) {
        let Some((batch, _)) = &self.left else { return (false, false) };
        let recorded =
            !batch.outcomes.is_empty() || !batch.marks.is_empty() || !batch.suppressions.is_empty();
        let heard = !batch.receipts.is_empty() || !batch.events.is_empty() || !batch.suppressions.is_empty();
        (recorded, heard)
    }
}

/// Writes everything in `batch` that the database takes.
pub(super) async fn write(store: &Store, lease: &Lease, batch: Batch, patience: Duration) -> Apart {
    let mut apart = Apart::default();
    let terms = Terms { patience, in_one_statement: false };
    let mut waiting = vec![batch.apart()];
    while let Some(mut parts) = waiting.pop() {
        let together = Batch::together(&parts);
        match store.commit_on(terms, lease, &together, Timestamp::now()).await {
            Ok(found) => apart.found.add(found),
            Err(error) if error.is_about_a_row() && parts.len() > 1 => {
                let rest = parts.split_off(parts.len() / 2);
                waiting.push(rest);
                waiting.push(parts);
            }
            Err(error) if error.is_about_a_row() => {
                let plainer = together.plainer();
                report(&together, &error, plainer.is_some());
                match plainer {
                    Some(plainer) => waiting.push(vec![plainer]),
                    None => apart.set_aside(&together, &error),
                }
            }
            Err(error) => {
                let rest = waiting.iter().rev().flatten();
                let left = Batch::together(parts.iter().chain(rest));
                apart.left = Some((left, error));
                break;
            }
        }
    }
    apart
}

impl Apart {
    fn set_aside(&mut self, part: &Batch, error: &store::Error) {
        // What a send builds upon is gone: nothing of it was accepted. Anything else is a defect.
        let told =
            if matches!(error, store::Error::Missing(_)) { Error::Unavailable } else { Error::Refused };
        let sends = part.sends.iter().map(|send| send.id);
        let extended = part.blocks.iter().map(|(send_id, _)| *send_id);
        let activated = part.activations.iter().map(|(send_id, ..)| *send_id);
        let sends: HashSet<_> = sends.chain(extended).chain(activated).collect();
        self.refused.extend(sends.into_iter().map(|send_id| (send_id, told)));
        // Nothing may be attempted on a mark that is not durable.
        self.found.gone.extend(part.marks.iter().map(|mark| mark.send_id));
    }
}

/// Says which row it is, without what is private in it.
fn report(part: &Batch, error: &store::Error, goes_on: bool) {
    let then = if goes_on { "written without its texts" } else { "set aside" };
    let mut what = "other";
    let mut say = |kind: &'static str, send: Option<Uuid>, ordinal: Option<u64>, company: Option<Uuid>| {
        what = kind;
        let text = |id: Uuid| id.to_string();
        tracing::error!(
            %error,
            row = kind,
            send.id = send.map(text),
            message.ordinal = ordinal,
            company.id = company.map(text),
            then,
            "the database refuses a row for ever"
        );
    };
    for send in &part.sends {
        say("send", Some(send.id), None, Some(send.company_id));
    }
    if part.sends.is_empty() {
        let extended = part.blocks.first().map(|(send_id, _)| *send_id);
        let activated = part.activations.first().map(|(send_id, ..)| *send_id);
        if let Some(send_id) = extended.or(activated) {
            say("audience", Some(send_id), None, None);
        }
    }
    for (send_id, company_id, outcome) in &part.outcomes {
        say("outcome", Some(*send_id), Some(outcome.position.ordinal), Some(*company_id));
    }
    for receipt in &part.receipts {
        say("receipt", Some(receipt.key.send_id), Some(receipt.key.ordinal), Some(receipt.company_id));
    }
    for mark in &part.marks {
        say("mark", Some(mark.send_id), None, None);
    }
    for event in &part.events {
        say("event", None, None, Some(event.company_id));
    }
    for record in &part.suppressions {
        say("suppression", None, None, Some(record.company_id));
    }
    metrics::counter!("pombo_ledger_refused_rows_total", "row" => what, "then" => then).increment(1);
}
