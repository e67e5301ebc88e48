//! Inputs: events of a business account, and requests of its channels.

use std::time::Duration;

use uuid::Uuid;

use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::template::WrittenTo;
use domain::tier::Quota;

/// An event of an account, or a request. Those that say so bring an [`Answer`](super::Answer) at once.
#[derive(Debug)]
pub enum Input {
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come.
    Timer,
    /// A channel uses the account from now on.
    Joined,
    /// The channel is gone: what it holds or waits for is free.
    Left {
        /// The channel.
        channel: Uuid,
    },

    /// The company's templates can be listed through the channel from now on, or cannot any more.
    Followed {
        /// The company.
        company: Uuid,
        /// Its channel.
        channel: Uuid,
        /// Whether the channel can list them.
        is_connected: bool,
    },
    /// The company's templates may have changed, or will have after this time.
    TemplatesWanted {
        /// The company.
        company: Uuid,
        /// The time to wait before they are listed.
        after: Duration,
    },
    /// A listing of the company's templates ended.
    TemplatesListed {
        /// The company.
        company: Uuid,
        /// Whether all of them were read and stored.
        is_success: bool,
    },

    /// The channel wants to probe its number. Answered with [`MayAsk`](super::Answer::MayAsk).
    QuestionWanted {
        /// The channel.
        channel: Uuid,
    },
    /// The channel's probe ended, or is not needed any more.
    QuestionEnded {
        /// The channel.
        channel: Uuid,
    },

    /// The provider refused a message because of the account; the hint is its own estimate of when it accepts messages
    /// again. Answered with [`Until`](super::Answer::Until).
    Refused {
        /// The provider's estimate.
        hint: Option<Duration>,
    },
    /// The provider accepted a message of the account.
    Accepted,

    /// The channel has a quota. Answered with [`IsKnown`](super::Answer::IsKnown).
    PeopleWanted {
        /// The channel.
        channel: Uuid,
    },
    /// Some of the people who were written to in the last day.
    PeopleFound(Vec<WrittenTo>),
    /// The read of the people of this span ended.
    PeopleRead {
        /// As it was asked for.
        span: (Timestamp, Timestamp),
        /// Why the rest could not be read, if so.
        result: Result<(), Unread>,
    },
    /// A channel reports the people it wrote to, returns others, and asks for more. Answered with
    /// [`Granted`](super::Answer::Granted).
    Asked(Ask),
    /// A channel without a quota sends a template. Answered with [`Counted`](super::Answer::Counted).
    Counted {
        /// Whom it writes to.
        recipient: PhoneNumber,
    },
    /// The provider refused the message for which the recipient was counted at this time.
    Released {
        /// Whom it was for.
        recipient: PhoneNumber,
        /// When the recipient was counted.
        at: Timestamp,
    },
    /// The wall clock was set back.
    ClockWentBack,
}

/// A channel's report and request for the quota of templates.
#[derive(Debug)]
pub struct Ask {
    /// The channel.
    pub channel: Uuid,
    /// The quota of the channel's tier.
    pub quota: Quota,
    /// The people it wrote to, and when.
    pub sent: Vec<(PhoneNumber, Timestamp)>,
    /// The granted people it does not need any longer.
    pub returned: Vec<PhoneNumber>,
    /// The people it wants to write to next.
    pub wanted: Vec<PhoneNumber>,
}

/// A read of the store failed; the log says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread;
