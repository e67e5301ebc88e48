//! The lanes: the order in which a channel takes work from its sends.
//!
//! What is due to be tried again goes first, then sends with one recipient in the order of their arrival,
//! then bulk sends taking turns, a message each. A bounded number of sends is held; the others wait in the
//! store, and [`Lanes::room`] says when there is room for them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::Instant;

use uuid::Uuid;

use super::work::{Ticket, Work};
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Mark, Progress};
use crate::store::send::Size;

/// How many sends and messages a channel holds in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) direct: usize,
    pub(super) bulk: usize,
    /// Messages that wait to be tried again before no new ones are handed out.
    pub(super) deferred: usize,
    /// Messages of each lane that are reserved ahead.
    pub(super) ahead: u64,
}

/// Sends of one size, in the order in which they take their turns.
#[derive(Debug)]
struct Lane {
    order: VecDeque<Uuid>,
    bound: usize,
    /// The store may hold sends that are not here.
    behind: bool,
    /// A send was left to the store since the last look there began.
    missed: bool,
}

impl Lane {
    const fn new(bound: usize) -> Self {
        Self { order: VecDeque::new(), bound, behind: true, missed: false }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Lanes {
    bounds: Bounds,
    works: HashMap<Uuid, Work>,
    direct: Lane,
    bulk: Lane,
    /// How many at the front of the direct lane were reserved, or will be with the next mark.
    direct_requested: usize,
    /// By the moment when they are due, then by arrival.
    deferred: BinaryHeap<Reverse<(Instant, u64, Deferred)>>,
    arrivals: u64,
    /// Sends whose mark moved since it was last written.
    moved: HashSet<Uuid>,
}

/// A ticket that takes no part in the order of the heap.
#[derive(Debug, Clone, Copy)]
struct Deferred(Ticket);

impl PartialEq for Deferred {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Deferred {}

impl PartialOrd for Deferred {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Deferred {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Lanes {
    /// Empty lanes; the store may hold sends of both sizes.
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            works: HashMap::new(),
            direct: Lane::new(bounds.direct),
            bulk: Lane::new(bounds.bulk),
            direct_requested: 0,
            deferred: BinaryHeap::new(),
            arrivals: 0,
            moved: HashSet::new(),
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

    /// Whether a newly accepted send may be held now; if not, it is left in the store, and so are those
    /// after it, which keeps their order.
    pub(super) fn admits(&mut self, size: Size) -> bool {
        let lane = self.lane(size);
        lane.behind |= lane.order.len() >= lane.bound;
        lane.missed |= lane.behind;
        !lane.behind
    }

    /// How many sends should be fetched from the store now; `None` when it holds no more or there is too
    /// little room to be worth asking.
    pub(super) fn room(&mut self, size: Size) -> Option<usize> {
        let lane = self.lane(size);
        (lane.behind && lane.order.len() <= lane.bound / 2).then(|| lane.bound - lane.order.len())
    }

    /// A look into the store begins.
    pub(super) fn look(&mut self, size: Size) {
        self.lane(size).missed = false;
    }

    /// The look found all that the store holds. A send that was left to it meanwhile may not have been
    /// among them: then there is another look.
    pub(super) fn caught_up(&mut self, size: Size) {
        let lane = self.lane(size);
        lane.behind = lane.missed;
    }

    /// Takes a send in, unless it is here already.
    pub(super) fn add(&mut self, work: Work) {
        if self.holds(work.id) {
            return;
        }
        if work.has_more() {
            let size = if work.is_direct() { Size::Direct } else { Size::Bulk };
            self.lane(size).order.push_back(work.id);
        } else {
            self.moved.insert(work.id);
        }
        self.works.insert(work.id, work);
    }

    /// Reserves, with the next marks, the messages that are handed out next: so many as are allowed in all,
    /// for the direct lane and, in equal shares, for the bulk lane.
    pub(super) fn reserve_ahead(&mut self) {
        let Self { bounds, works, direct, bulk, direct_requested, moved, .. } = self;
        let ahead = usize::try_from(bounds.ahead).unwrap_or(usize::MAX);
        let wanted = direct.order.len().min(ahead);
        for id in direct.order.range((*direct_requested).min(wanted)..wanted) {
            if works.get_mut(id).is_some_and(|work| work.request(1)) {
                moved.insert(*id);
            }
        }
        *direct_requested = wanted.max(*direct_requested);
        let share = (bounds.ahead / (2 * bulk.order.len() as u64).max(1)).max(1);
        for id in &bulk.order {
            if works.get_mut(id).is_some_and(|work| work.request(share)) {
                moved.insert(*id);
            }
        }
    }

    /// Drops sends that are no longer in the store.
    pub(super) fn forget(&mut self, gone: &[Uuid]) {
        for id in gone {
            self.works.remove(id);
            self.moved.remove(id);
            if let Some(place) = self.direct.order.iter().position(|held| held == id) {
                self.direct.order.remove(place);
                self.direct_requested -= usize::from(place < self.direct_requested);
            }
            self.bulk.order.retain(|held| held != id);
            self.deferred.retain(|Reverse((_, _, Deferred(ticket)))| ticket.send_id != *id);
        }
    }

    /// Puts a message back until `due`.
    pub(super) fn defer(&mut self, ticket: Ticket, due: Instant) {
        self.arrivals += 1;
        self.deferred.push(Reverse((due, self.arrivals, Deferred(ticket))));
    }

    /// A message that was tried in an earlier life of the process waits until `due`.
    pub(super) fn resume(&mut self, ticket: Ticket, due: Instant) {
        self.count(ticket.send_id);
        self.defer(ticket, due);
    }

    /// One message of the send is out, though it was not handed out here.
    pub(super) fn count(&mut self, send_id: Uuid) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.resume();
        }
    }

    /// When the first message waiting to be tried again is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.deferred.peek().map(|Reverse((due, _, _))| *due)
    }

    /// Whether [`Lanes::take`] would hand out a message at `now`.
    pub(super) fn is_ready(&mut self, now: Instant) -> bool {
        if self.next_due().is_some_and(|due| due <= now) {
            return true;
        }
        if self.deferred.len() >= self.bounds.deferred {
            return false;
        }
        self.direct_ready() || self.bulk_ready()
    }

    /// Hands out the next message.
    pub(super) fn take(&mut self, now: Instant) -> Option<Ticket> {
        if self.next_due().is_some_and(|due| due <= now) {
            return self.deferred.pop().map(|Reverse((_, _, Deferred(ticket)))| ticket);
        }
        if self.deferred.len() >= self.bounds.deferred {
            return None;
        }
        if self.direct_ready() {
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

    /// The send of a ticket.
    pub(super) fn work(&self, send_id: Uuid) -> Option<&Work> {
        self.works.get(&send_id)
    }

    /// A row for the ticket will be written; `over` when it is not tried again.
    pub(super) fn settle(&mut self, ticket: Ticket, over: bool) {
        if let Some(work) = self.works.get_mut(&ticket.send_id) {
            work.settle(ticket.ordinal, over);
            self.moved.insert(ticket.send_id);
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

    /// These marks are durable. Returns the sends that are finished and gone from here.
    pub(super) fn written(&mut self, marks: &[Mark]) -> Vec<Uuid> {
        let mut finished = Vec::new();
        for Mark { send_id, progress, state, due_at: _ } in marks {
            if state.is_over() {
                self.works.remove(send_id);
                self.moved.remove(send_id);
                finished.push(*send_id);
            } else {
                self.reserve(*send_id, *progress);
            }
        }
        finished
    }

    fn reserve(&mut self, send_id: Uuid, progress: Progress) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.reserve(progress);
        }
    }

    /// Takes back, before a stop, what was reserved and not handed out.
    pub(super) fn release(&mut self) {
        for work in self.works.values_mut() {
            if work.release() {
                self.moved.insert(work.id);
            }
        }
        self.direct_requested = 0;
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

#[cfg(test)]
mod tests;
