//! The limits of a channel's pace: a chart of the last minutes, and each limit with its origin.

use std::time::Duration;

use maud::{Markup, html};

use super::words;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::chart::Chart;
use crate::console::component::reason::reason;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, second};
use crate::console::component::waiting;
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::domain::limit::{Allows, LevelHint, Limit, Limits, Origin};
use crate::domain::rate::Rate;
use crate::domain::tier::Quota;

/// The channel's present pace, beside its limit.
pub(crate) fn pace(person: &Person, limits: &Limits) -> Markup {
    let text = person.text;
    html! {
        (chart(person, limits, |chart| chart.show(text)))
        @if limits.rate.is_none() { p.soft { (text.get("channels-unlimited")) } }
        (waits(person, limits))
    }
}

/// The same in a row of a table.
pub(crate) fn small_pace(person: &Person, limits: &Limits) -> Markup {
    html! {
        (chart(person, limits, |chart| chart.spark(person.text)))
        (waits(person, limits))
    }
}

fn chart(person: &Person, limits: &Limits, show: impl FnOnce(Chart<'_>) -> Markup) -> Markup {
    let text = person.text;
    let mut values: Vec<_> = limits.pace.points.iter().map(|point| point.per_second).collect();
    // The step that has just begun is less exact than the last ten seconds.
    if let Some(last) = values.last_mut() {
        *last = limits.pace.per_second;
    }
    let since = limits.pace.points.first().map_or_else(String::new, |point| person.zone.clock(point.from));
    let (unit, now) = (text.get("channels-per-second"), text.get("channels-now"));
    show(Chart {
        name: &text.get("channels-pace"),
        unit: &unit,
        values: &values,
        limit: limits.rate,
        span: (&since, &now),
        is_over: false,
    })
}

/// Why the next message waits, if that is worth telling.
fn waits(person: &Person, limits: &Limits) -> Markup {
    let text = person.text;
    html! {
        @if let Some(waiting) = limits.waiting.as_ref().filter(|waiting| waiting::is_worth_telling(waiting)) {
            p {
                (text.get("channels-waiting")) " " (waiting::waiting(person, waiting))
            }
            (waiting::sentence(person, waiting))
        }
    }
}

/// Every limit, those in force first.
pub(crate) fn table_of(person: &Person, limits: &Limits) -> Markup {
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
    let rows = sorted.into_iter().map(|Limit { name, allows, set_by, is_binding, left, next_slot }| {
        vec![
            html! {
                (words::limit(text, *name)) " "
                @if *is_binding { (badge(Tone::Busy, &text.get("channels-in-force"))) }
            },
            allowed(person, *allows),
            origin(text, set_by),
            html! { @match left { Some(left) => (text.number(*left)), None => span.soft { "—" } } },
            maybe(person, *next_slot),
        ]
    });
    let hint = limits.level_hint.map(|hint| match hint {
        LevelHint::TierIsFaster => text.get("channels-tier-is-faster"),
        LevelHint::TierIsSlower => text.get("channels-tier-is-slower"),
    });
    html! {
        (table(&text.get("channels-limits"), &columns, rows))
        @if let Some(hint) = hint { p.hint { (hint) } }
    }
}

/// How much a limit allows.
pub(crate) fn allowed(person: &Person, allows: Allows) -> Markup {
    let text = person.text;
    let quota = |key: &str, quota: Quota| match quota {
        Quota::AtMost(most) => text.with(key, [("count", most.into())]),
        Quota::Unlimited => text.get("channels-allows-unlimited"),
    };
    let span = |span: Duration| humantime::format_duration(span).to_string();
    html! {
        @match allows {
            Allows::Pace { rate, burst: _ } if rate.is_unlimited() => (rate_words(text, rate)),
            Allows::Pace { rate, burst } => {
                (text.with("channels-allows-pace", [("rate", rate_words(text, rate).into()), ("burst", burst.into())]))
            }
            Allows::Jittered { rate, jitter } => {
                @let words = [("rate", rate_words(text, rate).into()), ("jitter", span(jitter).into())];
                (text.with("channels-allows-jittered", words))
            }
            Allows::Rate(rate) => (rate_words(text, rate)),
            Allows::Slowed { per_second, until } => {
                (text.with("channels-allows-slowed", [("count", per_second.into())])) " " (second(person, until))
            }
            Allows::Nothing => (text.get("channels-allows-nothing")),
            Allows::ToSame { interval, burst } => {
                (text.with("channels-allows-to-same", [("interval", span(interval).into()), ("burst", burst.into())]))
            }
            Allows::People(most) | Allows::Provider(most) => (quota("channels-allows-people", most)),
            Allows::Messages(most) => (quota("channels-allows-messages", most)),
            Allows::Strangers(most) => (quota("channels-allows-strangers", most)),
            Allows::Singles => (text.get("channels-allows-singles")),
        }
    }
}

fn rate_words(text: Text, rate: Rate) -> String {
    let Some((count, window)) = rate.allowance() else { return text.get("channels-allows-unlimited") };
    let key = match window.as_secs() {
        0..=1 => "channels-rate-second",
        2..=60 => "channels-rate-minute",
        61..=3_600 => "channels-rate-hour",
        _ => "channels-rate-day",
    };
    text.with(key, [("count", count.into())])
}

/// What set a limit. The names of the options are for operators, on the pages of tiers.
fn origin(text: Text, origin: &Origin) -> Markup {
    html! {
        @match origin {
            Origin::Tier { name, options: _ } => { (text.get("channels-by-tier")) " " bdi { (name) } }
            Origin::Own { tier: _, options: _ } => (text.get("channels-by-own")),
            Origin::WarmUp { tier, day } => {
                (text.get("channels-by-tier")) " " bdi { (tier) } ": "
                (text.with("channels-by-warm-up", [("day", (*day).into())]))
            }
            Origin::Level { level, is_known } => {
                (text.get(if *is_known { "channels-by-level" } else { "channels-by-level-assumed" })) " "
                code { (level) }
            }
            Origin::Refusals => (text.get("channels-by-refusals")),
            Origin::Provider => (text.get("channels-by-provider")),
            Origin::Wait { reason: waits, sentence: _ } => (reason(text, *waits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    #[test]
    fn rates_and_origins_are_said_in_every_language() {
        for (language, pace, tier) in [
            (Language::English, "80 each second", "Tier "),
            (Language::Portuguese, "80 por segundo", "Plano "),
            (Language::Spanish, "80 por segundo", "Plan "),
        ] {
            let text = Text(language);
            assert_eq!(rate_words(text, Rate::each_second(80)), pace);
            let set_by = Origin::Tier { name: "fast".to_owned(), options: &["burst", "jitter"] };
            let said = origin(text, &set_by).into_string();
            assert_eq!(said, format!("{tier}<bdi>fast</bdi>"), "{language:?}");
        }
    }
}
