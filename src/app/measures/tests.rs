//! The metrics in the code, in their descriptions and in the documentation are the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{COUNTERS, GAUGES, Metric, PROCESS, SECONDS_TAKEN};

/// Metrics by name, each with its labels in alphabetical order.
type Metrics = BTreeMap<String, Vec<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
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
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    sources(&root().join("crates"), &mut files);
    let mut counted = Metrics::new();
    for path in files {
        let text = fs::read_to_string(path).unwrap();
        for call in ["metrics::counter!(", "metrics::histogram!(", "metrics::gauge!("] {
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
                let mut labels: Vec<_> = match labels.trim().strip_prefix('&') {
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

/// The metrics in the service's own sources.
fn described() -> Metrics {
    labelled(COUNTERS.iter().chain(GAUGES).chain(SECONDS_TAKEN))
}

fn labelled<'a>(metrics: impl Iterator<Item = &'a Metric>) -> Metrics {
    let labelled = metrics.map(|metric| {
        let mut labels: Vec<_> = metric.labels.iter().map(|label| (*label).to_owned()).collect();
        labels.sort_unstable();
        (metric.name.to_owned(), labels)
    });
    labelled.collect()
}

/// The words in backquotes of a cell of a table.
fn words(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The table of metrics for operators: the name in the first column, the labels in the second.
fn told() -> Metrics {
    let page = fs::read_to_string(root().join("docs/metrics.md")).unwrap();
    let table = page.lines().skip_while(|line| !line.starts_with("| metric | labels |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let told = rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|');
        let name = words(cells.next().unwrap()).next().unwrap();
        let mut labels: Vec<_> = words(cells.next().unwrap()).collect();
        labels.sort_unstable();
        (name, labels)
    });
    told.collect()
}

#[test]
fn every_counted_metric_is_described_and_no_other() {
    let counted = counted();
    assert!(counted.len() > 10, "the sources are read wrongly: {counted:?}");
    assert_eq!(counted, described());
}

#[test]
fn the_documentation_lists_every_metric() {
    assert_eq!(told(), labelled(COUNTERS.iter().chain(GAUGES).chain(SECONDS_TAKEN).chain(PROCESS)));
}

/// The metrics of a query, each with the labels that the query filters or groups by.
fn asked(query: &str) -> Metrics {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut asked = Metrics::new();
    let labels: Vec<String> = query
        .split("by (")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .flat_map(|list| list.split(',').map(|label| label.trim().to_owned()))
        .collect();
    let mut rest = query;
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if !["pombo_", "http_request", "process_"].iter().any(|known| word.starts_with(known)) {
            continue;
        }
        let filters = after.strip_prefix('{').and_then(|after| after.split('}').next()).unwrap_or_default();
        let filtered = filters.split(',').filter_map(|filter| filter.split(['=', '!']).next());
        let filtered = filtered.map(|label| label.trim().to_owned());
        let name = word.strip_suffix("_bucket").unwrap_or(word).to_owned();
        asked.entry(name).or_default().extend(filtered.chain(labels.iter().cloned()));
    }
    asked
}

#[test]
fn the_board_and_the_alerts_query_existing_metrics_and_labels() {
    // Labels that Prometheus adds, and the label of buckets.
    const GIVEN: [&str; 4] = ["instance", "job", "le", ""];
    let known = labelled(COUNTERS.iter().chain(GAUGES).chain(SECONDS_TAKEN).chain(PROCESS));
    let mut seen = Metrics::new();
    let board = fs::read_to_string(root().join("packaging/grafana/pombo.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut queries: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let alerts = fs::read_to_string(root().join("packaging/prometheus/alerts.yaml")).unwrap();
    // An expression, on its own line or on the more indented lines below it.
    for expression in alerts.split("expr:").skip(1) {
        queries.push(
            expression
                .split("\n        labels:")
                .next()
                .unwrap()
                .split("\n        for:")
                .next()
                .unwrap()
                .to_owned(),
        );
    }
    for query in &queries {
        for (name, labels) in asked(query) {
            let has = known.get(&name).unwrap_or_else(|| panic!("there is no metric {name}: {query}"));
            for label in &labels {
                assert!(
                    has.contains(label) || GIVEN.contains(&label.as_str()),
                    "{name} has no label {label}: {query}"
                );
            }
            seen.entry(name).or_default();
        }
    }
    let unseen: Vec<_> = known.keys().filter(|name| !seen.contains_key(*name)).collect();
    assert_eq!(
        unseen,
        ["process_threads", "process_virtual_memory_bytes", "process_virtual_memory_max_bytes"]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_is_measured_under_the_names_that_are_described() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || metrics_process::Collector::default().collect());
    let shown = recorder.handle().render();
    let names: std::collections::BTreeSet<_> =
        shown.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(names, PROCESS.iter().map(|metric| metric.name).collect());
}
