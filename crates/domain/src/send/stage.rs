//! The stage of a send, as its company sees it.

use std::str::FromStr;

use super::{Control, Schedule, State};
use crate::words::listed;
use clock::Timestamp;

listed! {
    /// The stage of an accepted send.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Stage {
        /// The send waits for its `send_at`.
        Scheduled = "scheduled",
        /// Its messages go, or wait for their turn.
        Active = "active",
        /// A person paused it; no message of it starts until it is resumed.
        Paused = "paused",
        /// Every message has its outcome.
        Finished = "finished",
        /// It was canceled: messages that had not started never will.
        Canceled = "canceled",
        /// Its `expires_at` has passed: messages that had not started never will.
        Expired = "expired",
    }
}

/// A word that is no stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of scheduled, active, paused, finished, canceled, expired")]
pub struct UnknownStage;

impl Stage {
    /// The stage of a send at `now`. A paused send is paused whether or not its time has come; `None` while it is not
    /// accepted yet.
    pub fn of(state: State, control: Control, schedule: Schedule, now: Timestamp) -> Option<Self> {
        Some(match (state, control) {
            (State::Resolving, _) => return None,
            (State::Active, Control::Paused) => Self::Paused,
            (State::Active, Control::Running) if schedule.waits_until(now).is_some() => Self::Scheduled,
            (State::Active, Control::Running) => Self::Active,
            (State::Finished, _) => Self::Finished,
            (State::Canceled, _) => Self::Canceled,
            (State::Expired, _) => Self::Expired,
        })
    }

    /// Whether no message of it starts any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Canceled | Self::Expired)
    }
}

impl FromStr for Stage {
    type Err = UnknownStage;

    fn from_str(word: &str) -> Result<Self, UnknownStage> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == word).ok_or(UnknownStage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_and_is_named_in_the_refusal() {
        for stage in Stage::ALL {
            assert_eq!(stage.as_str().parse(), Ok(stage));
            assert!(UnknownStage.to_string().contains(stage.as_str()));
        }
        assert_eq!("Active".parse::<Stage>(), Err(UnknownStage));
    }

    #[test]
    fn a_send_is_in_one_stage() {
        let (early, now, late) =
            (Timestamp::from_millis(1), Timestamp::from_millis(2), Timestamp::from_millis(3));
        let stage =
            |state, control, send_at| Stage::of(state, control, Schedule { send_at, expires_at: None }, now);
        for (state, control, send_at, expected) in [
            (State::Resolving, Control::Running, None, None),
            (State::Active, Control::Running, None, Some(Stage::Active)),
            (State::Active, Control::Running, Some(early), Some(Stage::Active)),
            (State::Active, Control::Running, Some(now), Some(Stage::Active)),
            (State::Active, Control::Running, Some(late), Some(Stage::Scheduled)),
            (State::Active, Control::Paused, Some(late), Some(Stage::Paused)),
            (State::Finished, Control::Running, Some(early), Some(Stage::Finished)),
            (State::Canceled, Control::Paused, Some(late), Some(Stage::Canceled)),
            (State::Expired, Control::Running, None, Some(Stage::Expired)),
        ] {
            assert_eq!(stage(state, control, send_at), expected, "{state:?} {control:?} {send_at:?}");
        }
    }
}
