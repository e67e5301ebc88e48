//! The recipients of messages of an earlier send, a chunk at a time.
//!
//! An audience is frozen in the order of its numbers, so that the messages of a send by ordinal are its recipients in
//! ascending order.

use uuid::Uuid;

use domain::message::State;
use domain::phone::PhoneNumber;
use domain::request::Again;
use store::Store;
use store::sends::messages::{Found, SendSnapshot};

/// Messages examined in one query, whether they are selected or not.
const SPAN: u64 = 50_000;

/// A read of a send's messages.
pub(super) struct Reading {
    again: Again,
    /// The send as it was when the read began.
    snapshot: Option<SendSnapshot>,
    next: u64,
}

impl Reading {
    pub(super) const fn new(again: Again) -> Self {
        Self { again, snapshot: None, next: 0 }
    }

    /// The next recipients, ascending, and whether there may be more. Empty only when there are no more.
    pub(super) async fn read(
        &mut self,
        store: &Store,
        company_id: Uuid,
        limit: usize,
    ) -> store::Result<(Vec<PhoneNumber>, bool)> {
        let Again { send_id, selection } = &self.again;
        if self.snapshot.is_none() {
            self.snapshot = store.of(company_id).sends().snapshot(*send_id).await?;
        }
        // A send that was removed meanwhile has no messages any more.
        let Some(snapshot) = &self.snapshot else { return Ok((Vec::new(), false)) };
        loop {
            let found = store.messages().selected(snapshot, selection, self.next, limit as u64, SPAN).await?;
            let Found { messages, next } = found;
            // Messages that are not over are left to their own send.
            let over = messages
                .iter()
                .map(|message| &message.outcome)
                .filter(|outcome| outcome.retry_at.is_none() && State::RETRIED.contains(&outcome.state));
            let numbers: Vec<_> = over.filter_map(|outcome| outcome.position.recipient).collect();
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
