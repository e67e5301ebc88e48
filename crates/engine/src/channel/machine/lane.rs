//! One lane: sends of one size, in the order in which they take their turns.
//!
//! It holds a bounded number of sends. The others wait in the store, and the lane knows whether there may be any.

use std::collections::VecDeque;

use uuid::Uuid;

use super::waiting::Waiting;
use super::work::Ticket;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) order: VecDeque<Uuid>,
    /// Messages that wait for a retry.
    pub(super) waiting: Waiting,
    /// Messages that may be retried now: their announcement is durable.
    pub(super) again: VecDeque<Ticket>,
    bound: usize,
    /// The store may hold sends that are not here.
    behind: bool,
    /// A send was left in the store since the last read began.
    missed: bool,
}

impl Lane {
    /// An empty lane; the store may hold sends for it.
    pub(super) fn new(bound: usize) -> Self {
        let (waiting, again) = (Waiting::default(), VecDeque::new());
        Self { order: VecDeque::new(), waiting, again, bound, behind: true, missed: false }
    }

    /// Whether a newly accepted send may be held here. If not, it stays in the store, and so do the sends after it,
    /// which keeps their order.
    pub(super) fn admits(&mut self) -> bool {
        self.behind |= self.order.len() >= self.bound;
        self.missed |= self.behind;
        !self.behind
    }

    /// How many sends to fetch from the store now; `None` when it holds no more, or there is too little room to be
    /// worth a read. `held` gives the number of sends here, in the order or not.
    pub(super) fn room(&self, held: impl FnOnce() -> usize) -> Option<usize> {
        if !self.behind || self.order.len() > self.bound / 2 {
            return None;
        }
        let held = held().max(self.order.len());
        (held <= self.bound / 2).then(|| self.bound - held)
    }

    /// The store changed: it may have sends that can go now.
    pub(super) const fn look_again(&mut self) {
        self.behind = true;
        self.missed = true;
    }

    /// A read of the store begins.
    pub(super) const fn look(&mut self) {
        self.missed = false;
    }

    /// The read found all sends of the store. It may have missed a send that was left in the store meanwhile: then
    /// there is another read.
    pub(super) const fn caught_up(&mut self) {
        self.behind = self.missed;
    }
}
