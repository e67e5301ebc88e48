//! A bounded memory of what was seen lately.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::mem;

use parking_lot::Mutex;

/// The values of the keys that were seen last, at least `half` and at most twice as many. A key takes eight bytes,
/// whatever its length: two keys with the same hash, which nobody can choose, count as one.
pub(crate) struct Recent<T> {
    halves: Mutex<[HashMap<u64, T>; 2]>,
    half: usize,
    hasher: RandomState,
}

impl<T: Clone> Recent<T> {
    /// Remembers at least `half` keys.
    pub(crate) fn new(half: usize) -> Self {
        Self { halves: Mutex::default(), half, hasher: RandomState::new() }
    }

    /// Remembers the value of a key. Returns the value that it had.
    pub(crate) fn put(&self, key: &(impl Hash + ?Sized), value: T) -> Option<T> {
        let hash = self.hasher.hash_one(key);
        let mut halves = self.halves.lock();
        let [newer, older] = &mut *halves;
        if newer.len() >= self.half && !newer.contains_key(&hash) {
            *older = mem::take(newer);
        }
        newer.insert(hash, value).or_else(|| older.get(&hash).cloned())
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &(impl Hash + ?Sized)) -> Option<T> {
        let hash = self.hasher.hash_one(key);
        self.halves.lock().iter().find_map(|half| half.get(&hash)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_keys_are_known_and_no_more_than_twice_the_half() {
        let recent = Recent::new(10);
        for key in 0..1_000 {
            assert_eq!(recent.put(&key, key), None);
        }
        assert!((990..1_000).all(|key| recent.get(&key) == Some(key)));
        assert_eq!((0..1_000).filter(|key| recent.get(key).is_some()).count(), 20);
        assert_eq!(recent.put(&999, 7), Some(999));
        assert_eq!(recent.get(&999), Some(7));
    }
}
