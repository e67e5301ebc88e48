//! Spaces out requests other than messages: probes of numbers, lists of templates, and the starts of web sessions.
//!
//! Each channel asks the provider on a schedule of its own, and all channels ask when the process starts. The pacer
//! gives each its own moment, one after the other, so that ten thousand channels that start together do not ask at the
//! same time. Messages have limits of their own and do not pass through here. The nodes of a cluster share the pace in
//! equal parts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub(crate) struct Pacer {
    /// The time between two turns of all nodes together.
    interval: Duration,
    /// How many nodes share the pace.
    nodes: AtomicU32,
    /// How far in the past a turn may lie: after a rest, as many turns as this span has come at once.
    rest: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pacer {
    /// A pacer of `each_second` turns a second. After a rest, as many may come at once.
    pub(crate) fn each_second(each_second: u32) -> Self {
        let rest = Duration::from_secs(1);
        Self { interval: rest / each_second.max(1), nodes: AtomicU32::new(1), rest, next: Mutex::new(None) }
    }

    /// From now on this many nodes share the pace. Turns that were taken keep their times.
    pub(crate) fn share(&self, nodes: u32) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Takes the next turn. Returns how long until it comes.
    pub(crate) fn turn(&self, now: Instant) -> Duration {
        let mut next = self.next.lock();
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
        let (pacer, now) = (Pacer::each_second(50), Instant::now() + Duration::from_secs(60));
        let waits: Vec<_> = (0..150).map(|_| pacer.turn(now)).collect();
        assert!(waits[..50].iter().all(Duration::is_zero), "{waits:?}");
        assert_eq!(waits[50], Duration::from_millis(20));
        assert_eq!(waits[149], Duration::from_secs(2));
        assert_eq!(pacer.turn(now + Duration::from_secs(1)), Duration::from_millis(1_020));
        assert!(pacer.turn(now + Duration::from_secs(9)).is_zero(), "after a rest");
    }

    #[test]
    fn the_paces_of_all_nodes_together_are_the_pace_of_one() {
        let now = Instant::now() + Duration::from_secs(60);
        let within = |nodes: u32, span: Duration| {
            let pacers = (0..nodes).map(|_| Pacer::each_second(60));
            let turns = pacers.map(|pacer| {
                pacer.share(nodes);
                (0..300).filter(|_| pacer.turn(now) <= span).count()
            });
            turns.sum::<usize>()
        };
        for nodes in [1, 2, 3] {
            assert_eq!([0, 1, 3].map(|seconds| within(nodes, Duration::from_secs(seconds))), [60, 120, 240]);
        }
    }

    #[test]
    fn a_node_that_goes_leaves_its_part_to_the_others() {
        let (pacer, now) = (Pacer::each_second(50), Instant::now() + Duration::from_secs(60));
        pacer.share(2);
        let waits: Vec<_> = (0..26).map(|_| pacer.turn(now)).collect();
        assert_eq!((waits[24], waits[25]), (Duration::ZERO, Duration::from_millis(40)));
        pacer.share(1);
        assert_eq!(pacer.turn(now), Duration::from_millis(60));
    }
}
