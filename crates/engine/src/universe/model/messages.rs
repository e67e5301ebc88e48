//! Outcomes of attempts, and the end of messages whose send is over.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{MessageRow, Model};
use clock::Timestamp;
use domain::message::{Key, Outcome, State as At};
use domain::send::State;
use store::ledger::{OutcomeOf, PendingWrites};

impl Model {
    pub(super) fn upsert_outcomes(&mut self, batch: &PendingWrites, now: Timestamp) {
        let mut last: BTreeMap<(Uuid, u64), (Uuid, &Outcome)> = BTreeMap::new();
        for OutcomeOf { send_id, company_id, outcome } in &batch.outcomes {
            last.insert((*send_id, outcome.position.ordinal), (*company_id, outcome));
        }
        for (place, (company_id, outcome)) in last {
            let before = self.messages.get(&place).map(|row| row.state);
            let row = match self.messages.get_mut(&place) {
                Some(row) => {
                    row.conclude(outcome, now);
                    row
                }
                None => {
                    self.messages.entry(place).or_insert_with(|| MessageRow::new(company_id, outcome, now))
                }
            };
            let state = row.state;
            if before != Some(state) {
                self.tell(place, company_id, state);
            }
        }
    }

    /// The announced messages that are over, by their rows.
    pub(super) fn overtaken(&self, batch: &PendingWrites) -> Vec<Key> {
        let announced = batch.outcomes.iter().filter(|row| row.outcome.state == At::Sending);
        announced
            .map(|row| Key { send_id: row.send_id, ordinal: row.outcome.position.ordinal })
            .filter(|key| self.message(*key).is_some_and(|row| !row.state.is_open()))
            .collect()
    }

    /// Ends the messages that wait for a retry in an ended send.
    pub(super) fn end_messages(&mut self, send_id: Uuid, state: State, now: Timestamp) {
        let end = if state == State::Canceled { At::Canceled } else { At::Expired };
        let of_send = self.messages.range_mut((send_id, 0)..=(send_id, u64::MAX));
        let mut ended = Vec::new();
        for (place, row) in of_send.filter(|(_, row)| row.retry_at.is_some()) {
            let before = row.state;
            row.state = if before == At::Queued { end } else { At::Unknown };
            row.retry_at = None;
            row.updated_at = now;
            if before != row.state {
                ended.push((*place, row.state));
            }
        }
        let company_id = self.sends.get(&send_id).map(|send| send.company_id);
        for (place, state) in ended {
            company_id.into_iter().for_each(|company_id| self.tell(place, company_id, state));
        }
    }
}

impl MessageRow {
    fn new(company_id: Uuid, outcome: &Outcome, now: Timestamp) -> Self {
        Self {
            company_id,
            recipient: outcome.position.recipient,
            state: outcome.state,
            attempts: outcome.attempts.min(i16::MAX.cast_unsigned()),
            provider_message_id: outcome.provider_message_id.clone(),
            error: outcome.error.clone(),
            retry_at: outcome.retry_at.filter(|_| outcome.state.is_open()),
            taken_at: outcome.taken_at,
            updated_at: now,
        }
    }

    /// A receipt may have come first: its state stays unless the outcome is further along.
    fn conclude(&mut self, outcome: &Outcome, now: Timestamp) {
        let Outcome { position, state, attempts, provider_message_id, error, retry_at, taken_at } = outcome;
        let was_heard = !self.state.is_open() && state.rank() <= self.state.rank();
        if was_heard {
            self.retry_at = None;
            // No attempt follows the announcement of a message that is over.
            self.taken_at = self.taken_at.or(taken_at.filter(|_| *state != At::Sending));
        } else {
            self.state = *state;
            self.error.clone_from(error);
            self.retry_at = retry_at.filter(|_| state.is_open());
            self.taken_at = *taken_at;
        }
        self.recipient = position.recipient;
        self.attempts = (*attempts).min(i16::MAX.cast_unsigned());
        if provider_message_id.is_some() {
            self.provider_message_id.clone_from(provider_message_id);
        }
        self.updated_at = now;
    }
}
