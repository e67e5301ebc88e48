//! Sends and messages that go back to the store for a while: held, expired, or waiting for a later moment.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::Lanes;
use crate::clock::Timestamp;
use crate::domain::outlook::Reason;
use crate::engine::channel::machine::map::Set;
use crate::engine::channel::machine::work::{Leave, Ticket, Work};
use crate::engine::planted::{Fault, is_planted};

impl Lanes {
    /// Lets go of the sends that `chosen` picks: nothing of them is handed out any more, and what waits
    /// here waits in the store instead, by `wall` at the time of `now`. Returns the messages that were about
    /// to be tried again: they must be put back.
    pub(in crate::engine::channel::machine) fn leave(
        &mut self,
        leave: Leave,
        (now, wall): (Instant, Timestamp),
        mut chosen: impl FnMut(&Work) -> bool,
    ) -> Vec<Ticket> {
        let mut left = Set::default();
        for work in self.works.values_mut().filter(|work| chosen(work)) {
            work.leave(leave);
            for (ticket, due) in self.waiting.drain(work.id) {
                self.recorded.remove(&ticket.key());
                work.park(wall.plus(due.saturating_duration_since(now)));
            }
            left.insert(work.id);
        }
        if left.is_empty() {
            return Vec::new();
        }
        self.reorder();
        let (back, again) = self.again.drain(..).partition(|ticket| left.contains(&ticket.send_id));
        self.again = again;
        self.moved.extend(left);
        Vec::from_iter::<VecDeque<Ticket>>(back)
    }

    /// The sends here whose time is over at `now`.
    pub(in crate::engine::channel::machine) fn expired(&mut self, now: Timestamp) -> Vec<Uuid> {
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
    pub(in crate::engine::channel::machine) const fn next_expiry(&self) -> Option<Timestamp> {
        self.next_expiry
    }

    /// A message that was put back, or goes on from an earlier life of the process, waits in the store.
    pub(in crate::engine::channel::machine) fn park(&mut self, ticket: Ticket, due: Timestamp) {
        self.recorded.remove(&ticket.key());
        if let Some(work) = self.works.get_mut(&ticket.send_id) {
            work.park(due);
            self.parked.insert(ticket.send_id);
            self.moved.insert(ticket.send_id);
        }
    }

    /// So many messages of a send wait in the store, the first of them until `due`.
    pub(in crate::engine::channel::machine) fn parked(
        &mut self,
        send_id: Uuid,
        parked: u64,
        due: Option<Timestamp>,
    ) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.parked_until(parked, due);
            self.parked.insert(send_id);
        }
    }

    /// Whatever waits in the store is read again, whenever it was due.
    pub(in crate::engine::channel::machine) fn look_at_parked(&mut self, now: Timestamp) {
        for id in &self.parked {
            if let Some(work) = self.works.get_mut(id) {
                work.look_at_parked(now);
            }
        }
    }

    /// A send that was taken in is complete now: if nothing is left to do, that is written; if all that is
    /// left waits for later, it leaves again.
    pub(in crate::engine::channel::machine) fn settle_down(&mut self, send_id: Uuid) {
        if self.works.get_mut(&send_id).is_some_and(Work::settle_down) {
            self.moved.insert(send_id);
        }
    }

    /// The sends of which messages that wait in the store are due and must be read.
    /// Those of templates only when `templates` may go.
    pub(in crate::engine::channel::machine) fn unparks(
        &mut self,
        now: Timestamp,
        templates: bool,
    ) -> Vec<Uuid> {
        let Self { parked, works, .. } = self;
        let may = |work: &Work| templates || work.template.is_none();
        let is_due = |id: &&Uuid| works.get_mut(*id).is_some_and(|work| may(work) && work.unpark(now));
        parked.iter().filter(is_due).copied().collect()
    }

    /// Messages of a send were read: so many wait here now, the others in the store until `due`.
    pub(in crate::engine::channel::machine) fn unparked(
        &mut self,
        send_id: Uuid,
        found: u64,
        later: u64,
        due: Timestamp,
    ) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.unparked(found, later, due);
        }
        self.settle_down(send_id);
    }

    /// A message of the send was put back for this reason.
    pub(in crate::engine::channel::machine) fn hold_back(&mut self, send_id: Uuid, reason: Reason) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.held_by = Some(reason);
        }
    }

    /// What all that is left of a send waits for, and until when the first of it does; `None` while something of it can be handed out.
    pub(in crate::engine::channel::machine) fn held_back(
        &self,
        send_id: Uuid,
        (now, wall): (Instant, Timestamp),
    ) -> Option<(Reason, Timestamp)> {
        let goes_next = self.again.iter().any(|ticket| ticket.send_id == send_id);
        let work = self.works.get(&send_id).filter(|work| !work.has_more() && !goes_next)?;
        let here = self.waiting.first_due(send_id);
        let here = here.map(|due| wall.plus(due.saturating_duration_since(now)));
        let until = [here, work.parked_due()].into_iter().flatten().min()?;
        Some((work.held_by.unwrap_or(Reason::Retry), until))
    }

    /// When the first message that waits in the store is due; of templates only when `templates` may go.
    pub(in crate::engine::channel::machine) fn next_unpark(&self, templates: bool) -> Option<Timestamp> {
        let works = self.parked.iter().filter_map(|id| self.works.get(id));
        works.filter(|work| templates || work.template.is_none()).filter_map(Work::parked_due).min()
    }
}
