//! The lanes: the order in which a channel takes work from its sends.
//!
//! Sends with one recipient go first, in the order of their arrival; then bulk sends, taking turns, a message each.
//! Within each size, due retries go before new messages. A bounded number of sends is held; the others wait in the
//! store, and [`Lanes::room`] says when there is room for them. A send that may not go, or only waits for a later time,
//! leaves the lanes, so that another send has its room.

mod again;
mod leaving;
mod parked;
mod passing;
mod queued;

use std::collections::HashSet;

use uuid::Uuid;

use self::parked::Parked;
pub(super) use self::passing::PassedOver;
use self::queued::Queued;
use super::lane::Lane;
use super::map::{Map, Set};
use super::work::{Leave, Ticket, Work};
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::send::Mark;
use store::sends::Size;

/// Bounds on the sends and messages that a channel holds in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) direct: usize,
    pub(super) bulk: usize,
    /// Once this many messages of a lane wait because of trouble at the provider, the lane hands out no new ones. Once
    /// twice as many messages of both lanes wait for any reason, a message without such trouble waits in the store.
    pub(super) deferred: usize,
    /// The number of messages of each lane that are reserved ahead.
    pub(super) ahead: u64,
}

#[derive(Debug)]
pub(super) struct Lanes {
    bounds: Bounds,
    works: Map<Uuid, Work>,
    direct: Lane,
    bulk: Lane,
    /// How many sends at the front of the direct lane are reserved, or will be with the next mark.
    direct_requested: usize,
    /// The count of messages of bulk sends that were not handed out.
    queued: Queued,
    /// The messages in the machine that have a row in the ledger and are not over.
    recorded: Set<Key>,
    /// Sends whose mark moved since it was last written.
    moved: Set<Uuid>,
    parked: Parked,
    /// Bulk sends rest, as the tier's quiet hours want it.
    pub(super) is_quiet: bool,
    /// No send here expires before this time.
    next_expiry: Option<Timestamp>,
}

