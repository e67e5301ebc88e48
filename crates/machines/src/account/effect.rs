//! Effects: what the shell does for the machine, in the order in which the machine decided it.

use std::time::Instant;

use uuid::Uuid;

use super::window::Reserved;
use clock::Timestamp;
use domain::phone::PhoneNumber;

/// The effects of one or more inputs.
pub type Effects = crate::Effects<Effect>;

/// Something that is done for the machine. Effects are carried out in their order. An effect that brings an input
/// brings it later, and exactly once.
#[derive(Debug)]
pub enum Effect {
    /// Answer the caller of the input. At most one for each.
    Answer(Answer),
    /// Tell this channel an update, unless it is gone.
    Tell {
        /// The channel.
        channel: Uuid,
        /// What it is told.
        update: AccountUpdate,
    },
    /// Publish this, so that channels read it without asking.
    Publish(Published),
    /// List the company's templates through this channel. Brings
    /// [`Input::TemplatesListed`](super::Input::TemplatesListed).
    ListTemplates {
        /// The company.
        company: Uuid,
        /// The channel whose token is used.
        through: Uuid,
    },
    /// Read the people who were written to within this span. Brings
    /// [`Input::PeopleFound`](super::Input::PeopleFound) for each page, and
    /// [`Input::PeopleRead`](super::Input::PeopleRead) at the end.
    ReadPeople {
        /// Its beginning and its end.
        span: (Timestamp, Timestamp),
    },
    /// Wake the machine at this time, which replaces the previous one. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// No channel uses the account, and its state is not needed: it may be dropped, unless a channel joined meanwhile.
    End,
}

/// An answer to the caller of an input.
#[derive(Debug)]
pub enum Answer {
    /// Whether the channel may probe at once; otherwise it is [told](AccountUpdate::MayAsk) when it may.
    MayAsk(bool),
    /// Until when no message of the account may go.
    Until(Instant),
    /// Whether the people who were written to before are known; otherwise the channel is
    /// [told](AccountUpdate::PeopleKnown) once they are.
    IsKnown(bool),
    /// The people to whom the channel may write.
    Granted(Granted),
    /// How the recipient counts.
    Counted(Reserved),
}

/// The people to whom a channel may write: all that it asked for, except some.
#[derive(Debug)]
pub struct Granted {
    /// Those for whom there is no slot.
    pub refused: Vec<PhoneNumber>,
    /// The channel's report made new people count.
    pub has_arrivals: bool,
    /// The people who were written to before are known; until then, nobody is granted.
    pub is_known: bool,
}

/// An update that a channel is told without having asked just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountUpdate {
    /// The channel may probe its number.
    MayAsk,
    /// The people who were written to before are known.
    PeopleKnown,
    /// Another channel waits for people granted to this one: it has to return those to whom it cannot write now.
    Recalled,
    /// A slot is free again, after the channel found none.
    HasRoom,
}

/// The part of the account that channels read without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Published {
    /// The account is throttled by the provider.
    pub is_throttled: bool,
    /// The recipients of templates are counted, those of channels without a quota too.
    pub is_counting: bool,
    /// Counts how often grants became void: while it is unchanged, messages may go to granted people.
    pub voids: u64,
}
