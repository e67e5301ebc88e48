//! Inputs: what happens to a business account, and what its channels want of it.

use std::time::Duration;

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::tier::Quota;
use crate::store::templates::recipients::WrittenTo;

/// Something that happens to an account. Those that say so bring an [`Answer`](super::Answer) at once.
#[derive(Debug)]
pub(crate) enum Input {
    /// The moment that was asked for last has come.
    Timer,
    /// A channel uses the account from now on.
    Joined,
    /// The channel is gone: whatever it holds or waits for is free.
    Left { channel: Uuid },

    /// The company's templates can be listed through the channel from now on, or cannot any more.
    Followed { company: Uuid, channel: Uuid, is_connected: bool },
    /// The company's templates may have changed, or will have after this time.
    TemplatesWanted { company: Uuid, after: Duration },
    /// A listing of the company's templates ended.
    TemplatesListed { company: Uuid, is_success: bool },

    /// The channel wants to ask the provider how its number is. Answered with
    /// [`MayAsk`](super::Answer::MayAsk).
    QuestionWanted { channel: Uuid },
    /// The channel has its answer, or wants none any more.
    QuestionEnded { channel: Uuid },

    /// The provider refused a message because of the account; the hint is its own estimate of when it takes messages
    /// again. Answered with [`Until`](super::Answer::Until).
    Refused { hint: Option<Duration> },
    /// The provider took a message of the account.
    Accepted,

    /// The channel has a quota. Answered with [`IsKnown`](super::Answer::IsKnown).
    PeopleWanted { channel: Uuid },
    /// Some of the people who were written to in the last day.
    PeopleFound(Vec<WrittenTo>),
    /// The store was read for the people of this span to the end, or was not.
    PeopleRead { span: (Timestamp, Timestamp), result: Result<(), Unread> },
    /// A channel says whom it wrote to and whom it will not, and asks for more people. Answered with
    /// [`Granted`](super::Answer::Granted).
    Asked(Ask),
    /// A channel without a quota sends a template. Answered with [`Counted`](super::Answer::Counted).
    Counted { recipient: PhoneNumber },
    /// The provider refused the message that the recipient was counted for at this moment.
    Released { recipient: PhoneNumber, at: Timestamp },
    /// The wall clock was set back.
    ClockWentBack,
}

/// What a channel says, and asks for, of the quota of templates.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) channel: Uuid,
    /// The quota of the channel's tier.
    pub(crate) quota: Quota,
    /// The people whom it wrote to, and when.
    pub(crate) sent: Vec<(PhoneNumber, Timestamp)>,
    /// The people who are granted to it and need not be any longer.
    pub(crate) returned: Vec<PhoneNumber>,
    /// The people whom it wants to write to next.
    pub(crate) wanted: Vec<PhoneNumber>,
}

/// The store could not be read; the log says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unread;
