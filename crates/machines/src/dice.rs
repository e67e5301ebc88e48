//! Randomness from one seed: the same seed leads to the same world, on every machine and with every version.

use std::convert::Infallible;
use std::time::Duration;

use rand::TryRng;

/// SplitMix64 (Steele, Lea and Flood, 2014): small, quick, and good enough to choose with.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Separate dice, so that the throws of one part change nothing for the others.
    pub fn split(&mut self) -> Self {
        Self(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The high half of the product is even enough for choices among few.
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// A time from `from` up to `to`, in milliseconds.
    pub fn time(&mut self, from: Duration, to: Duration) -> Duration {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.between(millis(from), millis(to)))
    }

    /// Whether something happens that happens `in_thousand` times in a thousand.
    pub fn happens(&mut self, in_thousand: u64) -> bool {
        self.below(1_000) < in_thousand
    }

    /// One of these; `None` when there is none.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        among.get(usize::try_from(self.below(among.len() as u64)).ok()?)
    }

    /// A 128-bit number, for ids.
    pub fn wide(&mut self) -> u128 {
        (u128::from(self.next()) << 64) | u128::from(self.next())
    }
}

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_all_throws() {
        let thrown = |seed| {
            let mut dice = Dice::new(seed);
            (0..100).map(|_| dice.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(thrown(7), thrown(7));
        assert_ne!(thrown(7), thrown(8));
    }

    #[test]
    fn every_number_of_a_range_is_thrown_and_no_other() {
        let mut dice = Dice::new(1);
        let mut seen = [0_u32; 5];
        for _ in 0..1_000 {
            seen[usize::try_from(dice.between(2, 4)).unwrap()] += 1;
        }
        assert!(
            seen[..2].iter().all(|count| *count == 0) && seen[2..].iter().all(|count| *count > 250),
            "{seen:?}"
        );
        assert_eq!(dice.pick::<u8>(&[]), None);
    }
}
