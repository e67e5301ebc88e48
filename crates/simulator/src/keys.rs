//! Remembers keys that were seen before, as fingerprints of 64 bits, only for the newest keys.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

/// The minimum number of keys that are remembered, 9 to 18 bytes each; twice as many when a generation is full.
const REMEMBERED: usize = 4_000_000;

/// Keys in two generations: when the younger is full, the older is removed.
///
/// Two of `n` keys have the same fingerprint with a chance of about `n²/2⁶⁵`: one in 37 million at a million.
#[derive(Debug, Default)]
pub(super) struct SeenKeys {
    fingerprint: RandomState,
    young: HashSet<u64>,
    old: HashSet<u64>,
}

impl SeenKeys {
    /// Notes a key; true when it was seen before.
    pub(super) fn note(&mut self, key: &str) -> bool {
        self.note_within(key, REMEMBERED)
    }

    fn note_within(&mut self, key: &str, remembered: usize) -> bool {
        let fingerprint = self.fingerprint.hash_one(key);
        let was_seen = self.old.contains(&fingerprint) || !self.young.insert(fingerprint);
        if self.young.len() >= remembered {
            self.old = std::mem::take(&mut self.young);
        }
        was_seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_again_until_enough_newer_ones_have_come() {
        let mut keys = SeenKeys::default();
        assert!(!keys.note_within("first", 10));
        assert!(keys.note_within("first", 10));
        for number in 0..9 {
            assert!(!keys.note_within(&number.to_string(), 10));
        }
        assert!(keys.note_within("first", 10), "a generation back is still known");
        for number in 10..31 {
            keys.note_within(&number.to_string(), 10);
        }
        assert!(!keys.note_within("first", 10));
    }
}
