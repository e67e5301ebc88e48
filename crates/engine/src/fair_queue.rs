//! Permits that several sharers use, and the queue of the sharers that wait for some.
//!
//! The sharer that had the fewest permits is first, by start-time fair queueing (P. Goyal, H. Vin, H. Cheng, 1996): a
//! grant begins at the later of the queue's virtual time and the end of the sharer's previous grant; the queue's time
//! is when the last grant began. So a sharer that queues late for its next turn gets it before the next turns of the
//! others, and loses nothing. A sharer that wanted nothing for a while saves nothing up.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::planted::{Fault, is_planted};

pub(crate) struct FairQueue(Mutex<State>);

struct State {
    free: usize,
    /// Virtual time, in permits granted to one sharer.
    time: u64,
    arrivals: u64,
    /// Ordered by when their grant begins in virtual time, then by arrival.
    waiting: BTreeMap<(u64, u64), Waiter>,
}

struct Waiter {
    permits: usize,
    turn: oneshot::Sender<Grant>,
}

/// A sharer's account: when its last grant ends in virtual time.
#[derive(Debug, Default)]
pub(crate) struct Share(u64);

/// The wait of a sharer in the queue. When it is dropped, the sharer leaves the queue.
pub(crate) struct Turn(oneshot::Receiver<Grant>);

impl Turn {
    /// The permits, once the turn comes; `None` when the queue is gone.
    pub(crate) async fn come(self) -> Option<Grant> {
        self.0.await.ok()
    }

    /// The permits, if the turn came.
    #[cfg(any(test, feature = "universe"))]
    pub(crate) fn try_take(&mut self) -> Option<Grant> {
        self.0.try_recv().ok()
    }
}

/// Permits that a turn brought. They go back unless they are taken.
pub(crate) struct Grant {
    queue: Arc<FairQueue>,
    permits: usize,
}

impl Grant {
    /// Takes the permits; the caller gives them back by [`FairQueue::give_back`].
    pub(crate) fn take(mut self) -> usize {
        std::mem::take(&mut self.permits)
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.queue.give_back(self.permits);
        }
    }
}

impl FairQueue {
    /// A queue with this many permits, all of them free.
    pub(crate) fn new(permits: usize) -> Arc<Self> {
        let state = State { free: permits, time: 0, arrivals: 0, waiting: BTreeMap::new() };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Takes a free permit, unless a sharer waits in the queue.
    pub(crate) fn take(&self, share: &mut Share) -> bool {
        let mut state = self.0.lock();
        let is_free = state.free > 0 && (state.waiting.is_empty() || is_planted(Fault::LineJumped));
        if is_free {
            state.free -= 1;
            state.time = share.begin(state.time, 1);
        }
        is_free
    }

    /// Waits in the queue for this many permits, which come all at once.
    pub(crate) fn enqueue(self: &Arc<Self>, share: &mut Share, permits: usize) -> Turn {
        let (turn, granted) = oneshot::channel();
        let mut state = self.0.lock();
        state.arrivals += 1;
        let place = (share.begin(state.time, permits), state.arrivals);
        state.waiting.insert(place, Waiter { permits, turn });
        self.serve(&mut state);
        Turn(granted)
    }

    /// Gives permits back: the first in the queue has them next.
    pub(crate) fn give_back(self: &Arc<Self>, permits: usize) {
        let mut state = self.0.lock();
        state.free += permits;
        self.serve(&mut state);
    }

    fn serve(self: &Arc<Self>, state: &mut State) {
        while let Some(first) = state.waiting.first_entry().filter(|first| first.get().permits <= state.free)
        {
            let ((begins, _), Waiter { permits, turn }) = first.remove_entry();
            state.free -= permits;
            match turn.send(Grant { queue: Arc::clone(self), permits }) {
                Ok(()) => state.time = state.time.max(begins),
                // The sharer left the queue. The grant is taken: dropped, it would wait for the lock that is held here.
                Err(grant) => state.free += grant.take(),
            }
        }
    }

    #[cfg(any(test, feature = "universe"))]
    pub(crate) fn free(&self) -> usize {
        self.0.lock().free
    }
}

impl Share {
    /// Takes this many unused permits of its last grant off its share.
    pub(crate) const fn refund(&mut self, permits: usize) {
        self.0 = self.0.saturating_sub(permits as u64);
    }

    /// When a grant of this many permits begins, if the queue's time is `time`.
    fn begin(&mut self, time: u64, permits: usize) -> u64 {
        let begins = self.0.max(time);
        self.0 = begins + permits as u64;
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_permit_is_taken_unless_a_sharer_waits_in_the_queue() {
        let queue = FairQueue::new(2);
        let mut shares = [Share::default(), Share::default()];
        assert!(queue.take(&mut shares[0]));
        let mut turn = queue.enqueue(&mut shares[1], 2);
        assert!(!queue.take(&mut shares[0]), "one is free, and a sharer waits");
        assert!(turn.try_take().is_none(), "they come all at once");
        queue.give_back(1);
        assert_eq!((turn.try_take().unwrap().take(), queue.free()), (2, 0));
    }

    #[test]
    fn a_sharer_that_leaves_the_queue_takes_no_permit_with_it() {
        let queue = FairQueue::new(0);
        let mut shares = [Share::default(), Share::default(), Share::default()];
        let [left, late, mut last] = [0, 1, 2].map(|sharer| queue.enqueue(&mut shares[sharer], 1));
        drop(left);
        queue.give_back(1);
        assert!(last.try_take().is_none());
        drop(late);
        assert_eq!(last.try_take().unwrap().take(), 1, "granted already, and not taken");
        assert_eq!(queue.free(), 0);
    }

    #[test]
    fn a_sharer_that_comes_back_late_goes_before_those_that_had_their_turn_since() {
        let queue = FairQueue::new(0);
        let mut shares = [Share::default(), Share::default(), Share::default()];
        let mut first = queue.enqueue(&mut shares[0], 4);
        let mut second = queue.enqueue(&mut shares[1], 4);
        queue.give_back(8);
        assert!(first.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(second.try_take().is_some_and(|grant| grant.take() == 4));
        // The second sharer queues at once, and again after its turn. The first one queues a little later, and then one
        // that never did.
        let mut second = queue.enqueue(&mut shares[1], 4);
        let mut first = queue.enqueue(&mut shares[0], 4);
        queue.give_back(4);
        assert!(second.try_take().is_some_and(|grant| grant.take() == 4));
        let mut second = queue.enqueue(&mut shares[1], 4);
        let mut third = queue.enqueue(&mut shares[2], 4);
        queue.give_back(8);
        assert!(first.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(third.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(second.try_take().is_none(), "it had two turns already");
        queue.give_back(4);
        assert!(second.try_take().is_some());
    }

    #[test]
    fn a_sharer_that_wanted_nothing_for_a_while_saves_nothing_up() {
        let queue = FairQueue::new(100);
        let mut shares = [Share::default(), Share::default()];
        for _ in 0..100 {
            assert!(queue.take(&mut shares[0]));
        }
        let mut turns: Vec<_> = [0, 1, 0, 1].map(|sharer| queue.enqueue(&mut shares[sharer], 1)).into();
        queue.give_back(2);
        let served: Vec<bool> =
            turns.iter_mut().map(|turn| turn.try_take().is_some_and(|grant| grant.take() == 1)).collect();
        assert_eq!(served.iter().filter(|served| **served).count(), 2);
        assert!(served[1], "and is not behind either");
        assert!(!served[3], "its second turn is not before the other's first");
    }
}
