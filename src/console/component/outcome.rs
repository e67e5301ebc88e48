//! The outcome of a message, as people see it. Each outcome has one colour, in badges, bars and legends of all pages.

use crate::domain::message::State;

/// The outcome of a message. It gives the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutcomeColour {
    /// The recipient opened it.
    Read,
    /// It is on the recipient's phone.
    Delivered,
    /// The provider has it.
    Sent,
    /// It has not gone yet.
    Waits,
    /// The provider may have it or not.
    Unclear,
    /// It never started.
    LeftOut,
    /// It will not arrive.
    Failed,
}

impl OutcomeColour {
    /// The outcome of a message in this state.
    pub(crate) const fn of(state: State) -> Self {
        match state {
            State::Queued | State::Sending => Self::Waits,
            State::Sent => Self::Sent,
            State::Delivered => Self::Delivered,
            State::Read => Self::Read,
            State::Failed => Self::Failed,
            State::Expired | State::Canceled | State::Suppressed => Self::LeftOut,
            State::Unknown => Self::Unclear,
        }
    }

    /// The class that gives an element the colour.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Read => "o-read",
            Self::Delivered => "o-delivered",
            Self::Sent => "o-sent",
            Self::Waits => "o-waits",
            Self::Unclear => "o-unclear",
            Self::LeftOut => "o-left-out",
            Self::Failed => "o-failed",
        }
    }

    /// The classes of a badge in the colour.
    pub(super) const fn badge(self) -> &'static str {
        match self {
            Self::Read => "badge o-read",
            Self::Delivered => "badge o-delivered",
            Self::Sent => "badge o-sent",
            Self::Waits => "badge o-waits",
            Self::Unclear => "badge warning",
            Self::LeftOut => "badge plain",
            Self::Failed => "badge o-failed",
        }
    }
}
