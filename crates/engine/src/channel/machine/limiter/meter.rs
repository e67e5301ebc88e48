//! The meter: counts the messages of the last second, for numbers without a rate limit.

use std::time::Instant;

/// The parts into which a second is divided.
const PARTS: usize = 10;

pub(super) struct Meter {
    origin: Instant,
    counts: [u32; PARTS],
    /// The part that is being counted, numbered from the origin.
    present: u64,
}

impl Meter {
    pub(super) const fn new(now: Instant) -> Self {
        Self { origin: now, counts: [0; PARTS], present: 0 }
    }

    /// Counts one message.
    pub(super) fn count(&mut self, now: Instant) {
        self.advance(now);
        let count = &mut self.counts[place(self.present)];
        *count = count.saturating_add(1);
    }

    /// The number of messages in the last second, to a tenth of a second.
    pub(super) fn per_second(&mut self, now: Instant) -> f64 {
        self.advance(now);
        self.counts.iter().copied().map(f64::from).sum()
    }

    /// Drops counts that are a second old.
    fn advance(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.origin);
        let part = since.as_secs() * PARTS as u64 + u64::from(since.subsec_millis() / 100);
        let part = part.max(self.present);
        for passed in (self.present + 1..=part).rev().take(PARTS) {
            self.counts[place(passed)] = 0;
        }
        self.present = part;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "less than the number of parts")]
const fn place(part: u64) -> usize {
    (part % PARTS as u64) as usize
}
