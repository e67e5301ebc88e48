//! The pace at which the process asks the provider how its numbers are and which templates there are.
//!
//! Each channel asks on a schedule of its own, and all of them when the process begins: this puts them one
//! after the other, so that ten thousand channels that begin together are no storm. Messages are not held up
//! by it: they have limits of their own. Each is told its own moment at once, unlike by the limiter of messages,
//! which would let all that wait ask again at the next. The nodes of a cluster share the pace in equal parts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Pace {
    /// Between two turns of all nodes.
    interval: Duration,
    /// How many nodes share the pace.
    nodes: AtomicU32,
    /// How far turns may lie in the past: so many may come at once after a rest.
    rest: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// `each_second` turns, and as many as a second has at once.
    pub(crate) fn each_second(each_second: u32) -> Self {
        let rest = Duration::from_secs(1);
        Self { interval: rest / each_second.max(1), nodes: AtomicU32::new(1), rest, next: Mutex::new(None) }
    }

    /// So many nodes share the pace from now on. Turns that were taken stay.
    pub(crate) fn share(&self, nodes: u32) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Takes the next turn: how long until it comes.
    pub(crate) fn turn(&self, now: Instant) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let rested = now.checked_sub(self.rest).unwrap_or(now);
        let interval = self.interval * self.nodes.load(Ordering::Relaxed);
        let turn = next.map_or(rested, |next| next.max(rested)) + interval;
        *next = Some(turn);
        turn.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_s_worth_comes_at_once_and_the_others_one_after_the_other() {
        let (pace, now) = (Pace::each_second(50), Instant::now() + Duration::from_secs(60));
        let waits: Vec<_> = (0..150).map(|_| pace.turn(now)).collect();
        assert!(waits[..50].iter().all(Duration::is_zero), "{waits:?}");
        assert_eq!(waits[50], Duration::from_millis(20));
        assert_eq!(waits[149], Duration::from_secs(2));
        assert_eq!(pace.turn(now + Duration::from_secs(1)), Duration::from_millis(1_020));
        assert!(pace.turn(now + Duration::from_secs(9)).is_zero(), "after a rest");
    }

    #[test]
    fn the_paces_of_all_nodes_together_are_the_pace_of_one() {
        let now = Instant::now() + Duration::from_secs(60);
        let within = |nodes: u32, span: Duration| {
            let paces = (0..nodes).map(|_| Pace::each_second(60));
            let turns = paces.map(|pace| {
                pace.share(nodes);
                (0..300).filter(|_| pace.turn(now) <= span).count()
            });
            turns.sum::<usize>()
        };
        for nodes in [1, 2, 3] {
            assert_eq!([0, 1, 3].map(|seconds| within(nodes, Duration::from_secs(seconds))), [60, 120, 240]);
        }
    }

    #[test]
    fn a_node_that_goes_leaves_its_part_to_the_others() {
        let (pace, now) = (Pace::each_second(50), Instant::now() + Duration::from_secs(60));
        pace.share(2);
        let waits: Vec<_> = (0..26).map(|_| pace.turn(now)).collect();
        assert_eq!((waits[24], waits[25]), (Duration::ZERO, Duration::from_millis(40)));
        pace.share(1);
        assert_eq!(pace.turn(now), Duration::from_millis(60));
    }
}
