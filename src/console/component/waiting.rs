//! Why something waits, and until when.

use std::time::Duration;

use maud::{Markup, html};

use super::explain::{Topic, link};
use super::reason::reason;
use super::time::until;
use crate::clock::Timestamp;
use crate::console::visitor::Person;
use crate::domain::outlook::{Outlook, Reason, Waiting};

/// Waits for the channel's pace that are shorter are not shown: they are normal at that pace.
const MOMENT: Duration = Duration::from_secs(2);

/// The reason, which links to its explanation, and the end of the wait if it is known.
pub(crate) fn waiting(person: &Person, waiting: &Waiting) -> Markup {
    let words = reason(person.text, waiting.reason);
    html! {
        (link(Topic::Wait(waiting.reason), &words))
        @if let Some(end) = waiting.until { ", " (until(person, end)) }
    }
}

/// Why a send waits; `None` when its messages go out: such a send waits for its pace between any two
/// messages.
pub(crate) fn lasting(outlook: &Outlook) -> Option<&Waiting> {
    outlook.waiting.as_ref().filter(|waiting| is_lasting(waiting))
}

fn is_lasting(waiting: &Waiting) -> bool {
    let is_pace = matches!(waiting.reason, Reason::Rate | Reason::BackOff | Reason::InFlight);
    let is_short = waiting.until.is_none_or(|until| until.from_now(Timestamp::now()) < MOMENT);
    !(is_pace && is_short)
}

/// Whether a channel's wait says more than the channel's state and pace, which are shown beside it.
pub(crate) fn is_worth_telling(waiting: &Waiting) -> bool {
    is_lasting(waiting) && !matches!(waiting.reason, Reason::Disconnected | Reason::Blocked)
}

/// The sentence about a wait that the engine writes, in English only and with the names of options: it is for readers who
/// want to know more than the reason says.
pub(crate) fn sentence(person: &Person, waiting: &Waiting) -> Markup {
    if waiting.sentence.is_empty() {
        return html! {};
    }
    html! {
        details.more id=(format!("said-{}", waiting.reason)) {
            summary { (person.text.get("shell-in-english")) }
            p.said.soft lang="en" { (waiting.sentence) }
        }
    }
}
