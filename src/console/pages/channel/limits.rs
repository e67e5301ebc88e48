//! What holds a channel's pace: a chart of the last minutes, and each limit with its origin.

use maud::{Markup, html};

use super::words;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::chart::Chart;
use crate::console::component::table::{Column, table};
use crate::console::component::time::maybe;
use crate::console::component::waiting;
use crate::console::visitor::Person;
use crate::domain::limit::{Limit, Limits};

/// How fast the channel sends now, against what it may.
pub(in crate::console) fn pace(person: &Person, limits: &Limits) -> Markup {
    let text = person.text;
    let mut values: Vec<_> = limits.pace.points.iter().map(|point| point.per_second).collect();
    // What has just begun says less than the last ten seconds do.
    if let Some(last) = values.last_mut() {
        *last = limits.pace.per_second;
    }
    let since = limits.pace.points.first().map_or_else(String::new, |point| person.zone.clock(point.from));
    let (unit, now) = (text.get("channels-per-second"), text.get("channels-now"));
    let chart = Chart {
        name: &text.get("channels-pace"),
        unit: &unit,
        values: &values,
        limit: limits.rate,
        span: (&since, &now),
    };
    html! {
        (chart.show(text))
        @if limits.rate.is_none() { p.soft { (text.get("channels-unlimited")) } }
        @if let Some(waiting) = limits.waiting.as_ref().filter(|waiting| waiting::is_worth_telling(waiting)) {
            p {
                (text.get("channels-waiting")) " " (waiting::waiting(person, waiting))
            }
            (waiting::sentence(person, waiting))
        }
    }
}

/// Every limit, those in force first.
pub(in crate::console) fn table_of(person: &Person, limits: &Limits) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("channels-limit")),
        Column::words(text.get("channels-allows")),
        Column::words(text.get("channels-origin")),
        Column::numbers(text.get("channels-left")),
        Column::words(text.get("channels-next-slot")),
    ];
    let mut sorted: Vec<&Limit> = limits.limits.iter().collect();
    sorted.sort_by_key(|limit| !limit.is_binding);
    let rows = sorted.into_iter().map(|Limit { name, value, set_by, is_binding, left, next_slot }| {
        vec![
            html! {
                (words::limit(text, name)) " "
                @if *is_binding { (badge(Tone::Busy, &text.get("channels-in-force"))) }
            },
            html! { span lang="en" { (value) } },
            html! { span lang="en" { (set_by) } },
            html! { @match left { Some(left) => (text.number(*left)), None => span.soft { "—" } } },
            maybe(person, *next_slot),
        ]
    });
    table(&text.get("channels-limits"), &columns, rows)
}
