//! The ledger as the process has it: an open batch, one commit at a time, and those who wait for it.
//!
//! It batches, repeats and answers as the engine's ledger does; the world decides how each commit fares.

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use crate::domain::message::{Key, State};
use crate::engine::ledger::AcceptedSend;
use crate::engine::planted::{Fault, is_planted};
use crate::store::Error;
use crate::store::ledger::{BlockOf, Committed, NewSend, PendingWrites, Receipt};

/// The first and the longest wait before the database is tried again.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A send that a client asked for.
#[derive(Debug, Clone)]
pub(super) struct Accepting {
    pub(super) channel: usize,
    pub(super) send: AcceptedSend,
}

/// What is to be written next, and who waits for it.
#[derive(Default)]
pub(super) struct Open {
    pub(super) batch: PendingWrites,
    pub(super) accepts: Vec<Accepting>,
    /// Channels whose records are in the batch.
    pub(super) records: Vec<usize>,
    /// Receipts in the batch, by the channel that is told of them.
    pub(super) heard: HashMap<usize, Vec<(Key, State)>>,
    /// Receipts that the provider tells again unless they are written.
    pub(super) receipts: Vec<(usize, Receipt)>,
    /// What a commit before found that wrote a part of the records.
    pub(super) found: Committed,
}

/// How a commit fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fare {
    Done,
    /// Nothing is written, and it is said so.
    Fails,
    /// It is said to have failed, and it may or may not be written.
    InDoubt {
        is_written: bool,
    },
}

/// A commit under way.
pub(super) struct Commit {
    pub(super) open: Open,
    pub(super) fare: Fare,
    pub(super) result: Option<Result<Committed, Error>>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) open: Open,
    pub(super) current: Option<Commit>,
    pub(super) failures: u32,
    /// It waits before it tries again.
    pub(super) rests: bool,
    pub(super) closed: bool,
    /// Sends whose commit may or may not have gone through.
    pub(super) doubts: Vec<Accepting>,
    pub(super) is_settling: bool,
}

impl Ledger {
    /// A new send, durable with the next commit.
    pub(super) fn accept(
        &mut self,
        accepting: Accepting,
        row: NewSend,
        blocks: Vec<crate::domain::send::Block>,
    ) {
        let id = row.id;
        self.open.batch.sends.push(row);
        self.open.batch.blocks.extend(blocks.into_iter().map(|block| BlockOf { send_id: id, block }));
        self.open.accepts.push(accepting);
    }

    /// What a channel did.
    pub(super) fn record(&mut self, channel: usize, writes: PendingWrites) {
        self.open.batch.add(writes);
        self.open.records.push(channel);
    }

    /// What the provider told.
    pub(super) fn hear(&mut self, channel: usize, receipt: Receipt) {
        self.open.heard.entry(channel).or_default().push((receipt.key, receipt.state));
        self.open.batch.receipts.push(receipt.clone());
        self.open.receipts.push((channel, receipt));
    }

    /// What the next commit writes, if there is one to begin.
    pub(super) fn begin(&mut self) -> Option<Open> {
        let is_idle = self.current.is_none() && !self.rests && !self.closed;
        // A record without rows is answered all the same.
        let has_work = !self.open.batch.is_empty() || !self.open.records.is_empty();
        (is_idle && has_work).then(|| mem::take(&mut self.open))
    }

    /// A commit failed: what the database must still learn goes first next time. After how long it is tried again.
    pub(super) fn failed(&mut self, open: Open) -> Duration {
        let Open { batch, records, found, .. } = open;
        if !is_planted(Fault::OutcomeDropped) {
            self.open.batch.outcomes.splice(0..0, batch.outcomes);
        }
        self.open.batch.marks.splice(0..0, batch.marks);
        self.open.batch.suppressions.splice(0..0, batch.suppressions);
        self.open.records.splice(0..0, records);
        self.open.found.add(found);
        self.failures += 1;
        self.rests = true;
        let (first, longest) = RETRY;
        first.saturating_mul(1 << self.failures.min(10)).min(longest)
    }
}
