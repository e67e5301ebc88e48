//! The badge of a state: a word, and a tone that never says more than the word does.

use maud::{Markup, html};

use super::explain::Topic;

/// What a state means for the one who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum Tone {
    /// All is well.
    Good,
    /// Something goes on, or waits.
    Busy,
    /// It needs an eye.
    Warning,
    /// It needs a person.
    Bad,
    /// It is over, or means nothing yet.
    Plain,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "badge good",
            Self::Busy => "badge busy",
            Self::Warning => "badge warning",
            Self::Bad => "badge bad",
            Self::Plain => "badge plain",
        }
    }
}

/// The badge of a state that is explained: it leads there.
pub(in crate::console) fn explained(tone: Tone, words: &str, topic: Topic<'_>) -> Markup {
    html! { a class=(tone.class()) href=(topic.address()) { (words) } }
}

/// The badge.
pub(in crate::console) fn badge(tone: Tone, words: &str) -> Markup {
    html! { span class=(tone.class()) { (words) } }
}
