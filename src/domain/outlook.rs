//! What is to be expected of a send, and why it waits.

use std::fmt;

use crate::clock::Timestamp;

/// Why messages wait. The words are part of the API, of the metrics' labels and of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The channel sends as fast as its tier, or the provider's level, allows. A faster tier helps if the
    /// provider grants one.
    Rate,
    /// The provider said that the number sends too fast: it goes on at a part of its rate, which recovers by
    /// itself.
    BackOff,
    /// The recipient got a message from this number just now; the provider wants a distance between two.
    Pair,
    /// So many people were sent templates in the last 24 hours as the tier allows. It goes on when the first
    /// of them falls out of the window, or under a larger quota.
    TemplateQuota,
    /// The provider does not let the template through. It goes on when the provider does.
    TemplatePaused,
    /// The provider asked not to send this recipient advertising for 24 hours.
    RecipientHeld,
    /// The provider takes nothing from this number just now; it is asked again by itself.
    ProviderPause,
    /// The provider takes nothing from this business account just now.
    AccountThrottled,
    /// The provider takes nothing from this app just now.
    AppThrottled,
    /// The channel is disconnected: reconnect it. The queue is kept.
    Disconnected,
    /// The provider restricted the account: mend it there. The queue is kept.
    Blocked,
    /// Somebody paused the send: resume it.
    Paused,
    /// It is scheduled for later.
    Scheduled,
    /// The provider may or may not have the message; a receipt is waited for.
    UnknownOutcome,
    /// The last attempt failed in a way that may pass.
    Retry,
    /// Other sends of the channel go first, or take turns with it.
    Turn,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 16] = [
        Self::Rate,
        Self::BackOff,
        Self::Pair,
        Self::TemplateQuota,
        Self::TemplatePaused,
        Self::RecipientHeld,
        Self::ProviderPause,
        Self::AccountThrottled,
        Self::AppThrottled,
        Self::Disconnected,
        Self::Blocked,
        Self::Paused,
        Self::Scheduled,
        Self::UnknownOutcome,
        Self::Retry,
        Self::Turn,
    ];

    /// The word in answers, labels and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::BackOff => "back_off",
            Self::Pair => "pair",
            Self::TemplateQuota => "template_quota",
            Self::TemplatePaused => "template_paused",
            Self::RecipientHeld => "recipient_held",
            Self::ProviderPause => "provider_pause",
            Self::AccountThrottled => "account_throttled",
            Self::AppThrottled => "app_throttled",
            Self::Disconnected => "disconnected",
            Self::Blocked => "blocked",
            Self::Paused => "paused",
            Self::Scheduled => "scheduled",
            Self::UnknownOutcome => "unknown_outcome",
            Self::Retry => "retry",
            Self::Turn => "turn",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why something waits, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The reason.
    pub reason: Reason,
    /// The same for a person: what set it, and what helps.
    pub sentence: String,
    /// When it goes on, as far as anybody knows.
    pub until: Option<Timestamp>,
}

/// What is to be expected of a send.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outlook {
    /// Messages per second that it gets now; `None` when nobody can tell.
    pub rate: Option<f64>,
    /// When it will be done at the present pace.
    pub estimated_end: Option<Timestamp>,
    /// Why it waits, if it does.
    pub waiting: Option<Waiting>,
}
