//! Counts events for a quota of 24 hours: those that happened within them, and those that are about to happen.
//!
//! A key counts once, however often its event happens. A [`Slot`] is taken before the event, and gives itself back
//! unless the event happens.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

use clock::Timestamp;
use domain::tier::{QUOTA_SPAN, Quota};

/// Clones share the counts.
pub(crate) struct Window<K: Eq + Hash + Copy>(Arc<Mutex<WindowCounts<K>>>);

struct WindowCounts<K> {
    /// The past events, in the order of time.
    past: VecDeque<(Timestamp, K)>,
    /// The keys of `past`.
    happened: HashSet<K>,
    /// The number of slots of each key for events that have not happened.
    pending: HashMap<K, u32>,
}

impl<K: Eq + Hash + Copy> Window<K> {
    /// A window with these past events, in the order of time.
    pub(crate) fn new(past: Vec<(Timestamp, K)>) -> Self {
        let happened = past.iter().map(|(_, key)| *key).collect();
        Self(Arc::new(Mutex::new(WindowCounts { past: past.into(), happened, pending: HashMap::new() })))
    }

    /// Takes a slot, whatever the quota says.
    pub(crate) fn take(&self, key: K) -> Slot<K> {
        *self.0.lock().pending.entry(key).or_default() += 1;
        Slot { window: self.clone(), key }
    }

    /// Whether this key counts already.
    pub(crate) fn counts(&self, key: K, wall: Timestamp) -> bool {
        let mut counted = self.0.lock();
        counted.forget(wall);
        counted.happened.contains(&key) || counted.pending.contains_key(&key)
    }

    /// When the quota has room again for one more event, with `others` counted too; `None` if it has room now.
    pub(crate) fn full_until(&self, quota: Quota, others: usize, wall: Timestamp) -> Option<Timestamp> {
        let Quota::AtMost(most) = quota else { return None };
        let mut counted = self.0.lock();
        counted.forget(wall);
        let over = (counted.len() + others).checked_sub(most as usize)?;
        // Events that have not happened count later than all that have.
        let leaves = counted.past.get(over).or(counted.past.back()).map_or(wall, |(at, _)| *at);
        Some(leaves.plus(QUOTA_SPAN))
    }

    /// The rest of the quota.
    pub(crate) fn left(&self, quota: Quota, wall: Timestamp) -> Option<u64> {
        let Quota::AtMost(most) = quota else { return None };
        let mut counted = self.0.lock();
        counted.forget(wall);
        Some(u64::from(most).saturating_sub(counted.len() as u64))
    }
}

impl<K: Eq + Hash + Copy> WindowCounts<K> {
    /// Removes events that are older than the quota's span.
    fn forget(&mut self, wall: Timestamp) {
        let begin = wall.minus(QUOTA_SPAN);
        while let Some((_, key)) = self.past.pop_front_if(|(at, _)| *at <= begin) {
            self.happened.remove(&key);
        }
    }

    fn len(&self) -> usize {
        let pending = self.pending.keys().filter(|key| !self.happened.contains(key));
        self.past.len() + pending.count()
    }
}

impl<K: Eq + Hash + Copy> Clone for Window<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A slot in a [`Window`], given back on drop.
pub(crate) struct Slot<K: Eq + Hash + Copy> {
    window: Window<K>,
    key: K,
}

impl<K: Eq + Hash + Copy> Slot<K> {
    /// The event happens now: the slot is kept for 24 hours.
    pub(crate) fn keep(self, now: Timestamp) {
        let mut counted = self.window.0.lock();
        // The key counts again if its day is over.
        counted.forget(now);
        if counted.happened.insert(self.key) {
            counted.past.push_back((now, self.key));
        }
    }
}

impl<K: Eq + Hash + Copy> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut counted = self.window.0.lock();
        if let Some(slots) = counted.pending.get_mut(&self.key) {
            *slots -= 1;
            if *slots == 0 {
                counted.pending.remove(&self.key);
            }
        }
    }
}

