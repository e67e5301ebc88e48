//! Sends: one accepted request, its frozen audience, and its progress.

mod counts;
mod end_reason;
mod label;
mod name;
mod source;
mod stage;
mod tally;

use std::time::Duration;

use uuid::Uuid;

pub use self::counts::Counts;
pub use self::end_reason::EndReason;
pub use self::label::{
    Label, METADATA_ENTRIES, METADATA_KEY_CHARS, METADATA_VALUE_CHARS, NAME_CHARS, REFERENCE_CHARS,
};
pub use self::name::Naming;
pub use self::source::Source;
pub use self::stage::{Stage, UnknownStage};
pub use self::tally::{Cause, Pace, Part, Tally};
use crate::error::{Code, Refusal};
use crate::phone::PhoneNumber;
use clock::Timestamp;

/// How far ahead a send may be scheduled: a year, leap years included.
const FARTHEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The state of a send. The numbers are stored in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum State {
    /// Its audience is still being written; not accepted yet.
    Resolving = 0,
    /// Accepted; messages may still go.
    Active = 1,
    /// Every message has its outcome.
    Finished = 2,
    /// It was canceled: messages that had not started never will.
    Canceled = 3,
    /// It expired: messages that had not started never will.
    Expired = 4,
}

impl State {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// Reads the stored number.
    pub fn from_i16(value: i16) -> Option<Self> {
        [Self::Resolving, Self::Active, Self::Finished, Self::Canceled, Self::Expired]
            .into_iter()
            .find(|state| state.as_i16() == value)
    }

    /// Whether no message of it starts any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Expired)
    }
}

/// Whether a person has paused a send. The numbers are stored in the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Control {
    /// The send goes at its channel's pace.
    #[default]
    Running = 0,
    /// No message of it starts until it is resumed.
    Paused = 1,
}

impl Control {
    /// The number that the database keeps.
    pub const fn as_i16(self) -> i16 {
        self as i16
    }

    /// Reads the stored number.
    pub fn from_i16(value: i16) -> Option<Self> {
        [Self::Running, Self::Paused].into_iter().find(|control| control.as_i16() == value)
    }
}

/// The time of a send, as requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Schedule {
    /// No message goes before this moment.
    pub send_at: Option<Timestamp>,
    /// No message starts at this moment or later.
    pub expires_at: Option<Timestamp>,
}

impl Schedule {
    /// Checks whether a request that is made `now` can have this schedule. A start that has passed means at once.
    ///
    /// # Errors
    ///
    /// `invalid_schedule`.
    pub fn check(self, now: Timestamp) -> Result<(), Refusal> {
        let refuse = |param: &str, what: &str| Err(Refusal::of(param, Code::InvalidSchedule, what));
        if self.send_at.is_some_and(|start| start > now.plus(FARTHEST)) {
            return refuse("send_at", "is more than a year ahead: ask again when it is nearer");
        }
        let Some(end) = self.expires_at else { return Ok(()) };
        if end <= now {
            return refuse("expires_at", "has passed: nothing could start any more");
        }
        if self.send_at.is_some_and(|start| start >= end) {
            return refuse("expires_at", "must be after `send_at`: nothing could start in between");
        }
        Ok(())
    }

    /// The schedule of a send that has not begun, moved `now` to another start.
    ///
    /// # Errors
    ///
    /// `invalid_schedule` when the start has passed, is too far ahead, or is not before the end.
    pub fn starting_at(self, start: Timestamp, now: Timestamp) -> Result<Self, Refusal> {
        let refuse = |what: &str| Err(Refusal::of("send_at", Code::InvalidSchedule, what));
        if start <= now {
            return refuse("has passed: give a time in the future, or cancel the send");
        }
        if self.expires_at.is_some_and(|end| start >= end) {
            return refuse("must be before the send's `expires_at`: nothing could start in between");
        }
        let moved = Self { send_at: Some(start), ..self };
        moved.check(now).map(|()| moved)
    }

    /// The moment that the send waits for, if it is after `now`.
    pub fn waits_until(self, now: Timestamp) -> Option<Timestamp> {
        self.send_at.filter(|start| *start > now)
    }
}

