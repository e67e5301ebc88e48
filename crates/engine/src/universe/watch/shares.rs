//! The shares of those that take turns: bulk sends of a channel, or channels that share few permits.

use std::collections::BTreeMap;
use std::fmt;

/// How many messages went of each, since the same ones take turns.
#[derive(Debug, Clone)]
pub(super) struct Shares<T> {
    turns: BTreeMap<T, u64>,
    /// Shares may differ by the largest one divided by `part`, and by `slack` turns more.
    part: u64,
    slack: u64,
}

impl<T: Copy + Ord + fmt::Debug> Shares<T> {
    pub(super) const fn new(part: u64, slack: u64) -> Self {
        Self { turns: BTreeMap::new(), part, slack }
    }

    /// A message of `one` goes while these are in progress. Describes the shares if they are not fair.
    pub(super) fn turn(&mut self, one: T, in_progress: &[T]) -> Option<String> {
        let are_the_same = self.turns.len() == in_progress.len()
            && in_progress.iter().all(|other| self.turns.contains_key(other));
        if !are_the_same {
            self.turns = in_progress.iter().map(|other| (*other, 0)).collect();
        }
        *self.turns.get_mut(&one)? += 1;
        let (least, most) = (self.turns.values().min()?, self.turns.values().max()?);
        (most - least > most / self.part + self.slack).then(|| format!("{:?}", self.turns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_while_the_same_sends_take_them() {
        let (first, second, mut shares) = (1, 2, Shares::new(10, 3));
        for _ in 0..100 {
            assert_eq!(shares.turn(first, &[first, second]), None);
            assert_eq!(shares.turn(second, &[first, second]), None);
        }
        let unfair = (0..20).filter(|_| shares.turn(first, &[first, second]).is_some()).count();
        assert!(unfair > 0 && unfair < 10, "a tenth and three are allowed: {unfair}");
        assert_eq!(shares.turn(first, &[first]), None, "the other is done");
    }
}
