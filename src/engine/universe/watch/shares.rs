//! The shares of bulk sends that take turns.

use std::collections::BTreeMap;

use uuid::Uuid;

/// Turns beyond the tenth by which shares may differ.
const SLACK: u64 = 3;

/// How many messages went of each bulk send of a channel, since the same ones take turns.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    turns: BTreeMap<Uuid, u64>,
}

impl Shares {
    /// A message of `send_id` goes while these are in progress. What is wrong with that, if shares are not fair.
    pub(super) fn turn(&mut self, send_id: Uuid, in_progress: &[Uuid]) -> Option<String> {
        let are_the_same = self.turns.len() == in_progress.len()
            && in_progress.iter().all(|send_id| self.turns.contains_key(send_id));
        if !are_the_same {
            self.turns = in_progress.iter().map(|send_id| (*send_id, 0)).collect();
        }
        *self.turns.get_mut(&send_id)? += 1;
        let (least, most) = (self.turns.values().min()?, self.turns.values().max()?);
        (most - least > most / 10 + SLACK).then(|| format!("{:?}", self.turns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_while_the_same_sends_take_them() {
        let [first, second] = [1, 2].map(Uuid::from_u128);
        let mut shares = Shares::default();
        for _ in 0..100 {
            assert_eq!(shares.turn(first, &[first, second]), None);
            assert_eq!(shares.turn(second, &[first, second]), None);
        }
        let unfair = (0..20).filter(|_| shares.turn(first, &[first, second]).is_some()).count();
        assert!(unfair > 0 && unfair < 10, "a tenth and three are allowed: {unfair}");
        assert_eq!(shares.turn(first, &[first]), None, "the other is done");
    }
}
