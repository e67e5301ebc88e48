//! One lane: sends of one size, in the order in which they take their turns.
//!
//! It holds a bounded number of them; the others wait in the store, and the lane knows whether there may be
//! some.

use std::collections::VecDeque;

use uuid::Uuid;

use super::waiting::Waiting;
use super::work::Ticket;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) order: VecDeque<Uuid>,
    /// Messages that wait to be tried again.
    pub(super) waiting: Waiting,
    /// Messages that may be tried again now: that they are is durable.
    pub(super) again: VecDeque<Ticket>,
    bound: usize,
    /// The store may hold sends that are not here.
    behind: bool,
    /// A send was left to the store since the last look there began.
    missed: bool,
}

impl Lane {
    /// An empty lane; the store may hold sends for it.
    pub(super) fn new(bound: usize) -> Self {
        let (waiting, again) = (Waiting::default(), VecDeque::new());
        Self { order: VecDeque::new(), waiting, again, bound, behind: true, missed: false }
    }

    /// Whether a newly accepted send may be held now; if not, it is left in the store, and so are those
    /// after it, which keeps their order.
    pub(super) fn admits(&mut self) -> bool {
        self.behind |= self.order.len() >= self.bound;
        self.missed |= self.behind;
        !self.behind
    }

    /// How many sends should be fetched from the store now; `None` when it holds no more or there is too
    /// little room to be worth asking. `held` says how many are here, in the order or not.
    pub(super) fn room(&self, held: impl FnOnce() -> usize) -> Option<usize> {
        if !self.behind || self.order.len() > self.bound / 2 {
            return None;
        }
        let held = held().max(self.order.len());
        (held <= self.bound / 2).then(|| self.bound - held)
    }

    /// Something changed in the store: there may be sends that can go now.
    pub(super) const fn look_again(&mut self) {
        self.behind = true;
        self.missed = true;
    }

    /// A look into the store begins.
    pub(super) const fn look(&mut self) {
        self.missed = false;
    }

    /// The look found all that the store holds. A send that was left to it meanwhile may not have been
    /// among them: then there is another look.
    pub(super) const fn caught_up(&mut self) {
        self.behind = self.missed;
    }
}
