//! Parked messages of a send: they wait in the store while the send is in memory.

use super::Work;
use clock::Timestamp;

impl Work {
    /// Parks a message; its row says until when.
    pub(in crate::channel::machine) fn park(&mut self, due: Timestamp) {
        self.is_touched = true;
        self.outstanding = self.outstanding.saturating_sub(1);
        self.parked_until(self.parked + 1, Some(self.parked_due.map_or(due, |earlier| earlier.min(due))));
        self.fall_asleep();
    }

    /// Sets how many messages are parked, and when the first of them is due.
    pub(in crate::channel::machine) const fn parked_until(&mut self, parked: u64, due: Option<Timestamp>) {
        self.parked = parked;
        self.parked_due = due;
    }

    /// Makes the parked messages due now, so that they are read again.
    pub(in crate::channel::machine) const fn look_at_parked(&mut self, now: Timestamp) {
        if self.parked > 0 {
            self.parked_due = Some(now);
        }
    }

    /// Whether parked messages are due and must be read; they count as being read from here on.
    pub(in crate::channel::machine) fn unpark(&mut self, now: Timestamp) -> bool {
        let is_due = self.parked > 0 && self.parked_due.is_some_and(|due| due <= now);
        if !is_due || self.unparking || self.leaving.is_some() {
            return false;
        }
        self.unparking = true;
        true
    }

    /// Parked messages were read: `found` of them are in memory now, and at least `later` others wait until `due`. The
    /// next read corrects too high a count; too low a count would lose messages.
    pub(in crate::channel::machine) fn unparked(&mut self, found: u64, later: u64, due: Timestamp) {
        self.unparking = false;
        self.parked = self.parked.saturating_sub(found).max(later);
        self.parked_due = (self.parked > 0).then_some(due);
    }

    /// Whether its parked messages are being read.
    pub(in crate::channel::machine) const fn is_being_read(&self) -> bool {
        self.unparking
    }

    /// Whether messages of the send are parked.
    pub(in crate::channel::machine) const fn is_parked(&self) -> bool {
        self.parked > 0
    }

    /// When the first parked message is due.
    pub(in crate::channel::machine) const fn parked_due(&self) -> Option<Timestamp> {
        if self.unparking || self.leaving.is_some() { None } else { self.parked_due }
    }
}
