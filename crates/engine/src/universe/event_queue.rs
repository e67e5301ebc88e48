//! The queue of future events, in the order of virtual time; events of the same time in the order in which they were
//! planned.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct EventQueue<E> {
    entries: BinaryHeap<Reverse<Entry<E>>>,
    planned: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Duration,
    order: u64,
    event: E,
}

impl<E> EventQueue<E> {
    pub(super) const fn new() -> Self {
        Self { entries: BinaryHeap::new(), planned: 0 }
    }

    /// Plans `event`.
    pub(super) fn plan(&mut self, at: Duration, event: E) {
        self.planned += 1;
        self.entries.push(Reverse(Entry { at, order: self.planned, event }));
    }

    /// The next event, and when it is.
    pub(super) fn next(&mut self) -> Option<(Duration, E)> {
        self.entries.pop().map(|Reverse(Entry { at, event, .. })| (at, event))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_time_happen_in_the_order_of_planning() {
        let mut event_queue = EventQueue::new();
        for (at, event) in [(2, 'c'), (1, 'a'), (2, 'd'), (1, 'b')] {
            event_queue.plan(Duration::from_secs(at), event);
        }
        let order: String = std::iter::from_fn(|| event_queue.next()).map(|(_, event)| event).collect();
        assert_eq!(order, "abcd");
    }
}
