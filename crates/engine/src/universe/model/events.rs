//! The events of messages: one for each state that a message reaches, in the order of the states.

use uuid::Uuid;

use super::Model;
use clock::Timestamp;
use domain::event::is_told;
use domain::message::{Key, State as At};
use store::Error;
use store::ledger::{Committed, PendingWrites};

impl Model {
    /// The states of a message that have an event, in the order of the log.
    pub(crate) fn told_of(&self, key: Key) -> &[At] {
        self.events.get(&(key.send_id, key.ordinal)).map_or(&[], Vec::as_slice)
    }

    /// A message of this company has reached this state.
    pub(super) fn tell(&mut self, place: (Uuid, u64), company_id: Uuid, state: At) {
        let is_known = self.sends.get(&place.0).is_some_and(|send| send.company_id == company_id);
        if is_told(state) && is_known {
            self.events.entry(place).or_default().push(state);
        }
    }

    /// Commits a batch with the events that `seen`, the rows of an earlier moment, would lead to.
    pub(crate) fn commit_with_events_of(
        &mut self,
        mut seen: Self,
        epoch: u64,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<Committed, Error> {
        let (told, seen_before) = (self.events.clone(), seen.events.clone());
        let committed = self.commit(epoch, batch, now)?;
        self.events = told;
        if seen.commit(epoch, batch, now).is_ok() {
            for (place, told) in seen.events {
                let known = seen_before.get(&place).map_or(0, Vec::len);
                self.events.entry(place).or_default().extend(&told[known..]);
            }
        }
        Ok(committed)
    }
}
