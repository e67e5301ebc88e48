//! Places that many share, and the line of those who wait for some.
//!
//! Who had least stands first, by start-time fair queueing (P. Goyal, H. Vin, H. Cheng, 1996): a grant begins at the
//! later of the line's virtual time and the end of the sharer's grant before; the line's time is when the last grant
//! began. One who comes back late for its next turn so takes it before the others' next, and loses nothing; one
//! who wanted nothing for a while saves nothing up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::planted::{Fault, is_planted};

pub(crate) struct FairLine(Mutex<Line>);

struct Line {
    free: usize,
    /// Virtual time, in places granted to one sharer.
    time: u64,
    arrivals: u64,
    /// By when their grant begins in virtual time, then by arrival.
    waiting: BTreeMap<(u64, u64), Waiter>,
}

struct Waiter {
    places: usize,
    turn: oneshot::Sender<Grant>,
}

/// What one sharer had: when its last grant ends in virtual time.
#[derive(Debug, Default)]
pub(crate) struct Share(u64);

/// The wait of one who stands in line. Dropped, it leaves the line.
pub(crate) struct Turn(oneshot::Receiver<Grant>);

impl Turn {
    /// The places, once the turn comes; `None` when the line is gone.
    pub(crate) async fn come(self) -> Option<Grant> {
        self.0.await.ok()
    }

    /// The places, if the turn came.
    #[cfg(any(test, feature = "universe"))]
    pub(crate) fn try_take(&mut self) -> Option<Grant> {
        self.0.try_recv().ok()
    }
}

/// Places that a turn brought. They go back unless they are taken.
pub(crate) struct Grant {
    line: Arc<FairLine>,
    places: usize,
}

impl Grant {
    /// Takes the places; the caller gives them back by [`FairLine::give_back`].
    pub(crate) fn take(mut self) -> usize {
        std::mem::take(&mut self.places)
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.places > 0 {
            self.line.give_back(self.places);
        }
    }
}

impl FairLine {
    /// So many places, all of them free.
    pub(crate) fn new(places: usize) -> Arc<Self> {
        let line = Line { free: places, time: 0, arrivals: 0, waiting: BTreeMap::new() };
        Arc::new(Self(Mutex::new(line)))
    }

    /// Takes a free place, unless somebody stands in line.
    pub(crate) fn take(&self, share: &mut Share) -> bool {
        let mut line = self.line();
        let is_free = line.free > 0 && (line.waiting.is_empty() || is_planted(Fault::LineJumped));
        if is_free {
            line.free -= 1;
            line.time = share.begin(line.time, 1);
        }
        is_free
    }

    /// Stands in line for so many places, which come all at once.
    pub(crate) fn stand(self: &Arc<Self>, share: &mut Share, places: usize) -> Turn {
        let (turn, granted) = oneshot::channel();
        let mut line = self.line();
        line.arrivals += 1;
        let place = (share.begin(line.time, places), line.arrivals);
        line.waiting.insert(place, Waiter { places, turn });
        self.serve(&mut line);
        Turn(granted)
    }

    /// The first in line has these next.
    pub(crate) fn give_back(self: &Arc<Self>, places: usize) {
        let mut line = self.line();
        line.free += places;
        self.serve(&mut line);
    }

    fn serve(self: &Arc<Self>, line: &mut Line) {
        while let Some(first) = line.waiting.first_entry().filter(|first| first.get().places <= line.free) {
            let ((begins, _), Waiter { places, turn }) = first.remove_entry();
            line.free -= places;
            match turn.send(Grant { line: Arc::clone(self), places }) {
                Ok(()) => line.time = line.time.max(begins),
                // It left the line. Taken, or it would go back through the lock that is held here.
                Err(grant) => line.free += grant.take(),
            }
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(any(test, feature = "universe"))]
    pub(crate) fn free(&self) -> usize {
        self.line().free
    }
}

impl Share {
    /// So many places of its last grant were not used: they do not count as had.
    pub(crate) const fn refund(&mut self, places: usize) {
        self.0 = self.0.saturating_sub(places as u64);
    }

    /// When a grant of so many places begins, if the line's time is `time`.
    fn begin(&mut self, time: u64, places: usize) -> u64 {
        let begins = self.0.max(time);
        self.0 = begins + places as u64;
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_taken_unless_somebody_stands_in_line() {
        let line = FairLine::new(2);
        let mut shares = [Share::default(), Share::default()];
        assert!(line.take(&mut shares[0]));
        let mut turn = line.stand(&mut shares[1], 2);
        assert!(!line.take(&mut shares[0]), "one is free, and it is spoken for");
        assert!(turn.try_take().is_none(), "they come all at once");
        line.give_back(1);
        assert_eq!((turn.try_take().unwrap().take(), line.free()), (2, 0));
    }

    #[test]
    fn who_leaves_the_line_loses_nothing_for_the_others() {
        let line = FairLine::new(0);
        let mut shares = [Share::default(), Share::default(), Share::default()];
        let [left, late, mut last] = [0, 1, 2].map(|sharer| line.stand(&mut shares[sharer], 1));
        drop(left);
        line.give_back(1);
        assert!(last.try_take().is_none());
        drop(late);
        assert_eq!(last.try_take().unwrap().take(), 1, "granted already, and not taken");
        assert_eq!(line.free(), 0);
    }

    #[test]
    fn who_comes_back_late_goes_before_those_who_had_their_turn_since() {
        let line = FairLine::new(0);
        let mut shares = [Share::default(), Share::default(), Share::default()];
        let mut first = line.stand(&mut shares[0], 4);
        let mut second = line.stand(&mut shares[1], 4);
        line.give_back(8);
        assert!(first.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(second.try_take().is_some_and(|grant| grant.take() == 4));
        // The second stands in line at once, twice over; the first a little later, and one who never did.
        let mut second = line.stand(&mut shares[1], 4);
        let mut first = line.stand(&mut shares[0], 4);
        line.give_back(4);
        assert!(second.try_take().is_some_and(|grant| grant.take() == 4));
        let mut second = line.stand(&mut shares[1], 4);
        let mut third = line.stand(&mut shares[2], 4);
        line.give_back(8);
        assert!(first.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(third.try_take().is_some_and(|grant| grant.take() == 4));
        assert!(second.try_take().is_none(), "it had two turns already");
        line.give_back(4);
        assert!(second.try_take().is_some());
    }

    #[test]
    fn who_wanted_nothing_for_a_while_saves_nothing_up() {
        let line = FairLine::new(100);
        let mut shares = [Share::default(), Share::default()];
        for _ in 0..100 {
            assert!(line.take(&mut shares[0]));
        }
        let mut turns: Vec<_> = [0, 1, 0, 1].map(|sharer| line.stand(&mut shares[sharer], 1)).into();
        line.give_back(2);
        let served: Vec<bool> =
            turns.iter_mut().map(|turn| turn.try_take().is_some_and(|grant| grant.take() == 1)).collect();
        assert_eq!(served.iter().filter(|served| **served).count(), 2);
        assert!(served[1], "and is not behind either");
        assert!(!served[3], "its second turn is not before the other's first");
    }
}
