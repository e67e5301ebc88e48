//! How a load test is shown: a bar with live figures on a terminal, plain lines elsewhere, and tables at the end.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Output;
use loadtest::compare::{Compared, Comparison, OtherSetting};
use loadtest::{Event, Live, Outcome, Phase, Report, Summary, Usage};

/// The time between two plain lines.
const EVERY: Duration = Duration::from_secs(5);

/// Standard error while a load test goes on.
pub(super) struct Screen {
    bar: ProgressBar,
    is_terminal: bool,
    told: Option<Instant>,
}

impl Screen {
    /// With `is_hidden`, nothing is drawn on a terminal.
    pub(super) fn new(is_hidden: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_hidden || !is_terminal {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        Self { bar: ProgressBar::with_draw_target(None, target), is_terminal, told: None }
    }

    pub(super) fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Stage(what) => {
                self.told = None;
                self.style("{spinner} {msg}");
                self.bar.set_message(what.to_owned());
                self.bar.tick();
                self.say(what);
            }
            Event::Seeding { done, total } => {
                self.style("{msg} {wide_bar} {percent:>3} %  {eta} left");
                self.bar.set_length(total);
                self.bar.set_position(done);
                self.bar.set_message("adding contacts");
                self.say_now_and_then(|| format!("added {done} of {total} contacts"));
            }
            Event::Live(live) => {
                self.style("{msg}\n{wide_bar} {percent:>3} %");
                self.bar.set_length(millis(live.duration));
                self.bar.set_position(millis(live.passed.min(live.duration)));
                self.bar.set_message(told(live));
                self.say_now_and_then(|| told(live));
            }
            Event::Events { arrived, total } => {
                self.style("{msg} {wide_bar} {percent:>3} %");
                self.bar.set_length(total);
                self.bar.set_position(arrived);
                self.bar.set_message("waiting for events at the receiver of webhooks");
                self.say_now_and_then(|| format!("{arrived} of {total} events at the receiver of webhooks"));
            }
            Event::Warning(what) => self.bar.suspend(|| {
                // When standard error is closed, the line is lost.
                let _ = writeln!(std::io::stderr().lock(), "{what}");
            }),
        }
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    fn say_now_and_then(&mut self, what: impl FnOnce() -> String) {
        if self.told.is_none_or(|told| told.elapsed() >= EVERY) {
            self.told = Some(Instant::now());
            self.say(&what());
        }
    }

