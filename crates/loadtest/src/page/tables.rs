//! The tables of the page about several channels, steps of a ramp, and an earlier report.

use maud::{Markup, html};

use crate::answers::AnswerProof;
use crate::compare::Comparison;
use crate::events::EventArrivals;
use crate::ramp::Climb;
use crate::report::{ChannelReport, Report};
use crate::verdict::{millis, number};

/// The tables for what not every test has; `None` when there is none.
pub(super) fn more(report: &Report) -> Option<Markup> {
    let has_channels = report.channels.len() > 1;
    let has_proof = report.events.is_some() || report.answers.is_some();
    let has_more = report.ramp.is_some() || has_proof || report.comparison.is_some();
    if !has_channels && !has_more {
        return None;
    }
    Some(html! {
        @if has_channels {
            h2 { "Channels" }
            div.wide { (channels(&report.channels)) }
        }
        @if let Some(climb) = &report.ramp {
            h2 { "Ramp" }
            div.wide { (steps(climb)) }
        }
        @if let Some(arrivals) = &report.events {
            h2 { "Webhooks" }
            div.wide { (events(arrivals)) }
        }
        @if let Some(proof) = &report.answers {
            h2 { "Answers" }
            div.wide { (answers(proof)) }
        }
        @if let Some(comparison) = &report.comparison {
            h2 { "Compared" }
            div.wide { (compared(comparison)) }
        }
    })
}

fn channels(channels: &[ChannelReport]) -> Markup {
    let or_none = |figure: Option<u64>| figure.map_or_else(|| "not counted".to_owned(), number);
    html! {
        table {
            thead {
                tr {
                    th { "channel" } th { "company" } th { "tier" }
                    @for title in ["limit", "messages", "most in a second", "throttled"] { th.n { (title) } }
                }
            }
            tbody {
                @for channel in channels {
                    tr {
                        td { (channel.name) }
                        td { (channel.company.as_deref().unwrap_or("")) }
                        td { (channel.tier.as_deref().unwrap_or("")) }
                        td.n {
                            @match channel.limit {
                                Some(limit) => (format!("{}/s", number(limit.per_second.round() as u64))),
                                None => "none",
                            }
                        }
                        td.n { (or_none(channel.messages)) }
                        td.n { (or_none(channel.most_in_a_second)) }
                        td.n { (number(channel.throttled)) }
                    }
                }
            }
        }
    }
}

fn steps(climb: &Climb) -> Markup {
    html! {
        table {
            thead {
                tr { @for title in ["a second", "due", "accepted", "p50", "p99", "max"] { th.n { (title) } } th { "keeps up" } }
            }
            tbody {
                @for step in &climb.steps {
                    tr {
                        td.n { (format!("{:.0}", step.per_s)) }
                        td.n { (number(step.due)) }
                        td.n { (number(step.accepted)) }
                        @for value in [step.latency_ms.p50, step.latency_ms.p99, step.latency_ms.max] { td.n { (millis(value)) } }
                        td { @if step.keeps_up { "yes" } @else { "no" } }
                    }
                }
            }
        }
    }
}

fn events(arrivals: &EventArrivals) -> Markup {
    let latency = &arrivals.latency_ms;
    html! {
        table {
            thead {
                tr {
                    @for title in ["events", "requests", "repeated", "out of order", "a second", "most in a second"] { th.n { (title) } }
                    @for title in ["p50", "p99", "max"] { th.n { (title) " to the receiver" } }
                }
            }
            tbody {
                tr {
                    td.n { (number(arrivals.arrived)) " of " (number(arrivals.expected)) }
                    @for figure in [arrivals.requests, arrivals.repeated, arrivals.disordered] { td.n { (number(figure)) } }
                    td.n { (number(arrivals.per_s.round() as u64)) }
                    td.n { (number(arrivals.most_in_a_second)) }
                    @for value in [latency.p50, latency.p99, latency.max] { td.n { (millis(value)) } }
                }
            }
        }
    }
}

fn answers(proof: &AnswerProof) -> Markup {
    html! {
        table {
            thead {
                tr {
                    @for title in ["written", "told twice", "in conversations", "missing", "more than once", "a second"] {
                        th.n { (title) }
                    }
                }
            }
            tbody {
                tr {
                    @for figure in [proof.written, proof.repeated, proof.found, proof.missing, proof.doubled] {
                        td.n { (number(figure)) }
                    }
                    td.n { (number(proof.per_s.round() as u64)) }
                }
            }
        }
    }
}

fn compared(comparison: &Comparison) -> Markup {
    html! {
        p.soft { (format!("With the report of {} (Pombo {}).", comparison.base_started_at, comparison.base_version)) }
        table {
            thead { tr { th { "figure" } @for title in ["before", "now", "change"] { th.n { (title) } } th { } } }
            tbody {
                @for figure in &comparison.figures {
                    tr {
                        th scope="row" { (figure.figure) }
                        td.n { (format!("{:.1} {}", figure.before, figure.unit)) }
                        td.n { (format!("{:.1} {}", figure.now, figure.unit)) }
                        td.n { (figure.change_percent.map_or_else(String::new, |percent| format!("{percent:+.1} %"))) }
                        td { @if figure.is_worse { span class="tag bad" { "worse" } } }
                    }
                }
            }
        }
    }
}
