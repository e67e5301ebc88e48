//! How a send gets on: its pace, its likely end, and what it waits for when nothing of it goes.

use std::fmt;

use crate::clock::Timestamp;

/// How a send gets on at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outlook {
    /// Messages of it that go in a second now; `None` when nothing goes or nobody knows.
    pub rate: Option<f64>,
    /// When its last message will likely have gone; `None` when nobody can say.
    pub estimated_end: Option<Timestamp>,
    /// What it waits for, if it does.
    pub waiting: Option<Waiting>,
}

/// What a send waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// For programs.
    pub reason: Reason,
    /// For people: what holds it and what, if anything, is to be done.
    pub sentence: String,
    /// Until when; `None` when that depends on somebody or on what comes.
    pub until: Option<Timestamp>,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $word:literal;)*) => {
        /// Why nothing of a send goes just now. The words are part of the contract and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$doc])* $variant,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in answers.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

reasons! {
    /// The tier's `messages_per_second` is used up for the moment. Nothing to do; a faster tier goes faster.
    Rate = "rate";
    /// The provider refused for going too fast, and the channel slowed down. It speeds up again by itself; if
    /// this comes often, lower the tier's `messages_per_second`.
    BackOff = "back_off";
    /// The next recipient got a message moments ago (the tier's `pair_interval` and `pair_burst`). Nothing to
    /// do; other recipients are not held up.
    Pair = "pair";
    /// The tier's `template_quota`, or the account's own limit of people that it may write to first in a day,
    /// is used up. It goes on as the day moves on; raise the quota, or have the provider raise the limit.
    TemplateQuota = "template_quota";
    /// The web session sent as many messages as its tier's `daily_cap`, or in its first days `warm_up`, allows in 24
    /// hours. It goes on as the day moves on.
    DailyCap = "daily_cap";
    /// The provider does not let the template through (paused, disabled, rejected or deleted). Mend it at the
    /// provider, or cancel the send.
    TemplatePaused = "template_paused";
    /// The provider asked to let the recipient be for a while. Nothing to do; the message goes afterwards.
    RecipientHeld = "recipient_held";
    /// The provider took nothing lately (time-outs, server errors). It is tried again by itself; if it lasts,
    /// look at the provider's status and at the network.
    ProviderPause = "provider_pause";
    /// This process, or its machine, has no file, port, address or memory for a connection to the provider. Raise the
    /// limit of open files; it goes on by itself once there is one.
    NoSocket = "no_socket";
    /// The provider throttles the whole business account. Nothing to do but wait; fewer channels of the account
    /// at once help.
    AccountThrottled = "account_throttled";
    /// The provider throttles the application that the token belongs to. Nothing to do but wait; a second
    /// application at the provider shares the load.
    AppThrottled = "app_throttled";
    /// The provider refused the channel's token or registration. Reconnect the channel; its queue is kept.
    Disconnected = "disconnected";
    /// The provider restricted the business account. A new token does not help: appeal at the provider; the
    /// queue is kept.
    Blocked = "blocked";
    /// A person paused the send. Resume it.
    Paused = "paused";
    /// Its `send_at` has not come. Nothing to do; cancel it if it is not wanted any more.
    Scheduled = "scheduled";
    /// The process ended while messages were under way, and it is not yet certain that none of them arrived.
    /// They are sent again after a grace period, or held, as the tier's `unknown_outcome` says.
    UnknownOutcome = "unknown_outcome";
    /// What is left was refused for a passing reason and is tried again. Nothing to do.
    Retry = "retry";
    /// All channels together have as many messages under way as the process may (`engine.total_in_flight`); they
    /// take turns. Nothing to do; raise it if the machine and its limit of open files have room.
    InFlight = "in_flight";
    /// Other sends of the channel go first: single messages before bulk sends, bulk sends in turns. Nothing
    /// to do; pausing another send makes room.
    Turn = "turn";
}

impl Reason {
    /// Whether it holds a whole send for longer than a moment, and so each message of it.
    pub const fn is_of_the_send(self) -> bool {
        matches!(
            self,
            Self::Paused | Self::Scheduled | Self::Disconnected | Self::Blocked | Self::TemplatePaused
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Outlook {
    /// Of a send that waits.
    pub const fn waiting(reason: Reason, sentence: String, until: Option<Timestamp>) -> Self {
        Self { rate: None, estimated_end: None, waiting: Some(Waiting { reason, sentence, until }) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_reason_has_a_word_of_its_own() {
        let words: HashSet<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(words.len(), Reason::ALL.len());
    }
}
