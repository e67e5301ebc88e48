//! Chance that can be repeated: every test that draws says from which seed.

use rand::SeedableRng as _;
use rand::rngs::SmallRng;

/// Names the seed to draw from, in place of a new one.
const GIVEN: &str = "POMBO_TEST_SEED";

/// Where a test's moments come from. It is said at the start, because a test that hangs is ended from outside.
pub(super) struct Seed(u64);

impl Seed {
    #[expect(clippy::print_stderr, reason = "the output of a failed test must say how to see it fail again")]
    pub(super) fn new() -> Self {
        let given = std::env::var(GIVEN).ok();
        let seed = given.map(|seed| seed.parse().unwrap_or_else(|_| panic!("{GIVEN}={seed} is no number")));
        let seed = seed.unwrap_or_else(rand::random);
        eprintln!("drawn from {GIVEN}={seed}");
        Self(seed)
    }

    pub(super) fn chance(&self) -> SmallRng {
        SmallRng::seed_from_u64(self.0)
    }
}
