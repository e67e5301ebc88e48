//! Counts of a send's messages by state.

use super::State;
use crate::message;

/// How many messages of a send are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; message::State::ALL.len()]);

impl Counts {
    /// Adds this many messages in this state.
    pub const fn add(&mut self, state: message::State, messages: u64) {
        self.0[state as usize] += messages;
    }

    /// How many are in this state.
    pub const fn of(&self, state: message::State) -> u64 {
        self.0[state as usize]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts the messages that have no row, of a send with this many recipients whose rows are all counted.
    pub fn add_rowless(&mut self, send: State, high_water: u64, recipients: u64) {
        let rows = self.total();
        // Below `settled` every message has a row, at and above the high-water mark none has.
        let reserved = high_water.min(recipients).saturating_sub(rows);
        self.add(send.of_reserved(), reserved);
        self.add(send.of_unattempted(), recipients.saturating_sub(rows + reserved));
    }
}

impl State {
    /// The state of a send's messages that were never attempted.
    pub const fn of_unattempted(self) -> message::State {
        match self {
            Self::Canceled => message::State::Canceled,
            Self::Expired => message::State::Expired,
            Self::Resolving | Self::Active | Self::Finished => message::State::Queued,
        }
    }

    /// The state of a send's messages that were reserved, so that they may have been attempted, and have no row. Once
    /// the send is over, only a receipt writes one.
    pub const fn of_reserved(self) -> message::State {
        match self {
            Self::Canceled | Self::Expired => message::State::Unknown,
            Self::Resolving | Self::Active | Self::Finished => message::State::Queued,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_counted_for_itself() {
        let mut counts = Counts::default();
        for (times, state) in (1..).zip(message::State::ALL) {
            counts.add(state, times);
        }
        let each = message::State::ALL.map(|state| counts.of(state));
        assert_eq!(each, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(counts.total(), 55);
    }

    #[test]
    fn a_message_without_a_row_is_unknown_if_it_may_have_been_attempted_before_the_send_ended() {
        let rowless = |state, high_water| {
            let mut counts = Counts::default();
            counts.add(message::State::Sent, 4);
            counts.add_rowless(state, high_water, 10);
            let of = |state| counts.of(state);
            [of(message::State::Queued), of(message::State::Unknown), of(message::State::Canceled)]
        };
        assert_eq!(rowless(State::Active, 7), [6, 0, 0]);
        assert_eq!(rowless(State::Canceled, 7), [0, 3, 3]);
        assert_eq!(rowless(State::Canceled, 4), [0, 0, 6]);
        assert_eq!(rowless(State::Canceled, 10), [0, 6, 0]);
    }
}
