//! People of a send who are passed over, because the quota of templates has no slot for them.

use super::{Source, Work};
use crate::clock::Timestamp;
use crate::domain::message::Position;
use crate::domain::phone::PhoneNumber;

impl Work {
    /// Of a template, the next message of which found no slot: passes over those who have none, at most so many of
    /// them, up to the first that has. They wait in the store, with a row that is written with the mark. Empty when
    /// nobody further on is known to have a slot.
    pub(in crate::engine::channel::machine) fn pass_over(
        &mut self,
        most: u64,
        mut has_slot: impl FnMut(PhoneNumber) -> bool,
    ) -> Vec<Position> {
        let Source::Blocks { first, numbers, .. } = &self.source else { return Vec::new() };
        let end = *first + numbers.len() as u64;
        let mut here = self.next..end;
        let in_sight = here.find(|ordinal| {
            self.position(*ordinal).is_some_and(|found| found.recipient.is_none_or(&mut has_slot))
        });
        let beyond = self.counted_at.filter(|at| *at >= end).map(|_| end);
        let Some(until) = in_sight.or(beyond) else { return Vec::new() };
        let passed: Vec<_> =
            (self.next..until.min(self.next + most)).filter_map(|ordinal| self.position(ordinal)).collect();
        for position in &passed {
            self.settled.add(position.ordinal);
        }
        let count = passed.len() as u64;
        (self.next, self.parked) = (self.next + count, self.parked + count);
        (self.requested, self.reserved) = (self.next, self.next);
        self.is_touched = true;
        passed
    }

    /// The messages that were passed over wait in the store, where their rows say until `due`.
    pub(in crate::engine::channel::machine) fn passed_until(&mut self, due: Timestamp) {
        self.parked_due = Some(self.parked_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Somebody who counts against the quota already waits for this message.
    pub(in crate::engine::channel::machine) const fn is_counted_at(&mut self, ordinal: u64) {
        self.counted_at = Some(ordinal);
    }

    /// Whether the store has it just as it is here.
    pub(in crate::engine::channel::machine) const fn is_as_stored(&self) -> bool {
        !self.is_touched
    }
}
