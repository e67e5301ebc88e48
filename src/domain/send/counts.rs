//! How many messages of a send are where.

use super::State;
use crate::domain::message;

/// How many messages of a send are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; message::State::ALL.len()]);

impl Counts {
    /// Counts so many more messages in this state.
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
}

impl State {
    /// Where the messages of a send are that were never attempted.
    pub const fn of_unattempted(self) -> message::State {
        match self {
            Self::Canceled => message::State::Canceled,
            Self::Expired => message::State::Expired,
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
        assert_eq!(each, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(counts.total(), 45);
    }
}
