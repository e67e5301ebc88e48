//! Messages of a send that wait in the store while the send is here.

use super::Work;
use crate::clock::Timestamp;

impl Work {
    /// A ticket goes to wait in the store, where its row says until `due`.
    pub(in crate::engine::channel::machine) fn park(&mut self, due: Timestamp) {
        self.is_touched = true;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.parked_until(self.parked + 1, Some(self.parked_due.map_or(due, |earlier| earlier.min(due))));
        self.fall_asleep();
    }

    /// So many messages wait in the store, the first of them until `due`.
    pub(in crate::engine::channel::machine) const fn parked_until(
        &mut self,
        parked: u64,
        due: Option<Timestamp>,
    ) {
        self.parked = parked;
        self.parked_due = due;
    }

    /// What waits in the store is read again, whenever it was due.
    pub(in crate::engine::channel::machine) const fn look_at_parked(&mut self, now: Timestamp) {
        if self.parked > 0 {
            self.parked_due = Some(now);
        }
    }

    /// Whether messages that wait in the store are due and must be read; they count as on their way then.
    pub(in crate::engine::channel::machine) fn unpark(&mut self, now: Timestamp) -> bool {
        let is_due = self.parked > 0 && self.parked_due.is_some_and(|due| due <= now);
        if !is_due || self.unparking || self.leaving.is_some() {
            return false;
        }
        self.unparking = true;
        true
    }

    /// Messages were read from the store: so many are here now, the others wait until `due`, at least `later` of
    /// them. Counting too many is mended by the next look, counting too few would lose them.
    pub(in crate::engine::channel::machine) fn unparked(&mut self, found: u64, later: u64, due: Timestamp) {
        self.unparking = false;
        self.parked = self.parked.saturating_sub(found).max(later);
        self.parked_due = (self.parked > 0).then_some(due);
    }

    /// Whether messages of it wait in the store.
    pub(in crate::engine::channel::machine) const fn is_parked(&self) -> bool {
        self.parked > 0
    }

    /// When the first message that waits in the store is due.
    pub(in crate::engine::channel::machine) const fn parked_due(&self) -> Option<Timestamp> {
        if self.unparking || self.leaving.is_some() { None } else { self.parked_due }
    }
}
