//! The times of retries.

use std::time::Duration;

/// The pauses of a channel whose provider accepts no messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pause {
    /// The number of failures in a row that cause no pause.
    free: u32,
    first: Duration,
    longest: Duration,
}

/// The provider is down, or cannot be reached.
pub(super) const PAUSE: Pause =
    Pause { free: 0, first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// This process has no free socket, which may change at any moment.
pub(super) const NO_SOCKET: Pause =
    Pause { free: 0, first: Duration::from_millis(500), longest: Duration::from_secs(5) };
/// The provider upgrades the number, which takes a minute at most.
pub(super) const MAINTENANCE: Pause =
    Pause { free: 0, first: Duration::from_secs(5), longest: Duration::from_secs(60) };
/// Answers are missing: a few may get lost, but not all.
pub(super) const UNCERTAIN: Pause =
    Pause { free: 20, first: Duration::from_secs(1), longest: Duration::from_secs(30) };
/// A message that the provider refused as too fast is retried within this time.
const SOON: Duration = Duration::from_secs(2);

/// The wait before the next attempt of a message that was tried `attempts` times; `None` when its attempts are used up.
/// `jitter`, from 0 to 1, spreads the wait over its upper half, so that messages that failed together do not come back
/// together.
pub(super) fn wait(retry: &config::Retry, attempts: u16, jitter: f64) -> Option<Duration> {
    if u32::from(attempts) >= retry.attempts {
        return None;
    }
    let exponent = i32::from(attempts.saturating_sub(1)).min(60);
    let whole = retry.first.as_secs_f64() * retry.multiplier.powi(exponent);
    Some(spread(whole.min(retry.cap.as_secs_f64()), jitter))
}

impl Pause {
    /// How long a channel pauses after `times` failures in a row.
    pub(super) fn after(self, times: u32, jitter: f64) -> Duration {
        let Self { free, first, longest } = self;
        let Some(doublings) = times.saturating_sub(free).checked_sub(1) else { return Duration::ZERO };
        let whole = first.saturating_mul(1 << doublings.min(10)).min(longest);
        spread(whole.as_secs_f64(), jitter)
    }
}

/// The wait of a message that the provider refused as too fast.
pub(super) fn soon(jitter: f64) -> Duration {
    spread(SOON.as_secs_f64(), jitter)
}

fn spread(seconds: f64, jitter: f64) -> Duration {
    Duration::try_from_secs_f64(seconds * (0.5 + jitter.clamp(0.0, 1.0) / 2.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Config;

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
    fn some_lost_answers_do_not_pause_a_channel_and_many_do() {
        assert_eq!(UNCERTAIN.after(20, 1.0), Duration::ZERO);
        assert_eq!(UNCERTAIN.after(21, 1.0), Duration::from_secs(1));
    }

    #[test]
    fn a_channel_never_pauses_longer_than_half_a_minute() {
        assert_eq!(PAUSE.after(1, 1.0), Duration::from_secs(1));
        assert_eq!(PAUSE.after(3, 1.0), Duration::from_secs(4));
        assert_eq!(PAUSE.after(u32::MAX, 1.0), Duration::from_secs(30));
    }
}
