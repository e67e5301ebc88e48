//! The page `docs/metrics.md`; a test compares the file with the output of this module.

use std::fmt::Write as _;

use super::alerts::ALERTS;
use super::metric::Metric;
use super::table::SUBJECTS;

const HEAD: &str = "\
<!-- Written by `pombo explain --metrics`. Change the tables in the code, not this page. -->

# Metrics and alerts

`/metrics` serves metrics in the Prometheus text format, without authentication: do not make it public. With
`server.operator_bind` it is served at that address only. `metrics.enabled = false` switches it off.

```sh
curl -s \"$URL/metrics\" | grep -c '^# HELP pombo_'
```

The program has the alert rules and a board for Grafana that belong to its metrics:

```sh
pombo explain --alerts > pombo-alerts.yaml     # for rule_files of Prometheus
pombo explain --board > pombo-board.json       # to import into Grafana
```

The directory `packaging` of the repository has the same files.
";

const CHANNELS: &str = "\
Most metrics are totals over all channels, because a service may have thousands. `metrics.detail` bounds how many channels, and
how many tiers, have series of their own in `pombo_channel_rate`, `pombo_channel_rate_limit` and `pombo_messages_waiting`: those
that use most of their limit, and those with the most messages. The others are added up under `others`. [The operator
API](operator-api.md#look-into-a-channel) shows what one channel has in memory.
";

const ALERTS_HEAD: &str = "\
## Alerts

Each counter of an alert is there from the start, at 0, with every value of its labels: Prometheus sees the first increase. In
the rules, the job is called `pombo`. `page` wakes the person on call, `ticket` waits for the next working day.

| alert | severity | fires when | for | what it means |
|---|---|---|---|---|
";

const TAIL: &str = "
[Troubleshooting](troubleshooting.md) has more about each.

## Traces

[Traces](traces.md) show single sends: what happened to them, and how long each step took.
";

/// The whole page.
pub(super) fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for subject in SUBJECTS {
        let _ = write!(
            page,
            "\n## {}\n\n| metric | labels | meaning | alerts |\n|---|---|---|---|\n",
            subject.title
        );
        for metric in subject.metrics {
            let _ = writeln!(page, "{}", row(metric));
        }
    }
    let _ = write!(page, "\n{CHANNELS}\n{ALERTS_HEAD}");
    for alert in ALERTS {
        let lasts = if alert.lasts.is_empty() { "at once" } else { alert.lasts };
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {lasts} | {} |",
            alert.name,
            alert.severity.as_str(),
            cell(alert.when),
            cell(alert.description)
        );
    }
    page + TAIL
}

fn row(metric: &Metric) -> String {
    let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{}`", label.name)).collect();
    let of_it = ALERTS.iter().filter(|alert| names(alert.when).any(|name| name == metric.name));
    let alerts: Vec<_> = of_it.map(|alert| format!("`{}`", alert.name)).collect();
    let meaning = match metric.watch {
        "" => metric.meaning.to_owned(),
        watch => format!("{}. {watch}", metric.meaning),
    };
    format!("| `{}` | {} | {} | {} |", metric.name, labels.join(", "), cell(&meaning), alerts.join(", "))
}

/// The words of a query that may be names of metrics; the buckets of a histogram count as the histogram.
pub(super) fn names(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.map(|word| word.strip_suffix("_bucket").unwrap_or(word))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
