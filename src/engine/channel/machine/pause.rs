//! Pauses of a channel whose messages do not get through.

use std::time::{Duration, Instant};

use super::dispatch::Later;
use super::work::Ticket;
use super::{ChannelActor, retry};
use crate::domain::message::Failure;
use crate::domain::outlook::Reason;

impl ChannelActor {
    /// It did not reach the provider: it goes later, like everything of the channel.
    pub(super) fn not_sent(
        &mut self,
        mut ticket: Ticket,
        reason: Reason,
        failure: Failure,
        bounds: retry::Pause,
    ) {
        self.give_back_quota(&mut ticket);
        let wait = self.pause_for(reason, &failure, bounds);
        let attempts = ticket.attempts;
        self.put_back_started(ticket, Later { reason, wait, attempts, failure: Some(failure) });
    }

    /// The provider takes nothing now, or cannot be reached: no message of this channel starts for a while.
    pub(super) fn pause_for(&mut self, reason: Reason, failure: &Failure, bounds: retry::Pause) -> Duration {
        let now = Instant::now();
        if let Some((_, until)) = self.pause.filter(|(_, until)| *until > now) {
            return until - now;
        }
        self.pauses += 1;
        let pause = bounds.after(self.pauses, rand::random());
        if pause.is_zero() {
            return pause;
        }
        self.pause = Some((reason, now + pause));
        let seconds = pause.as_secs_f64();
        if reason == Reason::NoSocket {
            tracing::warn!(
                channel.id = %self.channel.id,
                error = failure.sentence,
                seconds,
                "no file, port or address for a connection to the provider, pausing: raise the limit of open files"
            );
            return pause;
        }
        tracing::warn!(
            channel.id = %self.channel.id,
            reason = %reason,
            provider.code = failure.code,
            provider.sentence = failure.sentence,
            seconds,
            "the provider takes nothing, pausing"
        );
        pause
    }
}
