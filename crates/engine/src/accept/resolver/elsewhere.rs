//! Messages that other sends of a family have for the same people: a retry skips those who have the message already, or
//! will get it.

use std::collections::VecDeque;

use uuid::Uuid;

use super::again::SPAN;
use domain::message::{Outcome, Selection, State};
use domain::phone::PhoneNumber;
use domain::request::{Again, SkipCode, Skipped};
use store::Store;
use store::sends::messages::{Found, SendSnapshot};

/// The numbers read at once from all sends of a family together; from each of many sends, at least [`LEAST`].
const CHUNK: usize = 50_000;
const LEAST: usize = 500;

/// The states of a message that is under way or has arrived.
const UNDER_WAY_OR_ARRIVED: [State; 5] =
    [State::Queued, State::Sending, State::Sent, State::Delivered, State::Read];

/// The other sends of a family.
pub(super) struct Elsewhere {
    sends: Vec<Other>,
    /// The most messages of one send that are read at once.
    limit: u64,
}

/// Another send of the family, which is read along.
struct Other {
    snapshot: SendSnapshot,
    /// Whether a message whose outcome is unknown counts as one that may have arrived. In an older send it does not: there,
    /// somebody decided to send it again.
    counts_unknown: bool,
    /// Recipients who have the message from it, ascending: the next ones.
    numbers: VecDeque<PhoneNumber>,
    /// The ordinal to read on from; `None` at the end of the send.
    next: Option<u64>,
}

impl Elsewhere {
    /// The messages of these sends, for the retry of another one.
    pub(super) fn new(again: &Again, relatives: Vec<SendSnapshot>) -> Self {
        let Again { send_id, selection } = again;
        let limit = (CHUNK / relatives.len().max(1)).max(LEAST) as u64;
        let send = |snapshot: SendSnapshot| Other {
            counts_unknown: snapshot.send_id() > *send_id && !selection.has(State::Unknown),
            snapshot,
            numbers: VecDeque::new(),
            next: Some(0),
        };
        Self { sends: relatives.into_iter().map(send).collect(), limit }
    }

    /// Removes from `numbers`, the next ones in ascending order, those that have the message from another send, and counts
    /// them as skipped.
    pub(super) async fn skip(
        &mut self,
        store: &Store,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> store::Result<()> {
        for send in &mut self.sends {
            let mut left = Vec::with_capacity(numbers.len());
            for number in numbers.drain(..) {
                if send.has(store, number, self.limit).await? {
                    let reason = reason(send.snapshot.send_id());
                    skipped.add_as(SkipCode::AlreadyRetried, &format!("+{number}"), &reason);
                } else {
                    left.push(number);
                }
            }
            *numbers = left;
        }
        Ok(())
    }
}

impl Other {
    /// Whether the number has the message from this send. Numbers are asked in ascending order.
    async fn has(&mut self, store: &Store, number: PhoneNumber, limit: u64) -> store::Result<bool> {
        loop {
            while self.numbers.front().is_some_and(|first| *first < number) {
                self.numbers.pop_front();
            }
            if let Some(first) = self.numbers.front() {
                return Ok(*first == number);
            }
            let Some(next) = self.next else { return Ok(false) };
            let states = UNDER_WAY_OR_ARRIVED.into_iter().chain([State::Unknown]).collect();
            let selection = Selection { states, codes: Vec::new() };
            let found = store.messages().selected(&self.snapshot, &selection, next, limit, SPAN).await?;
            let Found { messages, next } = found;
            let Self { numbers, counts_unknown, .. } = self;
            let outcomes = messages.iter().map(|message| &message.outcome);
            let counted = outcomes.filter(|outcome| *counts_unknown || !is_in_doubt(outcome));
            numbers.extend(counted.filter_map(|outcome| outcome.position.recipient));
            self.next = next;
        }
    }
}

/// Whether nobody knows if the message arrived, and it is not attempted again.
fn is_in_doubt(outcome: &Outcome) -> bool {
    outcome.state == State::Unknown && outcome.retry_at.is_none()
}

fn reason(send_id: Uuid) -> String {
    format!("has this message from the send {send_id} already, or will get it")
}