/// Does not show the key.
impl<K: Eq + Hash + Copy> fmt::Debug for Slot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const WALL: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const TWO: Quota = Quota::AtMost(2);

    #[test]
    fn a_slot_counts_until_it_is_dropped_and_for_a_day_when_it_is_kept() {
        let window = Window::new(Vec::new());
        let (kept, dropped) = (window.take(1), window.take(2));
        assert_eq!(window.full_until(TWO, 0, WALL), Some(WALL.plus(QUOTA_SPAN)));
        kept.keep(WALL);
        drop(dropped);
        assert_eq!((window.left(TWO, WALL), window.full_until(TWO, 0, WALL)), (Some(1), None));
        assert_eq!(window.full_until(TWO, 1, WALL), Some(WALL.plus(QUOTA_SPAN)));
        assert_eq!(window.left(TWO, WALL.plus(QUOTA_SPAN)), Some(2));
    }

    #[test]
    fn the_same_key_counts_once() {
        let window = Window::new(vec![(WALL, 1)]);
        let (again, first, second) = (window.take(1), window.take(2), window.take(2));
        assert!(window.counts(1, WALL) && window.counts(2, WALL) && !window.counts(3, WALL));
        assert_eq!(window.left(Quota::AtMost(5), WALL), Some(3));
        again.keep(WALL);
        drop(first);
        second.keep(WALL);
        assert_eq!(window.left(Quota::AtMost(5), WALL), Some(3));
        assert!(!window.counts(1, WALL.plus(QUOTA_SPAN)));
    }

    fn hours(hours: u64) -> Timestamp {
        WALL.plus(Duration::from_secs(hours * 3_600))
    }

    #[test]
    fn a_full_quota_has_room_once_enough_of_the_oldest_have_left() {
        let window = Window::new(vec![(hours(0), 1), (hours(1), 2), (hours(2), 3)]);
        let until = |most, others| window.full_until(Quota::AtMost(most), others, hours(3));
        assert_eq!(
            [4, 3, 2, 1].map(|most| until(most, 0)),
            [None, Some(hours(24)), Some(hours(25)), Some(hours(26))]
        );
        assert_eq!(
            [0, 1, 2, 9].map(|others| until(4, others)),
            [None, Some(hours(24)), Some(hours(25)), Some(hours(26))]
        );
        assert_eq!(window.full_until(Quota::Unlimited, 9, hours(3)), None);
        assert_eq!(window.left(Quota::Unlimited, hours(3)), None);
        assert_eq!(
            [4, 3, 2].map(|most| window.left(Quota::AtMost(most), hours(3))),
            [Some(1), Some(0), Some(0)]
        );
    }

    #[test]
    fn a_key_that_happened_counts_for_a_day_and_not_a_millisecond_longer() {
        let window = Window::new(vec![(WALL, 1)]);
        let last = WALL.plus(QUOTA_SPAN - Duration::from_millis(1));
        assert!(window.counts(1, last));
        assert_eq!(window.left(TWO, last), Some(1));
        assert!(!window.counts(1, WALL.plus(QUOTA_SPAN)));
    }

    #[test]
    fn several_slots_for_one_key_count_until_the_last_is_given_back() {
        let window = Window::new(Vec::new());
        let (first, second) = (window.take(1), window.take(1));
        drop(first);
        assert!(window.counts(1, WALL));
        drop(second);
        assert!(!window.counts(1, WALL));
    }

    #[test]
    fn a_key_that_happens_again_within_its_day_counts_from_the_first_time() {
        let window = Window::new(vec![(WALL, 1)]);
        window.take(1).keep(hours(23));
        assert!(window.counts(1, hours(23)));
        assert!(!window.counts(1, hours(24)));
        window.take(1).keep(hours(25));
        assert!(window.counts(1, hours(48)));
    }

    #[test]
    fn a_key_that_happens_again_after_its_day_counts_from_then_on() {
        let window = Window::new(vec![(WALL, 1)]);
        let slot = window.take(1);
        slot.keep(hours(24));
        assert!(window.counts(1, hours(47)));
        assert!(!window.counts(1, hours(48)));
    }
}
