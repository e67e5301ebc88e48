//! Links from states, waits and causes to the page that explains them.

use maud::{Markup, html};

use super::cause;
use crate::console::text::Text;
use crate::domain::channel::Status;
use crate::domain::message;
use crate::domain::outlook::Reason;
use crate::domain::send::Stage;

/// The page with the explanations.
pub(in crate::console) const PLACE: &str = "/console/help";

/// Something that the page explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::console) enum Topic<'a> {
    /// What a send waits for.
    Wait(Reason),
    /// A channel's state.
    Channel(Status),
    /// A channel that is connected and may not send everything.
    Restricted,
    /// Why a channel is in its state, by its code.
    Connection(&'a str),
    /// Where a send is.
    Send(Stage),
    /// Where a message is.
    Message(message::State),
    /// A code of the provider; one that is not known has an explanation too.
    Code(i64),
    /// What failed without a code.
    NoCode,
}

impl Topic<'_> {
    /// Where it stands on the page.
    pub(in crate::console) fn anchor(self) -> String {
        match self {
            Self::Wait(reason) => format!("wait-{reason}"),
            Self::Channel(status) => format!("channel-{status}"),
            Self::Restricted => "channel-restricted".to_owned(),
            Self::Connection(code) => format!("connection-{code}"),
            Self::Send(stage) => format!("send-{stage}"),
            Self::Message(state) => format!("message-{}", state.as_str()),
            Self::Code(code) => match cause::span_of(code) {
                Some(span) => format!("code-{}", span.start()),
                None => "code-other".to_owned(),
            },
            Self::NoCode => "code-none".to_owned(),
        }
    }

    /// The address of its explanation.
    pub(in crate::console) fn address(self) -> String {
        format!("{PLACE}#{}", self.anchor())
    }
}

/// Words that lead to their explanation.
pub(in crate::console) fn link(topic: Topic<'_>, words: &str) -> Markup {
    html! { a.explained href=(topic.address()) { (words) } }
}

/// A provider's code that leads to its explanation.
pub(in crate::console) fn code(code: i64) -> Markup {
    html! { a.explained href=(Topic::Code(code).address()) { code { (code) } } }
}

/// A mark beside words that lead somewhere else.
pub(in crate::console) fn mark(text: Text, topic: Topic<'_>, words: &str) -> Markup {
    let label = text.with("shell-explain", [("what", words.into())]);
    html! { a.mark-help href=(topic.address()) aria-label=(label) title=(label) { "?" } }
}
