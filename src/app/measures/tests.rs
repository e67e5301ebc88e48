//! The metrics in the code, in their table, in the alerts and on the board are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::alerts::ALERTS;
use super::metric::{Metric, MetricKind};
use super::page::names;
use super::panels::ROWS;
use super::table;

/// Metrics by name, each with its labels in alphabetical order.
type Metrics = BTreeMap<String, Vec<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program's sources without tests.
fn sources() -> Vec<String> {
    fn find(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    find(&root().join("src"), &mut found);
    find(&root().join("crates"), &mut found);
    found.into_iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The text up to the parenthesis that ends a macro's arguments.
fn arguments(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    &text[..end.unwrap()]
}

/// The string literals of a text, in their order.
fn literals(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What follows `before`, up to the end of its line.
fn after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.split_once(before)?.1.lines().next()
}

/// Every metric that the program counts, from its sources.
fn counted() -> Metrics {
    let mut counted = Metrics::new();
    for text in sources() {
        for call in ["metrics::counter!(", "metrics::histogram!(", "metrics::gauge!(", "Sample::new("] {
            for rest in text.split(call).skip(1) {
                let arguments = arguments(rest);
                let (name, labels) = match arguments.split_once(',') {
                    Some((name, labels)) => (name, labels),
                    None => (arguments, ""),
                };
                // A name, or labels, may stand in a constant or a variable of the same file.
                let name = match literals(name).pop() {
                    Some(name) => name,
                    None => literals(after(&text, &format!("const {name}: &str =")).unwrap()).remove(0),
                };
                let variable = labels
                    .trim()
                    .strip_prefix('&')
                    .or_else(|| labels.trim().strip_suffix(", messages as f64"));
                let mut labels: Vec<_> = match variable {
                    Some(variable) => text
                        .split_once(&format!("let {variable} = ["))
                        .map(|(_, labels)| labels.split_once("];").unwrap().0)
                        .map(literals)
                        .unwrap(),
                    None => labels.split(',').filter_map(|pair| literals(pair).into_iter().next()).collect(),
                };
                labels.sort_unstable();
                let before = counted.insert(name.clone(), labels.clone());
                assert!(before.is_none_or(|before| before == labels), "{name} has different labels");
            }
        }
    }
    counted
}

fn labelled<'a>(metrics: impl Iterator<Item = &'a Metric>) -> Metrics {
    let labelled = metrics.map(|metric| {
        let mut labels: Vec<_> = metric.labels.iter().map(|label| label.name.to_owned()).collect();
        labels.sort_unstable();
        (metric.name.to_owned(), labels)
    });
    labelled.collect()
}

#[test]
fn every_counted_metric_is_in_the_table_and_no_other() {
    let counted = counted();
    assert!(counted.len() > 10, "the sources are read wrongly: {counted:?}");
    assert_eq!(counted, labelled(table::all().filter(|metric| metric.kind != MetricKind::Process)));
}

#[test]
fn background_work_is_counted_from_the_start_under_each_of_its_names() {
    let mut named = BTreeSet::new();
    for text in sources() {
        for call in [
            "repeat(thread, ",
            "repeat(&helpers, ",
            "repeat(&engine.threads[1], ",
            "repeat(&engine.0.threads[1], ",
            " caught(",
        ] {
            for rest in text.split(call).skip(1).filter(|rest| rest.starts_with('"')) {
                named.insert(literals(rest).remove(0));
            }
        }
    }
    let panics = table::all().find(|metric| metric.name == "pombo_panics_total").unwrap();
    let known: BTreeSet<_> = panics.labels[0].values().unwrap().into_iter().map(str::to_owned).collect();
    // Of the tests beside the rounds.
    named.remove("test");
    assert_eq!(named, known);
}

#[test]
fn every_value_of_a_label_is_a_word_of_the_program() {
    let is_table = |text: &String| {
        ["const WORKS: &[&str]", "const SUBJECTS: &[MetricGroup]"].iter().any(|line| text.contains(line))
    };
    let others = sources().into_iter().filter(|text| !is_table(text));
    let all = others.collect::<Vec<_>>().join("\n");
    for metric in table::all() {
        for value in metric.labels.iter().filter_map(|label| label.values()).flatten() {
            assert!(all.contains(&format!("\"{value}\"")), "{}: {value}", metric.name);
        }
    }
}

/// The metrics of a query, each with the labels that the query filters or groups by.
fn asked(query: &str) -> Metrics {
    let groups: Vec<String> = query
        .split("by (")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .flat_map(|list| list.split(',').map(|label| label.trim().to_owned()))
        .collect();
    let known = |name: &str| ["pombo_", "http_", "process_"].iter().any(|known| name.starts_with(known));
    let mut asked = Metrics::new();
    for name in names(query).filter(|name| known(name)) {
        let mut labels = groups.clone();
        for rest in query.split(name).skip(1) {
            let rest = rest.strip_prefix("_bucket").unwrap_or(rest);
            let filters = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
            let filters = filters.split("\",").filter_map(|filter| filter.split(['=', '!']).next());
            labels.extend(filters.map(|label| label.trim().to_owned()));
        }
        asked.insert(name.to_owned(), labels);
    }
    asked
}

#[test]
fn the_board_and_the_alerts_query_existing_metrics_and_labels() {
    // Labels that Prometheus adds, and the label of buckets.
    const GIVEN: [&str; 4] = ["instance", "job", "le", ""];
    let known = labelled(table::all());
    let panels = ROWS.iter().flat_map(|row| row.panels);
    let shown: Vec<_> = panels.flat_map(super::board::Panel::expressions).collect();
    let alerts = ALERTS.iter().map(|alert| alert.when.to_owned());
    for query in shown.iter().cloned().chain(alerts) {
        for (name, labels) in asked(&query) {
            let has = known.get(&name).unwrap_or_else(|| panic!("there is no metric {name}: {query}"));
            for label in &labels {
                assert!(
                    has.contains(label) || GIVEN.contains(&label.as_str()),
                    "{name} has no label {label}: {query}"
                );
            }
        }
    }
    let seen: BTreeSet<_> = shown.iter().flat_map(|query| asked(query).into_keys()).collect();
    let unseen: Vec<_> = known.keys().filter(|name| !seen.contains(*name)).collect();
    assert_eq!(
        unseen,
        ["process_threads", "process_virtual_memory_bytes", "process_virtual_memory_max_bytes"],
        "not on the board"
    );
}

/// A counter that is born at 1 has no increase, so an alert on it misses the first event.
#[test]
fn every_counter_of_an_alert_is_there_from_the_start_with_each_label_value_that_the_alert_names() {
    let mut counters = 0;
    for alert in ALERTS {
        for name in names(alert.when) {
            let Some(metric) = table::all().find(|metric| metric.name == name) else { continue };
            if metric.kind != MetricKind::Counter {
                continue;
            }
            counters += 1;
            let series = metric.series();
            assert!(
                !series.is_empty(),
                "{}: {name} has labels whose values are unknown at the start",
                alert.name
            );
            let values: BTreeSet<_> = series.iter().flatten().map(|(_, value)| *value).collect();
            let (_, filters) = alert.when.split_once(name).unwrap();
            let Some(filters) = filters.strip_prefix('{').and_then(|rest| rest.split('}').next()) else {
                continue;
            };
            for filter in filters.split("\",") {
                let (label, wanted) = filter.split_once('=').unwrap();
                let wanted = wanted.trim_matches(['~', '"']);
                if label != "job" {
                    assert!(
                        wanted.split('|').all(|value| values.contains(value)),
                        "{}: {wanted}",
                        alert.name
                    );
                }
            }
        }
    }
    assert!(counters > 10, "{counters}");
}

#[test]
fn every_alert_says_what_to_do_and_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for alert in ALERTS {
        assert!(names.insert(alert.name), "{} is there twice", alert.name);
        assert!(alert.summary.len() > 15 && alert.description.len() > 15, "{}", alert.name);
    }
}

#[test]
fn the_recorder_shows_counters_at_zero_before_anything_happens() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || table::all().for_each(super::begin));
    let shown = recorder.handle().render();
    for line in [
        r#"pombo_channel_changes_total{to="disconnected"} 0"#,
        r#"pombo_webhooks_total{result="refused"} 0"#,
        r#"http_responses_total{class="5xx"} 0"#,
        r#"pombo_messages_held_total{reason="no_socket"} 0"#,
        "pombo_ledger_failures_total 0",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line} is missing: {shown}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_measured_under_the_names_that_are_described() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || metrics_process::Collector::default().collect());
    let shown = recorder.handle().render();
    let names: BTreeSet<_> =
        shown.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let process = table::all().filter(|metric| metric.kind == MetricKind::Process);
    assert_eq!(names, process.map(|metric| metric.name).collect());
}
