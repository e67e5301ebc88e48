//! A selection of a send's messages: by state, by the provider's code, and by what their recipients got.

use serde::{Deserialize, Serialize};

use super::State;

/// Messages in one of these states and with one of these codes of the provider. No states mean any, and so do no codes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The states to select.
    pub states: Vec<State>,
    /// The provider's code of what went wrong last.
    pub codes: Vec<i64>,
}

impl Selection {
    /// Every message in this state.
    pub fn of(state: State) -> Self {
        Self { states: vec![state], codes: Vec::new() }
    }

    /// Whether every message is selected.
    pub fn is_everything(&self) -> bool {
        self.states.is_empty() && self.codes.is_empty()
    }

    /// Whether messages in this state are selected.
    pub fn has(&self, state: State) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether messages in this state without a provider's code are selected.
    pub fn has_wordless(&self, state: State) -> bool {
        self.codes.is_empty() && self.has(state)
    }
}

impl State {
    /// The states of messages that the provider took, and that may have arrived.
    pub const TAKEN: [Self; 3] = [Self::Sent, Self::Delivered, Self::Read];

    /// The states whose messages may be sent again, by a new send.
    pub const RETRIED: [Self; 5] =
        [Self::Failed, Self::Expired, Self::Canceled, Self::Suppressed, Self::Unknown];
}

crate::worded! {
    /// The outcome of a send for a person, by what the provider has said.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Reception {
        /// The person's device has the message.
        Received = "received",
        /// The message will not arrive: it failed, or never went.
        NotReceived = "not_received",
        /// The person read the message.
        Read = "read",
        /// The provider took the message, and has not said that the person read it.
        NotRead = "not_read",
        /// The person wrote in the channel after the message, within [`ANSWER`](crate::inbound::ANSWER).
        Answered = "answered",
        /// The provider took the message, and the person did not answer it.
        NotAnswered = "not_answered",
    }
}

impl Reception {
    /// The messages that it names, by their state. Of those, [`is_answered`](Self::is_answered) may exclude some.
    pub fn selection(self) -> Selection {
        let states: &[State] = match self {
            Self::Received => &[State::Delivered, State::Read],
            Self::NotReceived => &[State::Failed, State::Expired, State::Canceled, State::Suppressed],
            Self::Read => &[State::Read],
            Self::NotRead => &[State::Sent, State::Delivered],
            Self::Answered | Self::NotAnswered => &State::TAKEN,
        };
        Selection { states: states.to_vec(), codes: Vec::new() }
    }

    /// Whether its messages are those that were answered or those that were not; `None` when it names both.
    pub const fn is_answered(self) -> Option<bool> {
        match self {
            Self::Answered => Some(true),
            Self::NotAnswered => Some(false),
            Self::Received | Self::NotReceived | Self::Read | Self::NotRead => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_received_and_did_not_receive_a_message() {
        for state in State::ALL {
            let is = |reception: Reception| reception.selection().has(state);
            assert!(!(is(Reception::Received) && is(Reception::NotReceived)), "{state:?}");
            assert!(!(is(Reception::Read) && is(Reception::NotRead)), "{state:?}");
            // A message that may still go, or may have gone, is none of these.
            assert_eq!(Reception::ALL.iter().any(|reception| is(*reception)), !state.is_open(), "{state:?}");
        }
        for reception in Reception::ALL {
            let word = serde_json::to_value(reception).unwrap();
            assert_eq!(word, reception.as_str(), "the word of answers is the stored one");
        }
    }

    #[test]
    fn an_empty_selection_matches_everything() {
        let every = Selection::default();
        assert!(State::ALL.into_iter().all(|state| every.has(state) && every.has_wordless(state)));
        let failed = Selection::of(State::Failed);
        let found: Vec<_> = State::ALL.into_iter().filter(|state| failed.has(*state)).collect();
        assert_eq!(found, [State::Failed]);
        let coded = Selection { codes: vec![131_026], ..failed };
        assert!(coded.has(State::Failed) && !coded.has_wordless(State::Failed));
    }

    #[test]
    fn nothing_is_sent_again_that_arrived_or_may_still_go() {
        for state in State::RETRIED {
            assert!(!matches!(
                state,
                State::Queued | State::Sending | State::Sent | State::Delivered | State::Read
            ));
        }
    }
}
