//! Moments: in the reader's zone and form, exact for programs, and "5 minutes ago" where there is script.

use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::visitor::Person;

/// A moment, to the minute.
pub(in crate::console) fn moment(person: &Person, at: Timestamp) -> Markup {
    html! { time datetime=(at) data-relative title=(person.zone.name()) { (person.minute(at)) } }
}

/// A moment, to the second, for what people compare.
pub(in crate::console) fn second(person: &Person, at: Timestamp) -> Markup {
    html! { time datetime=(at) title=(person.zone.name()) { (person.zone.second(at, person.text.0)) } }
}

/// A moment that may not be there.
pub(in crate::console) fn maybe(person: &Person, at: Option<Timestamp>) -> Markup {
    match at {
        Some(at) => moment(person, at),
        None => html! { span.soft { "—" } },
    }
}
