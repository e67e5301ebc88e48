//! The parts of a batch that go in transactions of their own.

use super::{Committed, PendingWrites, Receipt, Terms};
use crate::Result;
use crate::lease::Lease;
use crate::nouns::Ledger;
use clock::Timestamp;

/// The part of a batch that one transaction writes. One statement locks messages in their order, but two statements of
/// one transaction do not: nodes that change messages of the same sends, as the owner of the channel and as the
/// receiver of webhooks, would wait for each other. So receipts go alone, and so do messages from people, which mark
/// messages as answered. A single process writes one batch at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Receipts of messages that have a row.
    Known,
    /// Receipts of messages that have none yet.
    Early,
    /// Everything except receipts and messages from people.
    Rest,
}

/// What one transaction wrote.
pub(super) struct Written {
    pub(super) committed: Committed,
    /// Whether some receipts moved no row: their messages may have none yet.
    pub(super) are_left: bool,
    /// Receipts of messages that got their rows meanwhile: they have to be written once more.
    pub(super) overlooked: Vec<Receipt>,
}

impl From<Committed> for Written {
    fn from(committed: Committed) -> Self {
        Self { committed, are_left: false, overlooked: Vec::new() }
    }
}

impl Ledger<'_> {
    /// Writes receipts, in transactions of their own.
    pub(super) async fn commit_receipts(
        self,
        terms: Terms,
        lease: &Lease,
        receipts: &[Receipt],
        now: Timestamp,
    ) -> Result<Committed> {
        let alone = |receipts: Vec<Receipt>| PendingWrites { receipts, ..PendingWrites::default() };
        let receipts = alone(receipts.to_vec());
        let known = self.commit_part(terms, lease, &receipts, Part::Known, now).await?;
        let mut committed = known.committed;
        if known.are_left {
            let early = self.commit_part(terms, lease, &receipts, Part::Early, now).await?;
            committed.add(early.committed);
            if !early.overlooked.is_empty() {
                self.commit_part(terms, lease, &alone(early.overlooked), Part::Known, now).await?;
            }
        }
        Ok(committed)
    }
}
