//! When something is tried again.

use std::time::Duration;

use crate::config;

/// The first and the longest pause of a channel whose provider takes nothing.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The wait before the next attempt of a message that was tried `attempts` times, or `None` when that were
/// all. `jitter`, from 0 to 1, spreads it over the upper half, so that what failed together does not come
/// back together.
pub(super) fn wait(retry: &config::Retry, attempts: u16, jitter: f64) -> Option<Duration> {
    if u32::from(attempts) >= retry.attempts {
        return None;
    }
    let exponent = i32::from(attempts.saturating_sub(1)).min(60);
    let whole = retry.first.as_secs_f64() * retry.multiplier.powi(exponent);
    Some(spread(whole.min(retry.cap.as_secs_f64()), jitter))
}

/// How long a channel pauses after its provider took nothing `times` times in a row.
pub(super) fn pause(times: u32, jitter: f64) -> Duration {
    let (first, longest) = PAUSE;
    let whole = first.saturating_mul(1 << times.saturating_sub(1).min(10)).min(longest);
    spread(whole.as_secs_f64(), jitter)
}

fn spread(seconds: f64, jitter: f64) -> Duration {
    Duration::try_from_secs_f64(seconds * (0.5 + jitter.clamp(0.0, 1.0) / 2.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn waits_double_up_to_the_cap_and_end_with_the_last_attempt() {
        let retry = config::Retry {
            attempts: 5,
            first: Duration::from_secs(1),
            multiplier: 2.0,
            cap: Duration::from_secs(3),
            ..Config::default().retry
        };
        let waits: Vec<_> = (1..=5).map(|attempts| wait(&retry, attempts, 1.0)).collect();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(waits, [seconds(1), seconds(2), seconds(3), seconds(3), None]);
        assert_eq!(wait(&retry, 1, 0.0), Some(Duration::from_millis(500)));
    }

    #[test]
    fn a_channel_never_pauses_longer_than_half_a_minute() {
        assert_eq!(pause(1, 1.0), Duration::from_secs(1));
        assert_eq!(pause(3, 1.0), Duration::from_secs(4));
        assert_eq!(pause(u32::MAX, 1.0), Duration::from_secs(30));
    }
}