impl Lanes {
    /// Empty lanes; the store may hold sends of both sizes.
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            works: Map::default(),
            direct: Lane::new(bounds.direct),
            bulk: Lane::new(bounds.bulk),
            direct_requested: 0,
            queued: Queued::default(),
            recorded: Set::default(),
            moved: Set::default(),
            parked: Parked::default(),
            is_quiet: false,
            next_expiry: None,
        }
    }

    /// Sets how many messages are reserved ahead.
    pub(super) const fn set_ahead(&mut self, ahead: u64) {
        self.bounds.ahead = ahead;
    }

    /// Whether the send is here.
    pub(super) fn holds(&self, send_id: Uuid) -> bool {
        self.works.contains_key(&send_id)
    }

    /// The sends of this size that are here.
    pub(super) fn held(&self, size: Size) -> HashSet<Uuid> {
        let direct = size == Size::Direct;
        self.works.values().filter(|work| work.is_direct() == direct).map(|work| work.id).collect()
    }

    /// Whether a newly accepted send may be held now; if not, it is left in the store.
    pub(super) fn admits(&mut self, size: Size) -> bool {
        self.lane(size).admits()
    }

    /// How many sends to fetch from the store now, if any.
    pub(super) fn room(&mut self, size: Size) -> Option<usize> {
        let Self { works, direct, bulk, .. } = self;
        let held = || works.values().filter(|work| self::size(work) == size).count();
        match size {
            Size::Direct => direct.room(held),
            Size::Bulk => bulk.room(held),
        }
    }

    /// A read of the store begins.
    pub(super) const fn look(&mut self, size: Size) {
        self.lane(size).look();
    }

    /// The read found all sends of the store.
    pub(super) const fn caught_up(&mut self, size: Size) {
        self.lane(size).caught_up();
    }

    /// Sends that waited in the store may be able to go now.
    pub(super) const fn look_again(&mut self) {
        self.direct.look_again();
        self.bulk.look_again();
    }

    /// Takes a send in, unless it is here already.
    pub(super) fn add(&mut self, work: Work) {
        if self.holds(work.id) {
            return;
        }
        if let Some(expires_at) = work.expires_at {
            self.next_expiry = Some(self.next_expiry.map_or(expires_at, |next| next.min(expires_at)));
        }
        if work.has_more() {
            self.lane(size(&work)).order.push_back(work.id);
        } else {
            self.moved.insert(work.id);
        }
        self.queued.count(&work);
        self.works.insert(work.id, work);
    }

    /// Drops sends that are no longer in the store.
    pub(super) fn forget(&mut self, gone: &[Uuid]) {
        for id in gone {
            self.works.remove(id).iter().for_each(|work| self.queued.discount(work));
            self.parked.remove(*id);
            self.moved.remove(id);
        }
        if !gone.is_empty() {
            self.recorded.retain(|key| !gone.contains(&key.send_id));
            self.forget_again(gone);
            self.reorder();
        }
    }

    /// Removes sends that leave or are gone from the lanes' order.
    fn reorder(&mut self) {
        let Self { works, direct, bulk, direct_requested, .. } = self;
        let stays = |id: &Uuid| works.get(id).is_some_and(|work| work.leaving().is_none());
        let requested = direct.order.iter().take(*direct_requested);
        *direct_requested = requested.filter(|id| stays(id)).count();
        direct.order.retain(stays);
        bulk.order.retain(stays);
    }

    /// Counts a message of the send that was not handed out here.
    pub(super) fn count(&mut self, send_id: Uuid) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.resume();
        }
    }

    /// Whether the message is a template message.
    pub(super) fn is_template(&self, ticket: &Ticket) -> bool {
        self.works.get(&ticket.send_id).is_some_and(|work| work.template.is_some())
    }

    /// Whether the message is in the machine and has a row in the ledger.
    pub(super) fn is_recorded(&self, key: Key) -> bool {
        self.recorded.contains(&key)
    }

    /// Whether [`Lanes::take`] would hand out a message.
    pub(super) fn is_ready(&mut self) -> bool {
        self.has_again() || (!self.is_troubled(Size::Direct) && self.direct_ready()) || self.starts_bulk()
    }

    /// Hands out the next message.
    pub(super) fn take(&mut self) -> Option<Ticket> {
        if let Some(ticket) = self.take_again(Size::Direct) {
            return Some(ticket);
        }
        let is_starved = is_planted(Fault::LaneStarved) && self.starts_bulk();
        if !self.is_troubled(Size::Direct) && self.direct_ready() && !is_starved {
            let id = self.direct.order.pop_front()?;
            self.direct_requested = self.direct_requested.saturating_sub(1);
            return self.works.get_mut(&id)?.take();
        }
        if let Some(ticket) = if self.is_quiet { None } else { self.take_again(Size::Bulk) } {
            return Some(ticket);
        }
        if !self.starts_bulk() {
            return None;
        }
        let id = self.bulk.order.pop_front()?;
        let work = self.works.get_mut(&id)?;
        let ticket = work.take();
        self.queued.less(1);
        match work.has_more() {
            true if is_planted(Fault::TurnKept) => self.bulk.order.push_front(id),
            true => self.bulk.order.push_back(id),
            false => {}
        }
        ticket
    }

    /// The sends here.
    pub(super) fn works(&self) -> impl Iterator<Item = &Work> {
        self.works.values()
    }

    /// The send of a ticket.
    pub(super) fn work(&self, send_id: Uuid) -> Option<&Work> {
        self.works.get(&send_id)
    }

    /// A row for the ticket will be written; `over` when it is not retried.
    pub(super) fn settle(&mut self, ticket: Ticket, over: bool) {
        if over {
            self.over(ticket.key());
        } else if let Some(work) = self.works.get_mut(&ticket.send_id) {
            work.settle(ticket.ordinal, false);
            self.moved.insert(ticket.send_id);
        }
    }

    fn over(&mut self, key: Key) {
        let had_row = !self.recorded.is_empty() && self.recorded.remove(&key);
        if let Some(work) = self.works.get_mut(&key.send_id) {
            self.parked.leave(key, had_row, work);
            work.settle(key.ordinal, true);
            self.moved.insert(key.send_id);
        }
    }

    /// Takes the marks that moved, to write them; they count as written from now on.
    pub(super) fn marks(&mut self) -> Vec<Mark> {
        let Self { moved, works, parked, .. } = self;
        parked.begin_record();
        moved.drain().filter_map(|id| works.get(&id).map(Work::mark)).collect()
    }

    /// Whether a mark moved since it was last written.
    pub(super) fn has_marks(&self) -> bool {
        !self.moved.is_empty()
    }

    /// Whether a send with one recipient waits for its mark, or nothing may start here before the next marks are
    /// durable.
    pub(super) fn awaits_marks(&mut self) -> bool {
        (!self.direct.order.is_empty() && !self.direct_ready()) || !self.is_ready()
    }

    /// These marks are durable. Returns the sends that are gone from here.
    pub(super) fn written(&mut self, marks: &[Mark]) -> Vec<Uuid> {
        self.parked.end_record(&self.works);
        let mut gone = Vec::new();
        for Mark { send_id, progress, .. } in marks {
            let Some(work) = self.works.get_mut(send_id) else { continue };
            if !work.is_done_here() || self.moved.contains(send_id) {
                work.reserve(*progress);
                continue;
            }
            let (is_held, size) = (work.leaving() == Some(Leave::Held), size(work));
            self.works.remove(send_id);
            self.parked.remove(*send_id);
            // The hold may have ended before the send was gone.
            if is_held {
                self.lane(size).look_again();
            }
            gone.push(*send_id);
        }
        gone
    }

    /// The parts of recipient lists to read now, each as send and ordinal.
    pub(super) fn loads(&mut self) -> Vec<(Uuid, u64)> {
        let Self { bulk, works, .. } = self;
        bulk.order.iter().filter_map(|id| Some((*id, works.get_mut(id)?.load()?))).collect()
    }

    /// Recipients that were read; empty when the read failed.
    pub(super) fn loaded(&mut self, send_id: Uuid, from: u64, numbers: &[PhoneNumber]) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.loaded(from, numbers);
        }
    }

    const fn lane(&mut self, size: Size) -> &mut Lane {
        match size {
            Size::Direct => &mut self.direct,
            Size::Bulk => &mut self.bulk,
        }
    }

    /// Whether a new message of a bulk send can be handed out.
    fn starts_bulk(&mut self) -> bool {
        !self.is_quiet && !self.is_troubled(Size::Bulk) && self.bulk_ready()
    }

    /// The first send with one recipient waits for its mark at most as long as one write takes; the others
    /// behind it wait with it.
    fn direct_ready(&self) -> bool {
        self.direct.order.front().and_then(|id| self.works.get(id)).is_some_and(Work::is_ready)
    }

    /// Turns the bulk lane until a send that is ready is first.
    fn bulk_ready(&mut self) -> bool {
        for _ in 0..self.bulk.order.len() {
            if self.bulk.order.front().and_then(|id| self.works.get(id)).is_some_and(Work::is_ready) {
                return true;
            }
            self.bulk.order.rotate_left(1);
        }
        false
    }
}

/// Which lane a send belongs to.
const fn size(work: &Work) -> Size {
    if work.is_direct() { Size::Direct } else { Size::Bulk }
}

#[cfg(test)]
mod tests;
