//! The figures of the overview: what happened today and in the last week, what happens now, and why messages failed.

use std::time::Duration;

use maud::{Markup, html};

use super::Overview;
use crate::clock::Timestamp;
use crate::console::component::bar::{self, Shares, percent};
use crate::console::component::cause::cause;
use crate::console::component::chart::Chart;
use crate::console::component::status::status;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::send::Counts;
use crate::engine::activity::SLOT;

/// Causes of failures that are shown.
const CAUSES: usize = 10;

/// What happened today and in the last seven days; a live part.
pub(super) fn days(viewer: &Viewer, overview: &Overview) -> Markup {
    let text = viewer.text;
    html! {
        div id="days" {
            @if overview.has_sent() {
                @match &overview.days {
                    None => p.notice { (text.get("overview-counting")) },
                    Some(counted) => div.days {
                        (day(text, "today", "overview-today", &counted.today))
                        (day(text, "week", "overview-week", &counted.all))
                    },
                }
            }
        }
    }
}

fn day(text: Text, id: &str, heading: &str, counts: &Counts) -> Markup {
    let shares = Shares::from(counts);
    let sent = shares.taken();
    let share = |part: u64| if sent == 0 { "—".to_owned() } else { percent(text, part, sent) };
    let figures = [
        ("overview-sent", text.number(sent)),
        ("overview-delivered", share(shares.delivered + shares.read)),
        ("overview-read", share(shares.read)),
        (bar::ANSWERED, share(shares.answered)),
        ("overview-failed", text.number(shares.failed)),
    ];
    html! {
        section.panel aria-labelledby=(id) {
            h2 id=(id) { (text.get(heading)) }
            dl {
                @for (name, figure) in figures {
                    div {
                        dt { (text.get(name)) @if name == bar::ANSWERED { " " (bar::explained(text)) } }
                        dd { (figure) }
                    }
                }
            }
            (bar::bar(text, &shares))
            (bar::line(text, &shares))
        }
    }
}

/// What happens now; a live part.
pub(super) fn present(viewer: &Viewer, Overview { lately, backlog, channels, .. }: &Overview) -> Markup {
    let text = viewer.text;
    html! {
        dl.tiles id="figures" {
            div.tile {
                dt { (text.get("overview-pace")) }
                dd { (text.0.decimal(lately.per_second, 1)) " " small { (text.get("overview-unit")) } }
            }
            div.tile {
                dt { (text.get("overview-queue")) }
                dd { (text.number(backlog.messages)) " " small { (text.with("overview-queue-of", [("sends", backlog.sends.into())])) } }
            }
            div.tile {
                dt { (text.get("overview-oldest")) }
                dd { @match backlog.oldest { Some(oldest) => (moment(viewer, oldest)), None => "—" } }
            }
            div.tile {
                dt { (text.get("overview-channels")) }
                dd {
                    @if channels.is_empty() {
                        "0"
                    } @else {
                        ul.states {
                            @for (state, count) in channels { li { (text.number(*count)) " " (status(text, *state)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The pace of the last hour; a live part.
pub(super) fn pace(viewer: &Viewer, overview: &Overview) -> Markup {
    let (text, lately) = (viewer.text, &overview.lately);
    if !overview.has_sent() {
        return html! { div id="pace" {} };
    }
    let whole = lately.sent.iter().map(|sent| *sent as f64 / SLOT.as_secs_f64());
    let values: Vec<_> = whole.chain([lately.per_second]).collect();
    let (now, hour) = (Timestamp::now(), Duration::from_secs(3_600));
    let span = (viewer.zone.clock(now.minus(hour)), viewer.zone.clock(now));
    let chart = Chart {
        name: &text.get("overview-hour"),
        unit: &text.get("overview-unit"),
        values: &values,
        limit: None,
        span: (&span.0, &span.1),
        is_over: false,
    };
    html! { div id="pace" { (chart.show(text)) } }
}

/// Why messages of today failed; a live part. Until they are counted, the figures of the day say so.
pub(super) fn failures(viewer: &Viewer, overview: &Overview) -> Markup {
    let text = viewer.text;
    let counted = overview.days.as_ref().filter(|_| overview.has_sent());
    let Some(counted) = counted else { return html! { div id="failures" {} } };
    let columns = [Column::words(text.get("overview-cause")), Column::numbers(text.get("overview-messages"))];
    let rows = counted
        .failures
        .iter()
        .take(CAUSES)
        .map(|(code, count)| vec![cause(text, *code), html! { (text.number(*count)) }]);
    html! {
        section id="failures" aria-labelledby="failures-heading" {
            h2 id="failures-heading" { (text.get("overview-failures")) }
            @if counted.failures.is_empty() {
                p { (text.get("overview-no-failures")) }
            } @else { (table(&text.get("overview-failures"), &columns, rows)) }
        }
    }
}
