//! The outlook of a send: its pace, its likely end, and the reason when it waits.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::words::explained;
use clock::Timestamp;

/// The outlook of a send at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// Its present pace in messages a second; `None` when no message goes or the pace is unknown.
    pub rate: Option<f64>,
    /// When its last message will likely go; `None` when that is unknown.
    pub estimated_end: Option<Timestamp>,
    /// The wait, if it waits.
    pub waiting: Option<Waiting>,
}

/// Why a send waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// For programs.
    pub reason: Reason,
    /// For people: the obstacle and, if there is one, the remedy.
    pub sentence: String,
    /// Until when; `None` when that depends on a person or on a later event.
    pub until: Option<Timestamp>,
}

explained! {
    /// Why nothing of a send goes just now. The words are part of the contract and never change.
    pub enum Reason {
        /// The pace of the moment is used up: the tier's `messages_per_second`, or the provider's level for the number.
        Rate = "rate",
            "Nothing. A tier with a higher rate is faster, up to the provider's level.";
        /// The provider answered that the number sends too fast (130429), and the channel halved its pace.
        BackOff = "back_off",
            "Nothing: the pace comes back in steps within half a minute. If it is frequent, lower `messages_per_second`.";
        /// The next recipients got a message moments ago: the tier's `pair_interval` and `pair_burst`, or the provider's 131056.
        Pair = "pair",
            "Nothing. Other recipients are not held up.";
        /// The tier's `template_quota` of people in 24 hours is used up. New people wait; people who got a template in that time
        /// get more.
        TemplateQuota = "template_quota",
            "Nothing: it goes on as the 24 hours move on. Use another tier once the provider raised its limit.";
        /// It is in the tier's `quiet_hours`. Sends with one recipient go.
        QuietHours = "quiet_hours",
            "Nothing: it goes on when the quiet hours end. A tier without them sends at any time.";
        /// A web session sent as many messages in 24 hours as its tier's `daily_cap`, or in its first days `warm_up`, allows.
        DailyCap = "daily_cap",
            "Nothing: it goes on as the 24 hours move on.";
        /// The provider does not accept the template: it is paused, disabled, rejected or deleted.
        TemplatePaused = "template_paused",
            "Correct the template at the provider; the send then goes on by itself. Or cancel the send.";
        /// The provider holds marketing back from these recipients for now (131049).
        RecipientHeld = "recipient_held",
            "Nothing: the messages are retried 24 hours later.";
        /// The provider answers with errors, does not answer, or is at work on the number. A new channel also waits for the first
        /// answer about its level.
        ProviderPause = "provider_pause",
            "Nothing at first. If it lasts, look at the provider's status page and at your network.";
        /// This process, or its machine, has no file, port, address or memory for a connection to the provider. The log has the
        /// system's words.
        NoSocket = "no_socket",
            "Raise the limit of open files (`ulimit -Hn`, `LimitNOFILE=`), or find what uses them up. The send then goes on by itself.";
        /// The provider throttles the business account (80007): all its channels wait.
        AccountThrottled = "account_throttled",
            "Nothing. Fewer channels of the account at once help.";
        /// The provider throttles the app that the token belongs to (4): all channels of the app wait.
        AppThrottled = "app_throttled",
            "Nothing. A second app at the provider shares the load.";
        /// The provider refused the channel's token or registration. The queue is kept.
        Disconnected = "disconnected",
            "Reconnect the channel.";
        /// The provider restricted the business account. The queue is kept.
        Blocked = "blocked",
            "Settle it with the provider. A new token does not help.";
        /// A person paused the send.
        Paused = "paused",
            "Resume it.";
        /// The send's `send_at` has not come.
        Scheduled = "scheduled",
            "Nothing, or cancel the send.";
        /// Answers got lost, or the process ended before they were written. Pombo waits `retry.unknown_grace` for receipts.
        UnknownOutcome = "unknown_outcome",
            "Nothing: the tier's `unknown_outcome` decides then.";
        /// The provider refused the remaining messages for a temporary reason.
        Retry = "retry",
            "Nothing: each message is attempted `retry.attempts` times in all.";
        /// All channels together have `engine.total_in_flight` messages under way and take turns.
        InFlight = "in_flight",
            "Nothing. Raise `engine.total_in_flight` if the limit of open files has room.";
        /// Other sends of the channel go first: single messages before bulk sends, bulk sends in turns.
        Turn = "turn",
            "Nothing. Pausing another send makes room.";
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::parse(&word).ok_or_else(|| de::Error::custom(format!("`{word}` is no reason to wait")))
    }
}

impl Reason {
    /// Whether the reason holds the whole send, and so each of its messages, for longer than a moment.
    pub const fn is_of_the_send(self) -> bool {
        matches!(
            self,
            Self::Paused | Self::Scheduled | Self::Disconnected | Self::Blocked | Self::TemplatePaused
        )
    }

    /// What messages that were put back wait for; `None` when the reason is not one of messages.
    pub fn sentence_of_messages(self, tier: &str) -> Option<String> {
        Some(match self {
            Self::Pair => format!(
                "the remaining recipients got messages moments ago, and each may get only so many (tier \
                 `{tier}`, options pair_interval and pair_burst)"
            ),
            Self::RecipientHeld => {
                "the provider asked to hold messages to the remaining recipients for a while".to_owned()
            }
            Self::UnknownOutcome => format!(
                "it is unknown whether the provider has the remaining messages: the channel waits for receipts (option \
                 retry.unknown_grace), then tier `{tier}` decides (option unknown_outcome)"
            ),
            Self::Retry | Self::BackOff => {
                "the provider refused the remaining messages for a temporary reason, and they are retried"
                    .to_owned()
            }
            _ => return None,
        })
    }
}

impl Outlook {
    /// The outlook of a send that waits.
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
