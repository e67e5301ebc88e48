//! Values that wait for a person's next step. Their number is bounded, and they expire.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

pub(super) struct Pending<K, V> {
    entries: HashMap<K, (Instant, V)>,
    most: usize,
    patience: Duration,
}

impl<K: Copy + Eq + Hash, V: Clone> Pending<K, V> {
    /// Keeps at most `most` values, each for `patience`.
    pub(super) fn new(most: usize, patience: Duration) -> Self {
        Self { entries: HashMap::new(), most, patience }
    }

    /// Keeps a value. If there are too many, the oldest is removed.
    pub(super) fn put(&mut self, key: K, value: V, now: Instant) {
        if self.entries.len() >= self.most {
            let patience = self.patience;
            self.entries.retain(|_, (put, _)| now.saturating_duration_since(*put) < patience);
        }
        if self.entries.len() >= self.most
            && let Some(oldest) = self.entries.iter().min_by_key(|(_, (put, _))| *put).map(|(key, _)| *key)
        {
            self.entries.remove(&oldest);
        }
        self.entries.insert(key, (now, value));
    }

    /// The value, unless it has expired.
    pub(super) fn find(&self, key: &K, now: Instant) -> Option<V> {
        let (put, value) = self.entries.get(key)?;
        (now.saturating_duration_since(*put) < self.patience).then(|| value.clone())
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_values_are_bounded_and_expire() {
        let (minute, mut now) = (Duration::from_secs(60), Instant::now());
        let mut pending = Pending::new(2, minute);
        for key in 1..=3 {
            pending.put(key, key, now);
            now += minute / 10;
        }
        assert_eq!([1, 2, 3].map(|key| pending.find(&key, now)), [None, Some(2), Some(3)]);
        pending.remove(&3);
        assert_eq!(pending.find(&3, now), None);
        assert_eq!(pending.find(&2, now + minute), None);
    }
}
