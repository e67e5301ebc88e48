//! Sends and messages that go back to the store: held, expired, or waiting for a later time.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::Lanes;
use crate::channel::machine::map::Set;
use crate::channel::machine::work::{Leave, Ticket, Work};
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::outlook::Reason;

impl Lanes {
    /// Releases the sends that `chosen` picks: none of their messages is handed out any more, and messages that wait
    /// here wait in the store instead. `now` and `wall` are the same moment. Returns the messages that were about to be
    /// retried: the caller has to put them back.
    pub(in crate::channel::machine) fn leave(
        &mut self,
        leave: Leave,
        (now, wall): (Instant, Timestamp),
        mut chosen: impl FnMut(&Work) -> bool,
    ) -> Vec<Ticket> {
        let mut left = Set::default();
        let Self { works, direct, bulk, recorded, queued, .. } = self;
        for work in works.values_mut().filter(|work| chosen(work)) {
            queued.discount(work);
            work.leave(leave);
            let lane = if work.is_direct() { &mut *direct } else { &mut *bulk };
            for (ticket, due) in lane.waiting.drain(work.id) {
                recorded.remove(&ticket.key());
                work.park(wall.plus(due.saturating_duration_since(now)));
            }
            left.insert(work.id);
        }
        if left.is_empty() {
            return Vec::new();
        }
        let mut back = Vec::new();
        for lane in [direct, bulk] {
            lane.again.retain(|ticket| {
                let leaves = left.contains(&ticket.send_id);
                back.extend(leaves.then_some(*ticket));
                !leaves
            });
        }
        self.reorder();
        self.moved.extend(left);
        back
    }

    /// The sends here that have expired at `now`.
    pub(in crate::channel::machine) fn expired(&mut self, now: Timestamp) -> Vec<Uuid> {
        let now = if is_planted(Fault::ExpiryOffByOne) { now.minus(Duration::from_millis(1)) } else { now };
        if self.next_expiry.is_none_or(|next| next > now) {
            return Vec::new();
        }
        let remaining = self.works.values().filter(|work| work.leaving().is_none());
        let (mut expired, mut next) = (Vec::new(), None);
        for (id, expires_at) in remaining.filter_map(|work| Some((work.id, work.expires_at?))) {
            if expires_at <= now {
                expired.push(id);
            } else {
                next = Some(next.map_or(expires_at, |earlier: Timestamp| earlier.min(expires_at)));
            }
        }
        self.next_expiry = next;
        expired
    }

    /// When the next send here expires, at the earliest.
    pub(in crate::channel::machine) const fn next_expiry(&self) -> Option<Timestamp> {
        self.next_expiry
    }

    /// A send is completely restored. If nothing of it is left to do, that is written. If the rest waits for later, the
    /// send leaves again.
    pub(in crate::channel::machine) fn settle_down(&mut self, send_id: Uuid) {
        if self.works.get_mut(&send_id).is_some_and(Work::settle_down) {
            self.moved.insert(send_id);
        }
    }

    /// A message of the send was put back for this reason.
    pub(in crate::channel::machine) fn hold_back(&mut self, send_id: Uuid, reason: Reason) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.held_by = Some(reason);
        }
    }

    /// What the rest of a send waits for, and when its first message is due; `None` while a message of it can be handed
    /// out.
    pub(in crate::channel::machine) fn held_back(
        &self,
        send_id: Uuid,
        (now, wall): (Instant, Timestamp),
    ) -> Option<(Reason, Timestamp)> {
        let goes_next = self.again_now().any(|ticket| ticket.send_id == send_id);
        let work = self.works.get(&send_id).filter(|work| !work.has_more() && !goes_next)?;
        let here = self.first_due(send_id);
        let here = here.map(|due| wall.plus(due.saturating_duration_since(now)));
        let until = [here, work.parked_due()].into_iter().flatten().min()?;
        Some((work.held_by.unwrap_or(Reason::Retry), until))
    }
}
