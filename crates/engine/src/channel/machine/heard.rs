//! Messages to the channel about its messages, its number and its account.

use std::time::Duration;

use super::input::Troubled;
use super::moment::Step;
use super::{Machine, retry};
use connectors::Disposition;
use domain::message::{Key, State};
use domain::outlook::Reason;

impl Machine {
    /// Receipts of these messages are durable: nothing waits for their outcome any more.
    pub(super) fn receipts_heard(&mut self, messages: Vec<(Key, State)>, step: &mut Step<'_>) {
        let proves = |(key, state): &(Key, State)| self.link.canary.is_proved_by(*key, *state);
        let is_proved = messages.iter().any(proves);
        self.heard(messages, step);
        if is_proved {
            self.reopen(step);
        }
        self.pump(step);
    }

    /// Acts on the provider's report of trouble with the channel, not with one of its messages.
    pub(super) fn troubled(&mut self, troubled: &Troubled, step: &mut Step<'_>) {
        let Troubled { disposition, ref failure, is_of_message, taken_at } = *troubled;
        match disposition {
            Disposition::SlowNumber => {
                let (now, wall) = step.clocks();
                let ago = taken_at.map_or(Duration::ZERO, |at| wall.from_now(at));
                self.slow_down(now.checked_sub(ago).unwrap_or(now), failure, now);
            }
            Disposition::SlowAccount | Disposition::SlowApp => {
                self.throttle(disposition, None, failure, step.moment());
            }
            Disposition::Maintenance => {
                self.pause_for(Reason::ProviderPause, failure, retry::MAINTENANCE, step);
            }
            Disposition::Disconnect | Disposition::Block | Disposition::Restrict => {
                self.refused_by_webhook(disposition, failure, is_of_message, step);
            }
            // Trouble with one message, its template or its recipient is handled where it is stored.
            Disposition::Fail
            | Disposition::Retry
            | Disposition::Wait
            | Disposition::Pair
            | Disposition::HoldTemplate
            | Disposition::HoldRecipient
            | Disposition::Suppress(_) => {}
        }
        self.pump(step);
    }
}