/// The template of a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateUse {
    /// Our id of the template.
    pub id: i64,
    /// Whether it is advertising, which recipients may opt out of.
    pub is_marketing: bool,
}

/// The recipients of a send, once resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipients {
    /// One recipient, stored with the send itself.
    One(PhoneNumber),
    /// One group, which the content names.
    Group,
    /// This many, kept in recipient blocks.
    Blocks(u64),
}

impl Recipients {
    /// How many there are.
    pub const fn count(self) -> u64 {
        match self {
            Self::One(_) | Self::Group => 1,
            Self::Blocks(count) => count,
        }
    }
}

/// A packed slice of a send's recipients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Ordinal of the first recipient in it.
    pub first_ordinal: u64,
    /// How many are in it.
    pub recipients: u64,
    /// The numbers, packed by [`crate::block::pack`].
    pub packed: Vec<u8>,
}

/// The progress of a send.
///
/// Ordinals below `settled` all have a row in the ledger. Ordinals from there up to `high_water` may have
/// been attempted: after a crash those of them without a row are unknown. Nothing at or above
/// `high_water` was ever attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Ordinals at or above it were never attempted.
    pub high_water: u64,
    /// Ordinals below it all have a row in the ledger.
    pub settled: u64,
}

/// A new value of a send's progress, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The send.
    pub send_id: Uuid,
    /// Its progress from now on.
    pub progress: Progress,
    /// [`State::Active`] while messages may still go. An ended send stays ended, whatever a later mark says.
    pub state: State,
    /// No message of the send starts before this moment: all remaining ones wait.
    pub due_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_must_leave_time_to_start_in_and_must_not_be_a_year_ahead() {
        let at = Timestamp::from_millis;
        let now = at(1_700_000_000_000);
        let (before, soon, later) =
            (at(now.millis() - 1), now.plus(Duration::from_secs(60)), now.plus(FARTHEST));
        let beyond = at(later.millis() + 1);
        for (send_at, expires_at, is_fine) in [
            (None, None, true),
            (Some(before), None, true),
            (Some(before), Some(soon), true),
            (Some(soon), Some(later), true),
            (Some(later), Some(beyond), true),
            (Some(beyond), None, false),
            (None, Some(before), false),
            (None, Some(now), false),
            (Some(before), Some(now), false),
            (Some(soon), Some(soon), false),
            (Some(later), Some(soon), false),
        ] {
            let checked = Schedule { send_at, expires_at }.check(now);
            let code = checked.map_err(|refusal| refusal.code);
            let expected = if is_fine { Ok(()) } else { Err(Code::InvalidSchedule) };
            assert_eq!(code, expected, "{send_at:?} {expires_at:?}");
        }
    }

    #[test]
    fn a_start_is_moved_to_a_time_between_the_present_and_the_end() {
        let at = Timestamp::from_millis;
        let (now, end) = (at(1_700_000_000_000), at(1_700_000_060_000));
        let bounded = Schedule { send_at: Some(now.plus(Duration::from_secs(1))), expires_at: Some(end) };
        for (schedule, start, is_fine) in [
            (bounded, at(now.millis() + 1), true),
            (bounded, at(end.millis() - 1), true),
            (bounded, now, false),
            (bounded, end, false),
            (Schedule::default(), now.plus(FARTHEST), true),
            (Schedule::default(), at(now.plus(FARTHEST).millis() + 1), false),
        ] {
            let moved = schedule.starting_at(start, now).map_err(|refusal| refusal.code);
            let expected = Schedule { send_at: Some(start), ..schedule };
            assert_eq!(moved, if is_fine { Ok(expected) } else { Err(Code::InvalidSchedule) }, "{start}");
        }
    }

    #[test]
    fn a_start_that_has_passed_is_not_waited_for() {
        let now = Timestamp::from_millis(7);
        let waits = |start| {
            Schedule { send_at: Some(Timestamp::from_millis(start)), expires_at: None }.waits_until(now)
        };
        assert_eq!([waits(6), waits(7), waits(8)], [None, None, Some(Timestamp::from_millis(8))]);
    }
}
