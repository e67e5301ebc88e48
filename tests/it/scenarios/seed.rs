//! Random numbers that can be repeated: every test that uses them prints its seed.

use rand::SeedableRng as _;
use rand::rngs::SmallRng;

/// The variable that sets the seed, in place of a new one.
const GIVEN: &str = "POMBO_TEST_SEED";

/// The seed of a test. The test prints it at the start, because a test that hangs is ended from outside.
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
