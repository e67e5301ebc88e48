//! The messages of the last ten seconds, second by second: the present pace.

use std::time::Duration;

/// The time over which the present pace is measured: this long after the last message it is zero.
const WINDOW: u64 = 10;
/// The seconds of the window, and the current one.
const SLOTS: usize = WINDOW as usize + 1;

/// Counts of messages by second. Callers pass a time as the duration since a fixed moment.
#[derive(Debug, Clone)]
pub(crate) struct LastSeconds {
    /// Messages, indexed by second modulo the number of slots.
    counts: [u32; SLOTS],
    /// The latest second that was written.
    newest: u64,
}

impl Default for LastSeconds {
    fn default() -> Self {
        Self { counts: [0; SLOTS], newest: 0 }
    }
}

impl LastSeconds {
    /// Counts one message.
    pub(crate) fn count(&mut self, moment: Duration) {
        let second = moment.as_secs();
        if second > self.newest {
            for empty in (self.newest + 1).max(second.saturating_sub(WINDOW))..=second {
                self.counts[place(empty)] = 0;
            }
            self.newest = second;
        }
        // After the clock was set back, messages count for the latest second.
        let count = &mut self.counts[place(self.newest)];
        *count = count.saturating_add(1);
    }

    /// Messages a second in the last ten seconds. The oldest second counts in proportion to the part of the current
    /// second that has not passed.
    pub(crate) fn per_second(&self, moment: Duration) -> f64 {
        let (present, passed) = (moment.as_secs(), f64::from(moment.subsec_millis()) / 1_000.0);
        let of = |second: u64| {
            let is_kept = second <= self.newest && second + SLOTS as u64 > self.newest;
            if is_kept { f64::from(self.counts[place(second)]) } else { 0.0 }
        };
        let recent: f64 = (present.saturating_sub(WINDOW - 1)..=present).map(of).sum();
        let oldest = present.checked_sub(WINDOW).map_or(0.0, of);
        (recent + oldest * (1.0 - passed)) / WINDOW as f64
    }
}

fn place(second: u64) -> usize {
    (second % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_700_000_000;

    fn at(millis: u64) -> Duration {
        Duration::from_secs(START) + Duration::from_millis(millis)
    }

    /// Thousandths of a message a second.
    fn pace(seconds: &LastSeconds, millis: u64) -> u64 {
        (seconds.per_second(at(millis)) * 1_000.0).round() as u64
    }

    #[test]
    fn a_pace_shows_at_once_and_is_gone_ten_seconds_after_the_last_message() {
        let mut seconds = LastSeconds::default();
        assert_eq!(pace(&seconds, 0), 0);
        seconds.count(at(100));
        assert_eq!(pace(&seconds, 100), 100);
        for tenth in 1..199 {
            seconds.count(at(100 + tenth * 100));
        }
        assert_eq!(pace(&seconds, 20_000), 10_000, "ten messages a second");
        assert!((9_000..10_000).contains(&pace(&seconds, 20_900)), "{}", pace(&seconds, 20_900));
        assert!(pace(&seconds, 29_500) > 0);
        assert_eq!(pace(&seconds, 31_000), 0);
    }

    #[test]
    fn a_pause_or_a_clock_that_is_set_back_leaves_no_old_counts() {
        let mut seconds = LastSeconds::default();
        (0..50).for_each(|_| seconds.count(at(0)));
        seconds.count(at(600_000));
        assert_eq!(pace(&seconds, 600_000), 100);
        seconds.count(at(5_000));
        assert_eq!((pace(&seconds, 600_000), pace(&seconds, 5_000)), (200, 0));
    }
}
