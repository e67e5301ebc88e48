//! The charts of the page, with their captions.

use maud::{Markup, PreEscaped, html};

use crate::board::Phase;
use crate::chart::{Chart, FIRST, FOURTH, Line, SECOND, THIRD, Tone, place};
use crate::latency::Summary;
use crate::report::Report;
use crate::sample::Sample;

/// Tenths of a second in a second.
const SECOND_TENTHS: usize = 10;

pub(super) fn over_time(report: &Report) -> Vec<Markup> {
    let marks: Vec<f64> = report.bulk.sends.iter().take(20).map(|send| send.at_s).collect();
    let over =
        |unit, lines| Chart { unit, along: "seconds", lines, marks: marks.clone(), ..Chart::default() };
    let figures = [
        figure(
            "Messages arriving at the receiver",
            "In the second before each moment. Dashed: a bulk send was requested; red: the channel's limit, and changes of it.",
            &Chart {
                limits: limits(report),
                changes: changes(report),
                is_wide: true,
                ..over("messages a second", arriving(report))
            },
        ),
        figure(
            "Messages that have not arrived yet",
            "Recipients of all requests that were answered 202, minus messages that have arrived.",
            &over("messages", outstanding(report)),
        ),
        figure(
            "Processor",
            "100 % is one core. When the simulator is at 100 %, it limits the pace, not the service.",
            &over(
                "% of a core",
                vec![
                    line("service", FIRST, report, |sample| sample.service_cpu_percent),
                    line("simulator", SECOND, report, |sample| sample.simulator_cpu_percent),
                    line("load test", THIRD, report, |sample| sample.loadtest_cpu_percent),
                ],
            ),
        ),
        figure(
            "Memory",
            "Resident. The simulator remembers every message that it got.",
            &over(
                "MiB",
                vec![
                    filled(line("service", FIRST, report, |sample| sample.service_mib)),
                    line("simulator", SECOND, report, |sample| sample.simulator_mib),
                ],
            ),
        ),
        figure(
            "Database",
            "Tables and indexes, contacts included.",
            &over("MiB", vec![filled(line("database", FOURTH, report, |sample| sample.database_mib))]),
        ),
    ];
    figures.into_iter().flatten().collect()
}

pub(super) fn of_latency(report: &Report) -> Vec<Markup> {
    let marks: Vec<f64> = report.bulk.sends.iter().take(20).map(|send| send.at_s).collect();
    let lately = Chart {
        unit: "ms to 202",
        along: "seconds",
        lines: vec![
            line("p99", SECOND, report, |sample| sample.single_p99_ms),
            line("median", FIRST, report, |sample| sample.single_p50_ms),
        ],
        marks,
        is_logarithmic: true,
        ..Chart::default()
    };
    let curve = |(phase, tone): (Phase, Tone)| Line {
        name: phase.words().to_owned(),
        tone,
        is_filled: false,
        points: report
            .singles
            .curves
            .get(&phase)
            .into_iter()
            .flatten()
            .map(|(percentile, millis)| (place(*percentile), *millis))
            .collect(),
    };
    let phases =
        [(Phase::Idle, THIRD), (Phase::Accepting, SECOND), (Phase::Running, FIRST), (Phase::After, FOURTH)];
    let curves = Chart {
        unit: "ms to 202",
        along: "percentile",
        lines: phases.map(curve).into(),
        is_logarithmic: true,
        is_percentiles: true,
        ..Chart::default()
    };
    let figures = [
        figure(
            "Latency over time",
            "Of the single messages that were answered since the previous point.",
            &lately,
        ),
        figure("Latency by percentile", "Each further nine takes the same space on the axis.", &curves),
    ];
    climb(report).into_iter().chain(figures.into_iter().flatten()).collect()
}

/// The limit of the only channel, from each moment on.
fn limits(report: &Report) -> Vec<(f64, f64)> {
    if report.channels.len() != 1 {
        return Vec::new();
    }
    let first = report.limit.map(|limit| (0.0, limit.per_second));
    let later =
        report.changes.iter().filter_map(|change| Some((change.followed_at_s?, change.limit?.per_second)));
    first.into_iter().chain(later).collect()
}

/// When the tiers were changed, and their new rate.
fn changes(report: &Report) -> Vec<(f64, String)> {
    report.changes.iter().map(|change| (change.at_s, format!("tiers: {}", change.rate))).collect()
}

/// The latencies of a ramp's steps.
fn climb(report: &Report) -> Option<Markup> {
    let climb = report.ramp.as_ref()?;
    let line = |name: &str, tone, of: fn(&Summary) -> f64| Line {
        name: name.to_owned(),
        tone,
        is_filled: false,
        points: climb.steps.iter().map(|step| (step.per_s, of(&step.latency_ms))).collect(),
    };
    let chart = Chart {
        unit: "ms to 202",
        along: "single messages a second",
        lines: vec![line("p99", SECOND, |of| of.p99), line("median", FIRST, |of| of.p50)],
        changes: climb.knee_per_s.map(|knee| (knee, "knee".to_owned())).into_iter().collect(),
        is_wide: true,
        is_logarithmic: true,
        ..Chart::default()
    };
    figure(
        "Latency by rate",
        "Of the steps of the ramp. The knee is the last step that the service kept up with.",
        &chart,
    )
}

/// Messages in the second before each tenth.
fn arriving(report: &Report) -> Vec<Line> {
    let Some(arrivals) = &report.arrivals else { return Vec::new() };
    let tenths = &arrivals.by_tenth;
    let second = |end: usize| {
        let second = &tenths[(end + 1).saturating_sub(SECOND_TENTHS)..=end];
        (end as f64 / SECOND_TENTHS as f64, second.iter().copied().map(f64::from).sum())
    };
    let points = (0..tenths.len()).map(second).collect();
    vec![Line { name: "arrived".to_owned(), tone: FIRST, is_filled: true, points }]
}

fn outstanding(report: &Report) -> Vec<Line> {
    let left = |sample: &Sample| Some(sample.promised.saturating_sub(sample.arrived?) as f64);
    vec![filled(line("not arrived", SECOND, report, left))]
}

fn line(name: &str, tone: Tone, report: &Report, of: fn(&Sample) -> Option<f64>) -> Line {
    let points = report.samples.iter().filter(|sample| sample.at_s >= 0.0);
    let points = points.filter_map(|sample| Some((sample.at_s, of(sample)?))).collect();
    Line { name: name.to_owned(), tone, is_filled: false, points }
}

fn filled(line: Line) -> Line {
    Line { is_filled: true, ..line }
}

/// A chart with its title, its legend and a sentence; `None` when there is nothing to show.
fn figure(title: &str, caption: &str, chart: &Chart) -> Option<Markup> {
    let svg = chart.svg()?;
    let shown: Vec<_> = chart.lines.iter().filter(|line| !line.points.is_empty()).collect();
    Some(html! {
        figure class=[chart.is_wide.then_some("whole")] {
            h3 { (title) }
            @if shown.len() > 1 {
                div.legend {
                    @for line in &shown {
                        span { i style=(swatch(line.tone)) { } (line.name) }
                    }
                }
            }
            (PreEscaped(svg))
            figcaption { (caption) }
        }
    })
}

fn swatch(tone: Tone) -> String {
    let name = match tone {
        FIRST => "first",
        SECOND => "second",
        THIRD => "third",
        _ => "fourth",
    };
    format!("background:var(--{name})")
}
