//! The ordinals of a send that have a row in the ledger.

use std::collections::BTreeSet;

/// All ordinals below a bound, and some beyond it.
#[derive(Debug)]
pub(super) struct Settled {
    below: u64,
    beyond: BTreeSet<u64>,
}

impl Settled {
    /// The ordinals below `below`, and the recorded ones.
    pub(super) fn new(below: u64, recorded: impl IntoIterator<Item = u64>) -> Self {
        let mut settled = Self { below, beyond: BTreeSet::new() };
        for ordinal in recorded {
            settled.add(ordinal);
        }
        settled
    }

    /// All ordinals below this have a row.
    pub(super) const fn below(&self) -> u64 {
        self.below
    }

    /// One more ordinal has a row. Adding an ordinal again changes nothing.
    pub(super) fn add(&mut self, ordinal: u64) {
        if ordinal > self.below {
            self.beyond.insert(ordinal);
            return;
        }
        if ordinal == self.below {
            self.below += 1;
            while self.beyond.remove(&self.below) {
                self.below += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_settled_ordinals_are_exactly_the_added_ones(order in Just((0_u64..40).collect::<Vec<_>>()).prop_shuffle(), part in 0_usize..40) {
            let mut settled = Settled::new(0, []);
            for ordinal in &order[..part] {
                settled.add(*ordinal);
                settled.add(*ordinal);
            }
            let added: BTreeSet<_> = order[..part].iter().copied().collect();
            let below = (0..).find(|ordinal| !added.contains(ordinal)).unwrap();
            prop_assert_eq!(settled.below, below);
            prop_assert_eq!(settled.beyond.len() as u64, part as u64 - below);
        }
    }
}
