//! Answers to the passkey gate, and why one is not accepted.

use domain::error::{Code, Refusal};
use domain::web_session::Assertion;
use serde::{Deserialize, Serialize};

use super::Stage;

/// An answer of a person or a program at the passkey gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PasskeyAnswer {
    /// The challenge, signed.
    Assertion(Assertion),
    /// The confirmation that the phone shows the same code.
    Confirmation,
}

/// Why an answer is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotExpected {
    /// The pairing is not at that step.
    Stage(Stage),
    /// The step was answered already.
    Answered,
    /// The assertion signs another challenge.
    OtherChallenge,
}

impl From<NotExpected> for Refusal {
    fn from(why: NotExpected) -> Self {
        let (code, sentence) = match why {
            NotExpected::Stage(stage) => (
                Code::PasskeyNotExpected,
                format!(
                    "the pairing is {stage}: an assertion is taken while it is {}, and a confirmation while it is {}",
                    Stage::PasskeyRequired,
                    Stage::PasskeyConfirm
                ),
            ),
            NotExpected::Answered => {
                let sentence = "this step was answered already: the rest of it happens on the phone";
                (Code::PasskeyNotExpected, sentence.to_owned())
            }
            NotExpected::OtherChallenge => {
                let sentence =
                    "`assertion` signs another challenge: sign the challenge that this path shows now";
                (Code::InvalidField, sentence.to_owned())
            }
        };
        Self::new(code, sentence)
    }
}
