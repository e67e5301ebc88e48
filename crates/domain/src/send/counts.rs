//! Counts of a send's messages by state.

use super::State;
use crate::message;

/// How many messages of a send are in each state, and how many were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    states: [u64; message::State::ALL.len()],
    answered: u64,
}

impl Counts {
    /// Adds this many messages in this state.
    pub const fn add(&mut self, state: message::State, messages: u64) {
        self.states[state as usize] += messages;
    }

    /// How many are in this state.
    pub const fn of(&self, state: message::State) -> u64 {
        self.states[state as usize]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.states.iter().sum()
    }

    /// Adds this many answered messages. They are among those that the provider took, which are counted by their states.
    pub const fn add_answered(&mut self, messages: u64) {
        self.answered += messages;
    }

    /// How many were answered by their recipients, within [`ANSWER`](crate::inbound::ANSWER).
    pub const fn answered(&self) -> u64 {
        self.answered
    }

    /// How many messages had this outcome.
    pub fn of_reception(&self, reception: message::Reception) -> u64 {
        let of_states =
            || -> u64 { reception.selection().states.into_iter().map(|state| self.of(state)).sum() };
        match reception.is_answered() {
            Some(true) => self.answered,
            // As long as nobody answered, this says nothing.
            Some(false) if self.answered == 0 => 0,
            Some(false) => of_states().saturating_sub(self.answered),
            None => of_states(),
        }
    }

    /// Adds the counts of other messages.
    pub fn add_all(&mut self, others: &Self) {
        let Self { states, answered } = others;
        self.states.iter_mut().zip(states).for_each(|(own, other)| *own += other);
        self.answered += answered;
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
        counts.add_answered(2);
        let mut both = counts;
        both.add_all(&counts);
        assert_eq!((both.total(), both.answered(), both.of(message::State::Unknown)), (110, 4, 18));
    }

    #[test]
    fn people_who_did_not_answer_are_counted_once_somebody_did() {
        use message::Reception::{Answered, NotAnswered, NotRead, Received};
        let mut counts = Counts::default();
        message::State::ALL.into_iter().for_each(|state| counts.add(state, 10));
        let of = |counts: &Counts| [Answered, NotAnswered].map(|reception| counts.of_reception(reception));
        assert_eq!(of(&counts), [0, 0]);
        counts.add_answered(4);
        assert_eq!(of(&counts), [4, 26]);
        assert_eq!([Received, NotRead].map(|reception| counts.of_reception(reception)), [20, 20]);
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
