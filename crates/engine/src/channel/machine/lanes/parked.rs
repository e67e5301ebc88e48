//! Parked messages: they wait in the store while their send is in memory.

use uuid::Uuid;

use super::Lanes;
use crate::channel::machine::map::{Map, Set};
use crate::channel::machine::work::{Ticket, Work};
use clock::Timestamp;
use domain::message::Key;

/// Sends with messages parked in the store, and perhaps a few others, with a bound for when they are due: the sends are
/// searched only when that time comes.
#[derive(Debug, Default)]
pub(super) struct Parked {
    sends: Set<Uuid>,
    /// No message is due before this time. Templates have a time of their own, because they may have to wait although
    /// they are due.
    next: [Option<Timestamp>; 2],
    /// Messages that left the machine. Each stays here until its record is durable and no read that began before that
    /// is under way, because such a read may return an older state.
    left: Map<Key, Left>,
}

/// How far the record of a message that left has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The next record has its state.
    Next,
    /// Its record is being written.
    UnderWay,
    /// Its record is durable, but a read that began before is under way.
    Written,
}

impl Parked {
    /// Messages of this send are parked, or will be.
    pub(super) fn insert(&mut self, send_id: Uuid) {
        self.sends.insert(send_id);
    }

    /// The send is gone.
    pub(super) fn remove(&mut self, send_id: Uuid) {
        if !self.sends.is_empty() {
            self.sends.remove(&send_id);
        }
        if !self.left.is_empty() {
            self.left.retain(|key, _| key.send_id != send_id);
        }
    }

    /// A message leaves the machine, for good or for the store. Its row in the store may be older than its state here.
    pub(super) fn leave(&mut self, key: Key, had_row: bool, work: &Work) {
        if had_row || work.is_being_read() {
            self.left.insert(key, Left::Next);
        }
    }

    /// A record begins. It has the state of each message that left.
    pub(super) fn begin_record(&mut self) {
        for left in self.left.values_mut().filter(|left| **left == Left::Next) {
            *left = Left::UnderWay;
        }
    }

    /// The record under way is durable.
    pub(super) fn end_record(&mut self, works: &Map<Uuid, Work>) {
        if self.left.is_empty() {
            return;
        }
        self.left.retain(|key, left| {
            if *left != Left::UnderWay {
                return true;
            }
            *left = Left::Written;
            works.get(&key.send_id).is_some_and(Work::is_being_read)
        });
    }

    /// The parked messages of this send are not being read any more.
    fn was_read(&mut self, send_id: Uuid) {
        if !self.left.is_empty() {
            self.left.retain(|key, left| key.send_id != send_id || *left != Left::Written);
        }
    }

    /// The send changed: notes when its first message may be due.
    fn note(&mut self, work: &Work) {
        if !work.is_parked() {
            return;
        }
        self.sends.insert(work.id);
        if let Some(due) = work.parked_due() {
            bring_forward(&mut self.next[usize::from(work.template.is_some())], due);
        }
    }
}

fn bring_forward(next: &mut Option<Timestamp>, due: Timestamp) {
    *next = Some(next.map_or(due, |earlier| earlier.min(due)));
}

impl Lanes {
    /// Changes a send, and notes when its parked messages are due.
    fn repark(&mut self, send_id: Uuid, change: impl FnOnce(&mut Work)) {
        if let Some(work) = self.works.get_mut(&send_id) {
            change(work);
            self.parked.note(work);
        }
    }

    /// Parks a message that was put back, or that an earlier process left.
    pub(in crate::channel::machine) fn park(&mut self, ticket: Ticket, due: Timestamp) {
        let had_row = self.recorded.remove(&ticket.key());
        if let Some(work) = self.works.get(&ticket.send_id) {
            self.parked.leave(ticket.key(), had_row, work);
        }
        if self.holds(ticket.send_id) {
            self.repark(ticket.send_id, |work| work.park(due));
            self.moved.insert(ticket.send_id);
        }
    }

    /// Sets how many messages of a send are parked, and when the first of them is due.
    pub(in crate::channel::machine) fn parked(&mut self, send_id: Uuid, parked: u64, due: Option<Timestamp>) {
        self.repark(send_id, |work| work.parked_until(parked, due));
    }

    /// The messages that were passed over are parked until `due`.
    pub(in crate::channel::machine) fn passed_until(&mut self, send_id: Uuid, due: Timestamp) {
        self.repark(send_id, |work| work.passed_until(due));
    }

    /// Makes all parked messages due now, so that they are read again.
    pub(in crate::channel::machine) fn look_at_parked(&mut self, now: Timestamp) {
        let sends: Vec<_> = self.parked.sends.iter().copied().collect();
        for send_id in sends {
            self.repark(send_id, |work| work.look_at_parked(now));
        }
    }

    /// The sends whose parked messages are due and must be read; those of templates only when `templates` may go.
    pub(in crate::channel::machine) fn unparks(&mut self, now: Timestamp, templates: bool) -> Vec<Uuid> {
        let mut due = Vec::new();
        let Self { parked: Parked { sends, next, .. }, works, .. } = self;
        for are_templates in [false, true] {
            let next = &mut next[usize::from(are_templates)];
            if are_templates && !templates || next.is_none_or(|next| next > now) {
                continue;
            }
            *next = None;
            sends.retain(|send_id| {
                let Some(work) = works.get_mut(send_id).filter(|work| work.is_parked()) else { return false };
                if work.template.is_some() != are_templates {
                    return true;
                }
                if work.unpark(now) {
                    due.push(*send_id);
                } else if let Some(later) = work.parked_due() {
                    bring_forward(next, later);
                }
                true
            });
        }
        due
    }

    /// Whether the messages that were read of this send may be taken into the lanes.
    pub(in crate::channel::machine) fn is_being_read(&self, send_id: Uuid) -> bool {
        self.works.get(&send_id).is_some_and(|work| work.is_being_read() && work.leaving().is_none())
    }

    /// Whether a read of the message may return an older state than the machine had.
    pub(in crate::channel::machine) fn has_left(&self, key: Key) -> bool {
        self.parked.left.contains_key(&key)
    }

    /// Parked messages of a send were read: `found` of them wait here now, the rest is parked until `due`.
    pub(in crate::channel::machine) fn unparked(
        &mut self,
        send_id: Uuid,
        found: u64,
        later: u64,
        due: Timestamp,
    ) {
        self.parked.was_read(send_id);
        self.repark(send_id, |work| work.unparked(found, later, due));
        self.settle_down(send_id);
    }

    /// No parked message is due before this time. Templates count only when `templates` may go.
    pub(in crate::channel::machine) fn next_unpark(&self, templates: bool) -> Option<Timestamp> {
        let [others, of_templates] = self.parked.next;
        [others, of_templates.filter(|_| templates)].into_iter().flatten().min()
    }
}
