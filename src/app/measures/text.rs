//! Samples in Prometheus' text format, after the metrics of the recorder.

use std::fmt::Write as _;

use super::metric::MetricKind;
use super::table;
use crate::engine::Sample;

/// The samples of each sampled metric, under its help. Samples of other metrics do not exist.
pub(super) fn of(samples: &[Sample]) -> String {
    let mut text = String::new();
    for metric in table::all().filter(|metric| metric.kind == MetricKind::Sampled) {
        let name = metric.name;
        let _ = write!(text, "# HELP {name} {}\n# TYPE {name} gauge\n", metric.help());
        for sample in samples.iter().filter(|sample| sample.name == name) {
            let labels: Vec<_> = sample
                .labels
                .iter()
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let _ = writeln!(text, "{name}{{{}}} {}", labels.join(","), number(sample.value));
        }
        text.push('\n');
    }
    text
}

/// A label's value: people name channels and tiers as they like.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    if value.is_infinite() { "+Inf".to_owned() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_do_not_break_the_format_and_no_limit_is_infinite() {
        let sample = Sample {
            name: "pombo_channel_rate_limit",
            labels: vec![("tier", "a\"b".to_owned()), ("name", "c\\d\ne".to_owned())],
            value: f64::INFINITY,
        };
        let text = of(&[sample]);
        assert!(text.contains("# TYPE pombo_channel_rate_limit gauge\n"), "{text}");
        let line = "pombo_channel_rate_limit{tier=\"a\\\"b\",name=\"c\\\\d\\ne\"} +Inf\n";
        assert!(text.contains(line), "{text}");
    }
}
