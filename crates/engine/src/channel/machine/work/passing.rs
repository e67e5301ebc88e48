//! The people of a send for whom messages are marked, and those who are passed over because the quota of templates has
//! no slot for them.

use std::ops::Range;

use super::{Source, Work};
use clock::Timestamp;
use domain::message::Position;
use domain::phone::PhoneNumber;

impl Work {
    /// The ordinal up to which [`Work::request`] reserves; the present one when enough messages are reserved.
    pub(super) fn target(&self, ahead: u64, tops_up: bool) -> u64 {
        let is_enough = !tops_up && self.requested - self.next >= ahead;
        if self.leaving.is_some() || is_enough {
            return self.requested;
        }
        (self.next + 2 * ahead).min(self.recipients).max(self.requested)
    }

    /// The recipients in memory of the messages that [`Work::request`] would reserve next.
    pub(in crate::channel::machine) fn next_to_request(
        &self,
        ahead: u64,
        tops_up: bool,
    ) -> impl Iterator<Item = PhoneNumber> {
        self.people(self.requested..self.target(ahead, tops_up))
    }

    /// The recipients of messages that may be handed out by their mark, or will once it is written.
    pub(in crate::channel::machine) fn marked(&self) -> impl Iterator<Item = PhoneNumber> {
        self.people(self.next..self.requested)
    }

    fn people(&self, ordinals: Range<u64>) -> impl Iterator<Item = PhoneNumber> {
        ordinals.filter_map(move |ordinal| self.position(ordinal)?.recipient)
    }

    /// The next message of a template found no slot: passes over at most `most` people without a slot, up to the first
    /// that has one. They wait in the store, with a row that is written with the mark. Empty when no later recipient is
    /// known to have a slot.
    pub(in crate::channel::machine) fn pass_over(
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

    /// The messages that were passed over are parked; their rows say until when.
    pub(in crate::channel::machine) fn passed_until(&mut self, due: Timestamp) {
        self.parked_due = Some(self.parked_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// This message goes to a person who counts against the quota already.
    pub(in crate::channel::machine) const fn is_counted_at(&mut self, ordinal: u64) {
        self.counted_at = Some(ordinal);
    }

    /// Messages that can still be handed out here.
    pub(in crate::channel::machine) const fn queued(&self) -> u64 {
        if self.leaving.is_some() { 0 } else { self.recipients - self.next }
    }

    /// Whether the stored state is the same as the state here.
    pub(in crate::channel::machine) const fn is_as_stored(&self) -> bool {
        !self.is_touched
    }
}
