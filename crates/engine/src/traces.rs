//! The engine's entries in the [traces](telemetry) of sends, in a line each.

use uuid::Uuid;

use connectors::Reply;
use domain::message::State;
use store::ledger::{Activation, PendingWrites, Receipt};
use telemetry::trace::{self, Attempted, Begun, Committed, Heard, Resolved};

/// An audience that is being resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolving {
    begun: Option<Begun>,
    tags: usize,
    numbers: usize,
}

impl Resolving {
    /// Resolving begins, with this many tags and numbers.
    pub(super) fn begin(tags: usize, numbers: usize) -> Self {
        Self { begun: trace::begin(), tags, numbers }
    }

    /// Resolving ended, for a send if there is one.
    pub(super) fn end(self, send_id: Option<Uuid>, recipients: u64, skipped: u64, is_complete: bool) {
        let Self { begun, tags, numbers } = self;
        if let (Some(begun), Some(send_id)) = (begun, send_id) {
            trace::resolved(send_id, begun, Resolved { tags, numbers, recipients, skipped, is_complete });
        }
    }
}

/// A commit of this batch ended; `fault` says why it failed.
pub(super) fn committed(begun: Option<Begun>, batch: &PendingWrites, fault: Option<&'static str>) {
    let Some(begun) = begun else { return };
    let committed = Committed { sends: batch.sends.len(), rows: batch.rows(), fault };
    let sends = batch.sends.iter().map(|send| send.id);
    let activated = batch.activations.iter().flat_map(Activation::sends);
    for send_id in sends.chain(activated) {
        trace::committed(send_id, begun, committed);
    }
}

/// An attempt ended, with or without an answer.
pub(super) fn attempted(begun: Option<Begun>, (send_id, ordinal): (Uuid, u64), before: u16, reply: &Reply) {
    let Some(begun) = begun else { return };
    let (outcome, code) = match reply {
        Reply::Accepted { .. } => ("accepted", None),
        Reply::Refused { failure, .. } => ("refused", failure.code),
        Reply::NotSent(failure) => ("not_sent", failure.code),
        Reply::NoSocket(failure) => ("no_socket", failure.code),
        Reply::Unsendable(failure) => ("unsendable", failure.code),
        Reply::Uncertain(failure) => ("uncertain", failure.code),
    };
    let is_accepted = matches!(reply, Reply::Accepted { .. });
    let attempt = before.saturating_add(1);
    trace::attempted(send_id, begun, Attempted { ordinal, attempt, outcome, code, is_accepted });
}

/// Traced receipts that are being written.
#[derive(Debug)]
pub(super) struct Hearing(Vec<(Begun, Uuid, u64, State, Option<i64>)>);

impl Hearing {
    /// The receipts arrived.
    pub(super) fn begin(receipts: &[Receipt]) -> Self {
        if !trace::is_on() {
            return Self(Vec::new());
        }
        let traced = receipts.iter().filter_map(|receipt| {
            let begun = trace::begin_message(receipt.key.send_id, receipt.key.ordinal)?;
            let code = receipt.error.as_ref().and_then(|failure| failure.code);
            Some((begun, receipt.key.send_id, receipt.key.ordinal, receipt.state, code))
        });
        Self(traced.collect())
    }

    /// Whether none is traced.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The write of the receipts ended.
    pub(super) fn end(self, is_written: bool) {
        for (begun, send_id, ordinal, state, code) in self.0 {
            trace::heard(send_id, begun, Heard { ordinal, state: state.as_str(), code, is_written });
        }
    }
}
