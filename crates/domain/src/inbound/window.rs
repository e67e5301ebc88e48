//! The customer service window of business accounts: the time after a person's message in which the company may answer with
//! anything. Outside of it, the provider takes templates alone. Web sessions have none.
//!
//! No provider says when a window ends: it is derived from the person's messages. So it is enforced only where all of them
//! are known to have arrived for as long as a window lasts.

use std::time::Duration;

use crate::words::words;
use clock::Timestamp;

/// How long a window lasts after a message or a call of the person.
pub const SERVICE_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// How long messages are free after an answer to a person who came from an advertisement. It is about prices alone.
pub const ENTRY_POINT: Duration = Duration::from_secs(72 * 60 * 60);
/// How soon that answer has to come.
pub const ENTRY_POINT_ANSWER: Duration = Duration::from_secs(24 * 60 * 60);

/// How soon after a message of a send its recipient has to write in the same channel, so that the message counts as answered.
/// Within it fall the answers of people who read a campaign after a weekend; what they write later is hardly about it.
pub const ANSWER: Duration = Duration::from_secs(72 * 60 * 60);

/// Who decides whether a free message goes to a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WindowRule {
    /// The provider until the channel's inbound messages were recorded for 24 hours, then Pombo.
    #[default]
    Auto,
    /// Pombo, from now on.
    Enforce,
    /// The provider.
    Provider,
}

words!(WindowRule {
    Auto = "auto",
    Enforce = "enforce",
    Provider = "provider",
});

impl WindowRule {
    /// Its number in the database.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// From its number.
    pub fn from_i16(number: i16) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// What is known of the windows of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Windows {
    /// Who decides.
    pub rule: WindowRule,
    /// When the first inbound message of the channel was recorded.
    pub recorded_since: Option<Timestamp>,
}

impl Windows {
    /// Whether a free message to a person without an open window is refused. A person may have written shortly before the
    /// first message that was recorded: until such a window is over, the provider decides.
    pub fn are_enforced(&self, now: Timestamp) -> bool {
        match self.rule {
            WindowRule::Enforce => true,
            WindowRule::Provider => false,
            WindowRule::Auto => self.recorded_since.is_some_and(|since| since.plus(SERVICE_WINDOW) <= now),
        }
    }
}
