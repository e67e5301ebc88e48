//! The report as a page: one file that needs no network, in the reader's light or dark theme.
//!
//! Well-formed as XML too, so that it can be read back strictly.

mod charts;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::board::Phase;
use super::latency::Summary;
use super::report::{Report, Usage};
use super::verdict::{Outcome, Verdict, millis, number};

const STYLE: &str = include_str!("page.css");

/// The whole page.
pub fn html(report: &Report) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                // Written by hand: every element is closed.
                (PreEscaped("<meta charset=\"utf-8\"/><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"))
                title { "Load test of Pombo, " (report.started_at) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "Load test" }
                    p.soft { (subtitle(report)) }
                    (banner(report))
                    div.cards { @for (figure, what) in headline(report) { (card(&figure, &what)) } }
                    h2 { "Verdicts" }
                    div.wide { (verdicts(&report.verdicts)) }
                    h2 { "Over time" }
                    div.charts { @for figure in charts::over_time(report) { (figure) } }
                    h2 { "Single messages" }
                    div.charts { @for figure in charts::of_latency(report) { (figure) } }
                    div.wide style="margin-top:.9rem" { (latencies(report)) }
                    h2 { "Bulk sends" }
                    div.wide { (bulk(report)) }
                    @if let Some(more) = tables::more(report) { (more) }
                    h2 { "What it cost" }
                    div.wide { (costs(report)) }
                    h2 { "How it was measured" }
                    (method(report))
                }
            }
        }
    };
    page.into_string()
}

fn subtitle(report: &Report) -> String {
    let setting = &report.setting;
    let who = if setting.service == "own" {
        format!("a service and a simulator of its own, {}", setting.database)
    } else {
        format!("the service at {}, received by {}", setting.service, setting.receiver)
    };
    format!(
        "Pombo {} · {} · {who} · {} cores, {}",
        report.version, report.started_at, setting.cores, setting.system
    )
}

fn banner(report: &Report) -> Markup {
    let failed = report.verdicts.iter().filter(|verdict| verdict.decides && verdict.outcome == Outcome::Bad);
    let failed: Vec<_> = failed.map(|verdict| verdict.answer.as_str()).collect();
    let (class, words) = match (report.passed, report.ended_early) {
        (true, _) if report.arrivals.is_none() => {
            let words = "There was no receiver that counts: the figures are those of the service itself.";
            ("banner fair", words.to_owned())
        }
        (false, _) => ("banner bad", format!("Failed. {}", failed.join(" "))),
        (true, true) => ("banner fair", "Passed so far: the test was ended early.".to_owned()),
        (true, false) => {
            ("banner good", "Passed: nothing lost, nothing repeated, the limit kept.".to_owned())
        }
    };
    html! { div class=(class) { (words) } }
}

/// The headline figures.
fn headline(report: &Report) -> Vec<(String, String)> {
    let mut cards = Vec::new();
    if let Some(arrivals) = &report.arrivals {
        cards.push((
            format!("{}/s", number(arrivals.per_s_while_running.round() as u64)),
            "the pace at the receiver while bulk sends ran".to_owned(),
        ));
        let limit = report.limit.map_or_else(
            || if report.channels.len() > 1 { "of all channels" } else { "no limit" }.to_owned(),
            |limit| format!("the limit is {}/s", number(limit.per_second.round() as u64)),
        );
        cards.push((
            number(arrivals.most_in_a_second),
            format!("the most that arrived within any one second; {limit}"),
        ));
    }
    if report.bulk.latency_ms.count > 0 {
        let largest = report.bulk.sends.iter().map(|send| send.recipients).max().unwrap_or_default();
        cards.push((
            millis(report.bulk.latency_ms.max),
            format!("to a 202 for a bulk send at most; the largest has {} recipients", number(largest)),
        ));
    }
    if report.singles.latency_ms.count > 0 {
        cards.push((millis(report.singles.latency_ms.p99), "to a 202 for a single message, p99".to_owned()));
    }
    if report.arrivals.is_some() {
        let balance = &report.balance;
        cards.push((
            format!("{} / {}", number(balance.lost), number(balance.repeated)),
            format!("lost / repeated, of {}", number(balance.promised)),
        ));
    }
    if let Some(service) = report.resources.service {
        cards.push((
            format!("{:.0} MiB", service.most_mib),
            format!("memory of the service at most; {:.0} % of a core on average", service.cpu_percent),
        ));
    }
    cards
}

fn card(figure: &str, what: &str) -> Markup {
    html! { div.card { div.figure { (figure) } div.soft { (what) } } }
}

const fn class(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Good => ("tag good", "good"),
        Outcome::Fair => ("tag fair", "look"),
        Outcome::Bad => ("tag bad", "bad"),
        Outcome::Open => ("tag open", "open"),
    }
}

fn verdicts(verdicts: &[Verdict]) -> Markup {
    html! {
        table {
            tbody {
                @for verdict in verdicts {
                    @let (class, word) = class(verdict.outcome);
                    tr {
                        th scope="row" { (verdict.question) }
                        td { span class=(class) { (word) } }
                        td { (verdict.answer) }
                    }
                }
            }
        }
    }
}

