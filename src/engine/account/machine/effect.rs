//! Effects: what the machine wants done, in the order in which it decided.

use std::time::Instant;

use uuid::Uuid;

use super::window::Reserved;
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::engine::machine;

/// The effects of one or more inputs.
pub(crate) type Effects = machine::Effects<Effect>;

/// Something that is done for the machine. Effects are carried out in their order. Those that bring an input bring it
/// later, and exactly once.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Answer the caller of the input. At most one for each.
    Answer(Answer),
    /// Tell this channel, unless it is gone.
    Tell { channel: Uuid, update: AccountUpdate },
    /// Let the channels see this without asking.
    Publish(Published),
    /// List the company's templates through this channel. Brings
    /// [`Input::TemplatesListed`](super::Input::TemplatesListed).
    ListTemplates { company: Uuid, through: Uuid },
    /// Read the people who were written to within this span. Brings
    /// [`Input::PeopleFound`](super::Input::PeopleFound) for each page, and
    /// [`Input::PeopleRead`](super::Input::PeopleRead) at the end.
    ReadPeople { span: (Timestamp, Timestamp) },
    /// Wake the machine then, and at no moment that was asked for before. Brings
    /// [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// No channel uses the account, and nothing is known of it that is still needed: it may be dropped, unless a
    /// channel joined meanwhile.
    End,
}

/// What somebody is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Whether the channel may ask the provider at once; otherwise it is [told](News::MayAsk) when it may.
    MayAsk(bool),
    /// Until when nothing of the account may go.
    Until(Instant),
    /// Whether the people who were written to before are known; otherwise the channel is
    /// [told](News::PeopleKnown) once they are.
    IsKnown(bool),
    /// The people whom the channel may write to.
    Granted(Granted),
    /// How the recipient counts.
    Counted(Reserved),
}

/// The people whom a channel may write to: all that it asked for but some.
#[derive(Debug)]
pub(crate) struct Granted {
    /// Those for whom there is no slot.
    pub(crate) refused: Vec<PhoneNumber>,
    /// Somebody new counts now, by what the channel sent.
    pub(crate) has_arrivals: bool,
    /// The people who were written to before are known: as long as they are not, nobody is granted.
    pub(crate) is_known: bool,
}

/// What a channel is told without having asked just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountUpdate {
    /// It may ask the provider how its number is.
    MayAsk,
    /// The people who were written to before are known.
    PeopleKnown,
    /// Another channel waits for people who are granted to this one: those whom it cannot write to now go back.
    Recalled,
    /// There is a slot again that the channel was refused.
    HasRoom,
}

/// What channels see of the account without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Published {
    /// The provider refused messages because of the account, and may refuse some still.
    pub(crate) is_throttled: bool,
    /// The recipients of templates are counted, of channels without a quota too.
    pub(crate) is_counting: bool,
    /// How often grants became void: while it is the same, messages may go to the people who were granted.
    pub(crate) voids: u64,
}
