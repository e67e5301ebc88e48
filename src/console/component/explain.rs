//! Links from states, waits and causes to the page that explains them.

use maud::{Markup, html};

use super::cause;
use crate::console::text::Text;
use crate::domain::channel::Status;
use crate::domain::message;
use crate::domain::outlook::Reason;
use crate::domain::send::Stage;

/// The page with the explanations.
pub(crate) const PLACE: &str = "/console/help";

/// A topic that the page explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic<'a> {
    /// The reason for which a send waits.
    Wait(Reason),
    /// A channel's state.
    Channel(Status),
    /// A channel that is connected with restrictions.
    Restricted,
    /// The reason for a channel's state, by its code.
    Connection(&'a str),
    /// The state of a send.
    Send(Stage),
    /// The state of a message.
    Message(message::State),
    /// What counts as an answer to a message.
    Answered,
    /// A code of the provider; unknown codes have an explanation too.
    Code(i64),
    /// A failure without a code.
    NoCode,
}

impl Topic<'_> {
    /// The id of the topic on the page.
    pub(crate) fn anchor(self) -> String {
        match self {
            Self::Wait(reason) => format!("wait-{reason}"),
            Self::Channel(status) => format!("channel-{status}"),
            Self::Restricted => "channel-restricted".to_owned(),
            Self::Connection(code) => format!("connection-{code}"),
            Self::Send(stage) => format!("send-{stage}"),
            Self::Message(state) => format!("message-{}", state.as_str()),
            Self::Answered => "message-answered".to_owned(),
            Self::Code(code) => match cause::span_of(code) {
                Some(span) => format!("code-{}", span.start()),
                None => "code-other".to_owned(),
            },
            Self::NoCode => "code-none".to_owned(),
        }
    }

    /// The address of its explanation.
    pub(crate) fn address(self) -> String {
        format!("{PLACE}#{}", self.anchor())
    }
}

/// Words that link to their explanation.
pub(crate) fn link(topic: Topic<'_>, words: &str) -> Markup {
    html! { a.explained href=(topic.address()) { (words) } }
}

/// A provider's code that links to its explanation. Codes of Pombo's own, which are negative, say nothing to people.
pub(crate) fn code(code: i64) -> Markup {
    html! { @if code >= 0 { a.explained href=(Topic::Code(code).address()) { code { (code) } } } }
}

/// A mark with the link, for words that link to something else.
pub(crate) fn mark(text: Text, topic: Topic<'_>, words: &str) -> Markup {
    let label = text.with("shell-explain", [("what", words.into())]);
    html! { a.mark-help href=(topic.address()) aria-label=(label) title=(label) { "?" } }
}
