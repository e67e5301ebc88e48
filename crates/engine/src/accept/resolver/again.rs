//! The recipients of messages of an earlier send, a chunk at a time, without those who have the message from another send
//! of the same family.
//!
//! An audience is frozen in the order of its numbers, so that the messages of a send by ordinal are its recipients in
//! ascending order.

use uuid::Uuid;

use super::elsewhere::Elsewhere;
use domain::message::State;
use domain::phone::PhoneNumber;
use domain::request::{Again, Skipped};
use store::Store;
use store::sends::messages::{Found, SendSnapshot};

/// Messages examined in one query, whether they are selected or not.
pub(super) const SPAN: u64 = 50_000;

/// A read of a send's messages.
pub(super) struct Reading {
    again: Again,
    /// The send as it was when the read began, and the messages of its family.
    begun: Option<(SendSnapshot, Elsewhere)>,
    next: u64,
}

impl Reading {
    pub(super) const fn new(again: Again) -> Self {
        Self { again, begun: None, next: 0 }
    }

    /// The next recipients, ascending, and whether there may be more. Empty only when there are no more. Those who have the
    /// message from another send are `skipped`.
    pub(super) async fn read(
        &mut self,
        store: &Store,
        company_id: Uuid,
        limit: usize,
        skipped: &mut Skipped,
    ) -> store::Result<(Vec<PhoneNumber>, bool)> {
        let Again { send_id, selection } = &self.again;
        if self.begun.is_none() {
            let snapshot = store.of(company_id).sends().snapshot(*send_id).await?;
            // A send that was removed meanwhile has no messages any more.
            let Some(snapshot) = snapshot else { return Ok((Vec::new(), false)) };
            let relatives = store.of(company_id).sends().relatives(*send_id).await?;
            self.begun = Some((snapshot, Elsewhere::new(&self.again, relatives)));
        }
        let Some((snapshot, elsewhere)) = &mut self.begun else { return Ok((Vec::new(), false)) };
        loop {
            let found = store.messages().selected(snapshot, selection, self.next, limit as u64, SPAN).await?;
            let Found { messages, next } = found;
            // Messages that are not over are left to their own send.
            let over = messages
                .iter()
                .map(|message| &message.outcome)
                .filter(|outcome| outcome.retry_at.is_none() && State::RETRIED.contains(&outcome.state));
            let mut numbers: Vec<_> = over.filter_map(|outcome| outcome.position.recipient).collect();
            elsewhere.skip(store, &mut numbers, skipped).await?;
            match next {
                Some(next) => self.next = next,
                None => return Ok((numbers, false)),
            }
            if !numbers.is_empty() {
                return Ok((numbers, true));
            }
        }
    }
}
