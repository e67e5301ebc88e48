//! Times: in the reader's zone and format, exact for programs, and "5 minutes ago" with script.

use std::time::Duration;

use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::visitor::Person;

/// A time, to the minute.
pub(crate) fn moment(person: &Person, at: Timestamp) -> Markup {
    html! { time datetime=(at) data-relative title=(person.zone.name()) { (person.minute(at)) } }
}

/// A time, to the second, for times that people compare.
pub(crate) fn second(person: &Person, at: Timestamp) -> Markup {
    html! { time datetime=(at) title=(person.zone.name()) { (person.zone.second(at, person.text.0)) } }
}

/// The time at which something ends, and the time left until then.
pub(crate) fn until(person: &Person, at: Timestamp) -> Markup {
    let now = Timestamp::now();
    if at <= now {
        return html! { time datetime=(at) title=(person.minute(at)) { (person.text.get("shell-any-moment")) } };
    }
    let clock = clock(person, at, now);
    html! {
        span.until {
            time datetime=(at) title=(person.zone.name()) { (person.text.with("shell-until", [("time", clock.into())])) }
            (left(person, at, now))
        }
    }
}

/// A future time, and how long it is until then.
pub(crate) fn ahead(person: &Person, at: Timestamp) -> Markup {
    let now = Timestamp::now();
    html! {
        span.until {
            time datetime=(at) title=(person.zone.name()) { (clock(person, at, now)) }
            (left(person, at, now))
        }
    }
}

/// The time of day, with the date if it is not today.
fn clock(person: &Person, at: Timestamp, now: Timestamp) -> String {
    match person.zone.today(at) == person.zone.today(now) {
        true => person.zone.clock(at),
        false => person.minute(at),
    }
}

/// How long it is until then; nothing when the date is more useful. The script keeps it up to date.
fn left(person: &Person, at: Timestamp, now: Timestamp) -> Markup {
    let Some(words) = distance(person, at.from_now(now)) else { return html! {} };
    html! { ", " time datetime=(at) data-relative data-exact=(person.minute(at)) title=(person.zone.name()) { (words) } }
}

fn distance(person: &Person, left: Duration) -> Option<String> {
    let seconds = left.as_millis().div_ceil(1_000) as u64;
    let (key, count) = match seconds {
        0 => return None,
        1..60 => ("shell-in-seconds", seconds),
        60..3_570 => ("shell-in-minutes", (seconds + 30) / 60),
        3_570..84_600 => ("shell-in-hours", (seconds + 1_800) / 3_600),
        84_600..604_800 => ("shell-in-days", (seconds + 43_200) / 86_400),
        _ => return None,
    };
    Some(person.text.with(key, [("count", count.into())]))
}

/// A time that may be absent.
pub(crate) fn maybe(person: &Person, at: Option<Timestamp>) -> Markup {
    match at {
        Some(at) => moment(person, at),
        None => html! { span.soft { "—" } },
    }
}
