//! The badge of a state: a word, and a colour that says nothing beyond the word.

use maud::{Markup, html};

use super::explain::Topic;
use super::outcome::OutcomeColour;

/// What a state means for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// All is well.
    Good,
    /// Something is in progress, or waits.
    Busy,
    /// A person should look at it.
    Warning,
    /// A person has to act.
    Bad,
    /// It is over, or has no meaning yet.
    Plain,
    /// What a message came to.
    Outcome(OutcomeColour),
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "badge good",
            Self::Busy => "badge busy",
            Self::Warning => "badge warning",
            Self::Bad => "badge bad",
            Self::Plain => "badge plain",
            Self::Outcome(outcome) => outcome.badge(),
        }
    }
}

/// A badge that links to the explanation of its state.
pub(crate) fn explained(tone: Tone, words: &str, topic: Topic<'_>) -> Markup {
    html! { a class=(tone.class()) href=(topic.address()) { (words) } }
}

pub(crate) fn badge(tone: Tone, words: &str) -> Markup {
    html! { span class=(tone.class()) { (words) } }
}
