//! What people wrote, and windows that the provider says are closed, in the transactions of the ledger.

use sea_orm::ConnectionTrait;

use super::PendingWrites;
use crate::Result;
use crate::conversations::Inbound;
use crate::nouns::Ledger;
use clock::Timestamp;
use domain::message::{Failure, Key};

/// The provider's code of a free message to a person whose window is closed.
const OUTSIDE_WINDOW: i64 = 131_047;

impl Ledger<'_> {
    /// Writes messages of people, and closes the windows that the batch says are closed.
    pub(super) async fn keep_inbound(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        inbound: &[Inbound],
        now: Timestamp,
    ) -> Result<()> {
        let conversations = self.store.conversations();
        if !inbound.is_empty() {
            // Most batches have none, and need no room for its steps.
            Box::pin(conversations.keep(to, inbound, now)).await?;
        }
        let refused = refused_by_window(batch, now);
        if !refused.is_empty() {
            Box::pin(conversations.close_windows(to, &refused, now)).await?;
        }
        Ok(())
    }
}

/// The messages that the provider refused because the windows of their recipients are closed.
fn refused_by_window(batch: &PendingWrites, now: Timestamp) -> Vec<(Key, Timestamp)> {
    let outcomes = batch.outcomes.iter().filter(|row| is_outside_window(row.outcome.error.as_ref()));
    let outcomes = outcomes.map(|row| {
        let ordinal = row.outcome.position.ordinal;
        (Key { send_id: row.send_id, ordinal }, now)
    });
    let receipts = batch.receipts.iter().filter(|receipt| is_outside_window(receipt.error.as_ref()));
    outcomes.chain(receipts.map(|receipt| (receipt.key, receipt.at))).collect()
}

/// Whether the provider refused a message because the window of its recipient is closed.
pub(super) fn is_outside_window(error: Option<&Failure>) -> bool {
    error.is_some_and(|failure| failure.code == Some(OUTSIDE_WINDOW))
}