fn latencies(report: &Report) -> Markup {
    let singles = &report.singles;
    let row = |what: &str, of: &Summary, times: Option<&f64>| {
        let times = times.map_or_else(String::new, |times| format!("{times:.1} ×"));
        html! {
            tr {
                th scope="row" { (what) }
                td.n { (number(of.count)) }
                @for value in [of.p50, of.p90, of.p99, of.p999, of.max] { td.n { (millis(value)) } }
                td.n { (times) }
            }
        }
    };
    html! {
        table {
            thead {
                tr {
                    th { "Single sends, due" }
                    @for title in ["accepted", "p50", "p90", "p99", "p99.9", "max", "p99 to idle"] { th.n { (title) } }
                }
            }
            tbody {
                @for (phase, of) in singles.by_phase.iter().filter(|(_, of)| of.count > 0) {
                    (row(phase.words(), of, singles.p99_to_idle.get(phase)))
                }
                (row("in all", &singles.latency_ms, None))
                @if report.bulk.latency_ms.count > 0 { (row("bulk sends", &report.bulk.latency_ms, None)) }
            }
        }
    }
}

fn bulk(report: &Report) -> Markup {
    html! {
        table {
            thead {
                tr { th { "channel" } th { "tag" } th.n { "requested at" } th.n { "recipients" } th.n { "accepted in" } }
            }
            tbody {
                @for send in report.bulk.sends.iter().take(100) {
                    tr {
                        td { (send.channel) }
                        td { (send.tag) }
                        td.n { (format!("{:.1} s", send.at_s)) }
                        td.n { (number(send.recipients)) }
                        td.n { (millis(send.accept_ms)) }
                    }
                }
                @if report.bulk.sends.is_empty() { tr { td colspan="5" { "none" } } }
            }
        }
    }
}

fn costs(report: &Report) -> Markup {
    let resources = &report.resources;
    let row = |what: &str, usage: Option<Usage>| {
        html! {
            tr {
                th scope="row" { (what) }
                @match usage {
                    Some(usage) => {
                        td.n { (format!("{:.1} s", usage.cpu_s)) }
                        td.n { (format!("{:.0} %", usage.cpu_percent)) }
                        td.n { (format!("{:.0} MiB", usage.start_mib)) }
                        td.n { (format!("{:.0} MiB", usage.most_mib)) }
                        td.n { (format!("{:.0} MiB", usage.end_mib)) }
                    }
                    None => td colspan="5" { "nobody could tell" },
                }
            }
        }
    };
    html! {
        table {
            thead {
                tr {
                    th { "process" }
                    @for title in ["processor time", "of a core", "memory at the start", "at most", "at the end"] { th.n { (title) } }
                }
            }
            tbody {
                (row("service", resources.service))
                (row("simulator", resources.simulator))
                (row("load test", resources.loadtest))
            }
        }
        p.soft style="margin-top:.7rem" {
            @if let Some(micros) = resources.service_cpu_us_per_message {
                (format!("{micros:.0} µs of the service's processor time for each message, all that it did included. "))
            }
            @if let (Some(start), Some(end)) = (resources.database_start_mib, resources.database_end_mib) {
                (format!("The database grew from {start:.0} to {end:.0} MiB"))
                @if let Some(bytes) = resources.database_bytes_per_message {
                    (format!(", {bytes:.0} bytes for each message"))
                }
                ". "
            }
            @if report.setting.database == "PostgreSQL" { "These figures do not include PostgreSQL's own processes." }
        }
    }
}

fn method(report: &Report) -> Markup {
    let setting = &report.setting;
    let or = |text: &Option<String>, other: &str| text.clone().unwrap_or_else(|| other.to_owned());
    html! {
        div.card {
            dl {
                dt { "command" } dd { code { (setting.command) } }
                dt { "sent for" } dd { (format!("{:.1} s, and {:.1} s until everything had arrived", setting.sent_s, setting.drained_s)) }
                dt { "rate of the channel" } dd { (or(&setting.rate, "its own")) }
                dt { "single messages" } dd { (or(setting.ramp.as_ref().map_or(&setting.single_rate, |_| &setting.ramp), "none")) }
                dt { "content" } dd { (setting.content) }
                @if let Some(values) = setting.values { dt { "values of each recipient" } dd { (values) } }
                @if let Some(rate) = &setting.answers { dt { "people write" } dd { (rate) } }
                @if let Some(batch) = setting.webhooks { dt { "events in a request" } dd { "up to " (batch) } }
                @if setting.nodes > 1 { dt { "nodes" } dd { (setting.nodes) } }
                dt { "tags" } dd { (setting.tags.len()) }
                @if let (Some(contacts), Some(pace)) = (setting.contacts, setting.contacts_per_s) {
                    dt { "contacts" } dd { (format!("{}, added at {} a second", number(contacts.into()), number(pace.round() as u64))) }
                }
            }
            p style="margin-top:.8rem" {
                "Single sends follow a schedule that was fixed before the test began. The latency of each counts from the moment at \
                 which it was due, not from the moment at which it could start, so that a stall of the service shows in every \
                 request that was due during the stall (the correction for coordinated omission). The receiver counts what arrives. \
                 A message is repeated when its key arrives again; it is lost when its send was answered 202 and neither \
                 the receiver nor the service's list of failures knows it. The most in a second is taken over all intervals of one \
                 second, whenever they begin."
            }
            @if report.singles.by_phase.get(&Phase::Accepting).is_some_and(|of| of.count > 0 && of.count < 100) {
                p style="margin-top:.6rem" {
                    "Few single messages were due while bulk sends were being accepted: a higher single rate makes those \
                     percentiles more reliable."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