    /// A plain line, away from a terminal.
    fn say(&self, what: &str) {
        if !self.is_terminal {
            // When standard error is closed, the line is lost.
            let _ = writeln!(std::io::stderr().lock(), "{what}");
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// One line of live figures.
fn told(live: &Live) -> String {
    let sample = &live.sample;
    let mut told = vec![if live.is_draining {
        format!("{:.0} s, waiting for the rest", live.passed.as_secs_f64())
    } else {
        format!("{:.0} of {:.0} s", live.passed.as_secs_f64(), live.duration.as_secs_f64())
    }];
    told.push(format!("accepted {}", sample.promised));
    told.extend(sample.arrived.map(|arrived| format!("arrived {arrived}")));
    told.extend(live.per_second.map(|per_second| format!("{per_second}/s")));
    told.extend(sample.events.map(|events| format!("events {events}")));
    told.extend(sample.single_p99_ms.map(|p99| format!("p99 {p99:.1} ms")));
    told.extend(sample.service_cpu_percent.map(|percent| format!("cpu {percent:.0} %")));
    told.extend(sample.service_mib.map(|mib| format!("{mib:.0} MiB")));
    if live.errors > 0 {
        told.push(format!("errors {}", live.errors));
    }
    told.join("  ")
}

/// The figures, one in each row.
pub(super) fn figures(report: &Report) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |what: String, figure: String| rows.push(vec![what, figure]);
    let early = if report.ended_early { "; ended early" } else { "" };
    let setting = &report.setting;
    let lasted = format!("{:.1} s, then {:.1} s for the rest{early}", setting.sent_s, setting.drained_s);
    row("sent for".to_owned(), lasted);
    if let Some(arrivals) = &report.arrivals {
        row("messages at the receiver".to_owned(), format!("{}", arrivals.messages));
        row(
            "  the pace in a second while bulk sends ran".to_owned(),
            format!("{:.0}", arrivals.per_s_while_running),
        );
        let none = if report.channels.len() > 1 { "of all channels" } else { "no limit" };
        let limit =
            report.limit.map_or(none.to_owned(), |limit| format!("the limit is {}/s", limit.per_second));
        row("  the most in any one second".to_owned(), format!("{} ({limit})", arrivals.most_in_a_second));
        let balance = &report.balance;
        row("lost, repeated".to_owned(), format!("{}, {}", balance.lost, balance.repeated));
    }
    let bulk = &report.bulk;
    row("bulk sends accepted".to_owned(), format!("{} of {}", bulk.sends.len(), bulk.planned));
    if bulk.latency_ms.count > 0 {
        row("  until 202".to_owned(), latency(&bulk.latency_ms));
    }
    let singles = &report.singles;
    row("single sends accepted".to_owned(), format!("{} of {}", singles.accepted, singles.due));
    for phase in Phase::ALL {
        if let Some(of) = singles.by_phase.get(&phase).filter(|of| of.count > 0) {
            row(format!("  {}", phase.words()), latency(of));
        }
    }
    for (code, times) in singles.refused.iter().chain(&singles.unclear) {
        row(format!("  refused or unclear: {code}"), times.to_string());
    }
    if let Some(receipts) = &report.receipts {
        row("receipts taken, refused".to_owned(), format!("{}, {}", receipts.taken, receipts.refused));
    }
    if let Some(events) = &report.events {
        row(
            "events at the receiver of webhooks".to_owned(),
            format!("{} of {}, in {} requests", events.arrived, events.expected, events.requests),
        );
        let (mean, most) = (events.per_s, events.most_in_a_second);
        row("  in a second, the most in any one".to_owned(), format!("{mean:.0}, {most}"));
        if events.latency_ms.count > 0 {
            row("  from an event to its arrival".to_owned(), latency(&events.latency_ms));
        }
    }
    if let Some(answers) = &report.answers {
        row(
            "messages of people in conversations".to_owned(),
            format!("{} of {}, {:.0} in a second", answers.found, answers.written, answers.per_s),
        );
    }
    for channel in report.channels.iter().filter(|_| report.channels.len() > 1) {
        let limit = channel
            .limit
            .map_or("no limit".to_owned(), |limit| format!("the limit is {}/s", limit.per_second));
        let most = channel.most_in_a_second.unwrap_or_default();
        let messages = channel.messages.unwrap_or_default();
        row(
            format!("  {}", channel.name),
            format!("{messages} messages, at most {most} in a second ({limit})"),
        );
    }
    for step in report.ramp.iter().flat_map(|climb| &climb.steps) {
        let word = if step.keeps_up { "keeps up" } else { "does not keep up" };
        row(format!("  at {:.0}/s", step.per_s), format!("{word}: {}", latency(&step.latency_ms)));
    }
    let resources = &report.resources;
    for (what, usage) in [
        ("service", resources.service),
        ("simulator", resources.simulator),
        ("load test", resources.loadtest),
    ] {
        row(what.to_owned(), usage.map_or_else(|| "unknown".to_owned(), |usage| used(&usage)));
    }
    if let (Some(start), Some(end)) = (resources.database_start_mib, resources.database_end_mib) {
        row("database".to_owned(), format!("{start:.0} MiB, then {end:.0} MiB"));
    }
    rows
}

fn latency(of: &Summary) -> String {
    let Summary { count, p50, p90, p99, p999: _, max } = of;
    format!("p50 {p50:.2}  p90 {p90:.2}  p99 {p99:.2}  max {max:.2} ms, of {count}")
}

fn used(usage: &Usage) -> String {
    format!(
        "{:.0} % of a core, {:.0} MiB at the start, {:.0} at most",
        usage.cpu_percent, usage.start_mib, usage.most_mib
    )
}

/// A table of two reports.
pub(super) fn compared(output: &Output, comparison: &Comparison) -> anyhow::Result<()> {
    let row = |figure: &Compared| {
        let Compared { figure: what, unit, before, now, change_percent, is_worse } = figure;
        vec![
            if *is_worse { "bad" } else { "good" }.to_owned(),
            (*what).to_owned(),
            format!("{before:.1} {unit}"),
            format!("{now:.1} {unit}"),
            change_percent.map_or_else(String::new, |percent| format!("{percent:+.1} %")),
        ]
    };
    output.table(&["verdict", "figure", "before", "now", "change"], comparison.figures.iter().map(row))?;
    for other in &comparison.other_settings {
        let OtherSetting { setting, before, now } = other;
        output.record(&(), &format!("the setting `{setting}` differs: {before} before, {now} now"))?;
    }
    Ok(())
}

/// The verdicts, one in each row.
pub(super) fn verdicts(report: &Report) -> Vec<Vec<String>> {
    let word = |outcome| match outcome {
        Outcome::Good => "good",
        Outcome::Fair => "look",
        Outcome::Bad => "bad",
        Outcome::Open => "open",
    };
    let row = |verdict: &loadtest::Verdict| {
        vec![word(verdict.outcome).to_owned(), verdict.question.to_owned(), verdict.answer.clone()]
    };
    report.verdicts.iter().map(row).collect()
}
