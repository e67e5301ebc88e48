//! Pauses of a channel whose messages do not reach the provider.

use std::time::{Duration, Instant};

use super::dispatch::Later;
use super::moment::Step;
use super::work::Ticket;
use super::{Machine, retry};
use domain::message::Failure;
use domain::outlook::Reason;

/// Why and until when the channel pauses.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Option<(Reason, Instant)>,
    /// The number of pauses in a row.
    times: u32,
}

impl Pause {
    /// Why no message goes at `now`, and until when.
    pub(super) fn holds(&self, now: Instant) -> Option<(Reason, Instant)> {
        self.until.filter(|(_, until)| *until > now)
    }

    /// Messages get through: the next pause is a first one again. A present pause stays.
    pub(super) const fn succeeded(&mut self) {
        self.times = 0;
    }

    /// Ends the pause.
    pub(super) const fn lift(&mut self) {
        self.until = None;
    }

    /// Counts a failure, and begins a pause unless it is one of the first few that cause none. Returns how long the
    /// channel pauses.
    fn begin(&mut self, reason: Reason, bounds: retry::Pause, now: Instant, chance: f64) -> Duration {
        self.times += 1;
        let pause = bounds.after(self.times, chance);
        if !pause.is_zero() {
            self.until = Some((reason, now + pause));
        }
        pause
    }
}

impl Machine {
    /// The message did not reach the provider: it is put back, and the channel pauses.
    pub(super) fn not_sent(
        &mut self,
        mut ticket: Ticket,
        reason: Reason,
        failure: Failure,
        bounds: retry::Pause,
        step: &mut Step<'_>,
    ) {
        self.give_back_quota(&mut ticket, step.moment());
        let wait = self.pause_for(reason, &failure, bounds, step);
        let attempts = ticket.attempts;
        self.put_back_started(ticket, Later { reason, wait, attempts, failure: Some(failure) }, step);
    }

    /// The provider accepts no messages now, or cannot be reached: no message of this channel starts for a while.
    pub(super) fn pause_for(
        &mut self,
        reason: Reason,
        failure: &Failure,
        bounds: retry::Pause,
        step: &mut Step<'_>,
    ) -> Duration {
        let now = step.now();
        if let Some((_, until)) = self.pause.holds(now) {
            return until - now;
        }
        let pause = self.pause.begin(reason, bounds, now, step.chance());
        if pause.is_zero() {
            return pause;
        }
        let seconds = pause.as_secs_f64();
        if reason == Reason::NoSocket {
            tracing::warn!(
                channel.id = %self.channel.id, channel.name = %self.channel.name,
                error = failure.sentence,
                seconds,
                "no file, port or address for a connection to the provider, the channel pauses: raise the limit of open files"
            );
            return pause;
        }
        tracing::warn!(
            channel.id = %self.channel.id, channel.name = %self.channel.name,
            reason = %reason,
            provider.code = failure.code,
            provider.sentence = failure.sentence,
            seconds,
            "the provider accepts no messages, the channel pauses"
        );
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_message_gets_through() {
        let (mut pause, mut now) = (Pause::default(), Instant::now());
        let seconds =
            |pause: &mut Pause, now| pause.begin(Reason::ProviderPause, retry::PAUSE, now, 1.0).as_secs();
        assert_eq!(pause.holds(now), None);
        for expected in [1, 2, 4] {
            assert_eq!(seconds(&mut pause, now), expected);
            let until = now + Duration::from_secs(expected);
            assert_eq!(pause.holds(now), Some((Reason::ProviderPause, until)));
            assert_eq!(pause.holds(until), None);
            now = until;
        }
        pause.succeeded();
        assert_eq!(seconds(&mut pause, now), 1);
        pause.lift();
        assert_eq!(pause.holds(now), None);
    }
}
