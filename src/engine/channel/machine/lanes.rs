//! The lanes: the order in which a channel takes work from its sends.
//!
//! What is due to be tried again goes first, then sends with one recipient in the order of their arrival,
//! then bulk sends taking turns, a message each. A bounded number of sends is held; the others wait in the
//! store, and [`Lanes::room`] says when there is room for them. A send that may not go, or only waits for a
//! later moment, leaves: it takes no place that another could use.

mod leaving;
mod passing;

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use uuid::Uuid;

pub(super) use self::passing::PassedOver;
use super::lane::Lane;
use super::map::{Map, Set};
use super::waiting::Waiting;
use super::work::{Leave, Ticket, Work};
use crate::clock::Timestamp;
use crate::domain::message::Key;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::Mark;
use crate::engine::planted::{Fault, is_planted};
use crate::store::send::Size;

/// How many sends and messages a channel holds in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) direct: usize,
    pub(super) bulk: usize,
    /// Messages that wait because of trouble at the provider before no new ones are handed out; and how many
    /// may wait here at all.
    pub(super) deferred: usize,
    /// Messages of each lane that are reserved ahead.
    pub(super) ahead: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Lanes {
    bounds: Bounds,
    works: Map<Uuid, Work>,
    direct: Lane,
    bulk: Lane,
    /// How many at the front of the direct lane were reserved, or will be with the next mark.
    direct_requested: usize,
    waiting: Waiting,
    /// Messages that may be tried again now: that they are is durable.
    again: VecDeque<Ticket>,
    /// Messages here, wherever, that have a row in the ledger and are not over.
    recorded: Set<Key>,
    /// Sends whose mark moved since it was last written.
    moved: Set<Uuid>,
    /// Sends of which messages wait in the store, and perhaps some others.
    parked: Set<Uuid>,
    /// No send here expires before.
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
            waiting: Waiting::default(),
            again: VecDeque::new(),
            recorded: Set::default(),
            moved: Set::default(),
            parked: Set::default(),
            next_expiry: None,
        }
    }

    /// How many messages are reserved ahead from now on.
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

    /// How many sends should be fetched from the store now, if any.
    pub(super) fn room(&mut self, size: Size) -> Option<usize> {
        let Self { works, direct, bulk, .. } = self;
        let held = || works.values().filter(|work| self::size(work) == size).count();
        match size {
            Size::Direct => direct.room(held),
            Size::Bulk => bulk.room(held),
        }
    }

    /// A look into the store begins.
    pub(super) const fn look(&mut self, size: Size) {
        self.lane(size).look();
    }

    /// The look found all that the store holds.
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
        self.works.insert(work.id, work);
    }

    /// Messages of templates that may be handed out by their marks, those on their way to the store included, to
    /// people who take a slot.
    pub(super) fn marked_templates(&self, mut takes_slot: impl FnMut(PhoneNumber) -> bool) -> u64 {
        let templates = self.works.values().filter(|work| work.template.is_some());
        templates.map(|work| work.marked(&mut takes_slot)).sum()
    }

    /// Takes back the marks of templates that were not handed out.
    pub(super) fn take_back_templates(&mut self) {
        for work in self.works.values_mut().filter(|work| work.template.is_some()) {
            if work.release() {
                self.moved.insert(work.id);
            }
        }
        self.direct_requested = 0;
    }

    /// Drops sends that are no longer in the store.
    pub(super) fn forget(&mut self, gone: &[Uuid]) {
        for id in gone {
            self.works.remove(id);
            self.parked.remove(id);
            self.moved.remove(id);
            self.waiting.drain(*id);
        }
        if !gone.is_empty() {
            self.recorded.retain(|key| !gone.contains(&key.send_id));
            self.again.retain(|ticket| !gone.contains(&ticket.send_id));
            self.reorder();
        }
    }

    /// Takes the sends that leave, or are gone, out of the lanes' order.
    fn reorder(&mut self) {
        let Self { works, direct, bulk, direct_requested, .. } = self;
        let stays = |id: &Uuid| works.get(id).is_some_and(|work| work.leaving().is_none());
        let requested = direct.order.iter().take(*direct_requested);
        *direct_requested = requested.filter(|id| stays(id)).count();
        direct.order.retain(stays);
        bulk.order.retain(stays);
    }

    /// Puts a message back until `due`; `is_troubled` when the provider is in trouble, so that no more of
    /// the same are started. `false` when there is no room for it here: it waits in the store.
    pub(super) fn defer(&mut self, ticket: Ticket, due: Instant, is_troubled: bool) -> bool {
        if !is_troubled && self.waiting.len() >= 2 * self.bounds.deferred {
            return false;
        }
        self.recorded.insert(ticket.key());
        self.waiting.add(ticket, due, is_troubled);
        true
    }

    /// A message that waited in the store waits here until `due`, unless it is here already.
    pub(super) fn resume(&mut self, ticket: Ticket, due: Instant) -> bool {
        if self.recorded.contains(&ticket.key()) {
            return false;
        }
        self.count(ticket.send_id);
        self.recorded.insert(ticket.key());
        self.waiting.add(ticket, due, false);
        true
    }

    /// One message of the send is out, though it was not handed out here.
    pub(super) fn count(&mut self, send_id: Uuid) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.resume();
        }
    }

    /// The next message that waits and is due: that it is tried again has to be written first.
    pub(super) fn due(&mut self, now: Instant) -> Option<Ticket> {
        self.waiting.pop(now)
    }

    /// When the first message waiting here is due.
    pub(super) fn next_due(&mut self) -> Option<Instant> {
        self.waiting.next_due()
    }

    /// Messages that may be tried again now.
    pub(super) fn again_now(&self) -> impl Iterator<Item = &Ticket> {
        self.again.iter()
    }

    /// Whether the message is of a template.
    pub(super) fn is_template(&self, ticket: &Ticket) -> bool {
        self.works.get(&ticket.send_id).is_some_and(|work| work.template.is_some())
    }

    /// The message may be tried again now.
    pub(super) fn try_again(&mut self, ticket: Ticket) {
        self.again.push_back(ticket);
    }

    /// Whether the message is here, wherever, and has a row in the ledger.
    pub(super) fn is_recorded(&self, key: Key) -> bool {
        self.recorded.contains(&key)
    }

    /// The provider has the message after all. Whether it waited here; if so, it is over.
    pub(super) fn heard(&mut self, key: Key) -> bool {
        let place = self.again.iter().position(|ticket| ticket.key() == key);
        let waited = self.waiting.remove(key) || place.and_then(|place| self.again.remove(place)).is_some();
        if waited {
            self.over(key);
        }
        waited
    }

    /// How many messages may be tried again now.
    pub(super) fn again(&self) -> usize {
        self.again.len()
    }

    /// Whether [`Lanes::take`] would hand out a message.
    pub(super) fn is_ready(&mut self) -> bool {
        !self.again.is_empty() || (!self.is_troubled() && (self.direct_ready() || self.bulk_ready()))
    }

    /// Whether so many messages wait because of trouble at the provider that no new ones are started.
    pub(super) fn is_troubled(&self) -> bool {
        self.waiting.troubled() >= self.bounds.deferred
    }

    /// Hands out the next message.
    pub(super) fn take(&mut self) -> Option<Ticket> {
        if let Some(ticket) = self.again.pop_front() {
            return Some(ticket);
        }
        if self.is_troubled() {
            return None;
        }
        let is_starved = is_planted(Fault::LaneStarved) && self.bulk_ready();
        if self.direct_ready() && !is_starved {
            let id = self.direct.order.pop_front()?;
            self.direct_requested = self.direct_requested.saturating_sub(1);
            return self.works.get_mut(&id)?.take();
        }
        if !self.bulk_ready() {
            return None;
        }
        let id = self.bulk.order.pop_front()?;
        let work = self.works.get_mut(&id)?;
        let ticket = work.take();
        if work.has_more() {
            self.bulk.order.push_back(id);
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

    /// A row for the ticket will be written; `over` when it is not tried again.
    pub(super) fn settle(&mut self, ticket: Ticket, over: bool) {
        if over {
            self.over(ticket.key());
        } else if let Some(work) = self.works.get_mut(&ticket.send_id) {
            work.settle(ticket.ordinal, false);
            self.moved.insert(ticket.send_id);
        }
    }

    fn over(&mut self, key: Key) {
        if !self.recorded.is_empty() {
            self.recorded.remove(&key);
        }
        if let Some(work) = self.works.get_mut(&key.send_id) {
            work.settle(key.ordinal, true);
            self.moved.insert(key.send_id);
        }
    }

    /// The marks that moved, to be written; they count as written from now on.
    pub(super) fn marks(&mut self) -> Vec<Mark> {
        let Self { moved, works, .. } = self;
        moved.drain().filter_map(|id| works.get(&id).map(Work::mark)).collect()
    }

    /// Whether a mark moved since it was last written.
    pub(super) fn has_marks(&self) -> bool {
        !self.moved.is_empty()
    }

    /// These marks are durable. Returns the sends that are gone from here.
    pub(super) fn written(&mut self, marks: &[Mark]) -> Vec<Uuid> {
        let mut gone = Vec::new();
        for Mark { send_id, progress, .. } in marks {
            let Some(work) = self.works.get_mut(send_id) else { continue };
            if !work.is_done_here() || self.moved.contains(send_id) {
                work.reserve(*progress);
                continue;
            }
            let (is_held, size) = (work.leaving() == Some(Leave::Held), size(work));
            self.works.remove(send_id);
            self.parked.remove(send_id);
            // Whatever it left for may have changed before it was gone.
            if is_held {
                self.lane(size).look_again();
            }
            gone.push(*send_id);
        }
        gone
    }

    /// The stretches of recipients to read now, each as send and ordinal.
    pub(super) fn loads(&mut self) -> Vec<(Uuid, u64)> {
        let Self { bulk, works, .. } = self;
        bulk.order.iter().filter_map(|id| Some((*id, works.get_mut(id)?.load()?))).collect()
    }

    /// Recipients that were read; empty when that failed.
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

    /// The first send with one recipient waits for its mark at most as long as one write takes; the others
    /// behind it wait with it.
    fn direct_ready(&self) -> bool {
        self.direct.order.front().and_then(|id| self.works.get(id)).is_some_and(Work::is_ready)
    }

    /// Turns the bulk lane until a send that is ready stands first.
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
