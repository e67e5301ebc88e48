//! Messages of the ledger, and their states, which only move forward.

mod journey;
pub mod own_code;
mod selection;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::journey::{Journey, Milestone, Step};
pub use self::selection::{Reception, Selection};
use crate::phone::PhoneNumber;
use crate::words::numbered;
use clock::Timestamp;

numbered! {
    /// The state of a message. The numbers are stored in the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum State {
        /// Waits for its turn, or for a retry.
        Queued = 0, "queued";
        /// Handed to the provider, no answer yet.
        Sending = 1, "sending";
        /// The provider accepted it.
        Sent = 2, "sent";
        /// The recipient's device has it.
        Delivered = 3, "delivered";
        /// The recipient read it.
        Read = 4, "read";
        /// The message will not arrive; the error says why.
        Failed = 5, "failed";
        /// Its send expired before it started.
        Expired = 6, "expired";
        /// Its send was canceled before it started.
        Canceled = 7, "canceled";
        /// The provider may or may not have it.
        Unknown = 8, "unknown";
        /// Its recipient opted out before it went; the error says from what.
        Suppressed = 9, "suppressed";
    }
}

impl State {
    /// Reads the word in answers.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether the channel's own attempts can still change the state. In other states, only receipts can.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Sending | Self::Unknown)
    }

    /// The rank of a state: a message only moves to a state of higher rank. An unknown outcome ranks below every
    /// answer, so that a late receipt settles it. The service's own states of messages that never went (expired,
    /// canceled, suppressed) rank below everything that the provider reports: the provider has such a message after
    /// all. A failure ranks below proof of arrival only.
    pub const fn rank(self) -> u8 {
        match self {
            Self::Queued => 0,
            Self::Sending => 1,
            Self::Unknown => 2,
            Self::Expired | Self::Canceled | Self::Suppressed => 3,
            Self::Sent => 4,
            Self::Failed => 5,
            Self::Delivered => 6,
            Self::Read => 7,
        }
    }

    /// The state after hearing `heard`: it moves forward or stays.
    #[must_use]
    pub const fn advanced_by(self, heard: Self) -> Self {
        if heard.rank() > self.rank() { heard } else { self }
    }
}

/// The position of a message: its ordinal in its send, and its recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// Position in the send's frozen audience, from 0.
    pub ordinal: u64,
    /// The recipient; `None` for the group that the send's content names.
    pub recipient: Option<PhoneNumber>,
}

/// Our own key of a message, which the provider sends back with every receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The send.
    pub send_id: Uuid,
    /// Position in the send.
    pub ordinal: u64,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.send_id.as_simple(), self.ordinal)
    }
}

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let (send, ordinal) = text.split_once('.').ok_or(NotAKey)?;
        Ok(Self {
            send_id: Uuid::try_parse(send).map_err(|_| NotAKey)?,
            ordinal: ordinal.parse().map_err(|_| NotAKey)?,
        })
    }
}

/// A text that is no message key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a message key of this service")]
pub struct NotAKey;

/// The outcome of one attempt; a row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The message.
    pub position: Position,
    /// Its state.
    pub state: State,
    /// How often it was tried.
    pub attempts: u16,
    /// The provider's id, once it accepted.
    pub provider_message_id: Option<String>,
    /// The last failure.
    pub error: Option<Failure>,
    /// When it is retried, if it is.
    pub retry_at: Option<Timestamp>,
    /// When the provider accepted it, or may have; `None` while it certainly has not.
    pub taken_at: Option<Timestamp>,
}

/// The failure of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The provider's code, when it gave one, or one of [our own](own_code).
    pub code: Option<i64>,
    /// In words.
    pub sentence: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    proptest! {
        #[test]
        fn states_only_move_forward_whatever_is_heard(heard in prop::collection::vec(select(State::ALL.to_vec()), 0..12)) {
            let mut state = State::Queued;
            for next in heard {
                let after = state.advanced_by(next);
                prop_assert!(after.rank() >= state.rank());
                prop_assert_eq!(after.advanced_by(next), after, "hearing it twice changes nothing");
                state = after;
            }
        }

        #[test]
        fn receipts_in_any_order_end_in_the_same_state(mut heard in prop::collection::vec(select(vec![State::Sent, State::Delivered, State::Read, State::Failed]), 1..8), seed in any::<u64>()) {
            let end = |order: &[State]| order.iter().fold(State::Sending, |state, next| state.advanced_by(*next));
            let first = end(&heard);
            let turn = usize::try_from(seed % heard.len() as u64).unwrap_or(0);
            heard.rotate_left(turn);
            prop_assert_eq!(end(&heard), first);
        }
    }

    #[test]
    fn a_late_receipt_settles_an_unknown_outcome_and_proof_of_arrival_beats_a_failure() {
        assert_eq!(State::Unknown.advanced_by(State::Sent), State::Sent);
        assert_eq!(State::Failed.advanced_by(State::Delivered), State::Delivered);
        assert_eq!(State::Read.advanced_by(State::Failed), State::Read);
    }

    #[test]
    fn a_report_of_the_provider_overrides_the_service_s_own_end_of_a_message() {
        for ended in [State::Expired, State::Canceled, State::Suppressed] {
            for said in [State::Sent, State::Failed, State::Delivered, State::Read] {
                assert_eq!((ended.advanced_by(said), said.advanced_by(ended)), (said, said));
            }
            assert_eq!(ended.advanced_by(State::Unknown), ended);
        }
    }

    #[test]
    fn a_key_reads_back_and_foreign_text_does_not() {
        let key = Key { send_id: Uuid::from_u128(7), ordinal: 1_000_000 };
        assert_eq!(key.to_string().parse(), Ok(key));
        for foreign in ["", "campaign-7", "00000000000000000000000000000007", "x.1"] {
            assert_eq!(foreign.parse::<Key>(), Err(NotAKey));
        }
    }

    #[test]
    fn the_database_number_reads_back() {
        for state in State::ALL {
            assert_eq!(State::from_i16(state.as_i16()), Some(state));
        }
        assert_eq!(State::from_i16(99), None);
    }
}
