//! A chart of values over time, as inline SVG: a filled line, and a line for the limit.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::console::text::Text;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 140.0;
/// Space above the highest point, so that its line is not cut off.
const TOP: f64 = 8.0;

/// A chart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chart<'a> {
    /// The heading.
    pub(crate) name: &'a str,
    /// The unit, such as "messages a second".
    pub(crate) unit: &'a str,
    /// The values, from the oldest on, at equal distances.
    pub(crate) values: &'a [f64],
    /// A limit in the same unit.
    pub(crate) limit: Option<f64>,
    /// The labels at the start and the end of the time axis.
    pub(crate) span: (&'a str, &'a str),
    /// Whether the time has ended, so that there is no present value.
    pub(crate) is_over: bool,
}

impl Chart<'_> {
    /// The chart. Its numbers are also in a text beside it, for readers who cannot see it.
    pub(crate) fn show(self, text: Text) -> Markup {
        let Self { name, unit, limit, span, .. } = self;
        let summary = self.summary(text);
        html! {
            figure.chart {
                figcaption {
                    strong { (name) }
                    span.soft { (summary) }
                }
                (self.drawn(&summary, &[0.25, 0.5, 0.75]))
                div.span aria-hidden="true" { span { (span.0) } span { (span.1) } }
                @if let Some(limit) = limit {
                    @let limit = text.0.decimal(limit, 1);
                    p.soft { (text.with("shell-chart-limit", [("limit", limit.into()), ("unit", unit.into())])) }
                }
            }
        }
    }

    /// The line alone, for a row of a table, beside the present value and the limit.
    pub(crate) fn spark(self, text: Text) -> Markup {
        let number = |value| text.0.decimal(value, 1);
        html! {
            span.spark {
                (self.drawn(&self.summary(text), &[]))
                span { (number(self.values.last().copied().unwrap_or_default())) @if let Some(limit) = self.limit { " / " (number(limit)) } }
            }
        }
    }

    fn highest(self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    fn summary(self, text: Text) -> String {
        let number = |value| text.0.decimal(value, 1);
        let now = self.values.last().copied().unwrap_or_default();
        text.with(
            if self.is_over { "shell-chart-over" } else { "shell-chart" },
            [
                ("now", number(now).into()),
                ("highest", number(self.highest()).into()),
                ("unit", self.unit.into()),
            ],
        )
    }

    /// The picture, with lines of a grid at these parts of its height.
    fn drawn(self, summary: &str, grid: &[f64]) -> Markup {
        let Self { values, limit, .. } = self;
        let top = self.highest().max(limit.unwrap_or_default());
        let top = if top > 0.0 { top } else { 1.0 };
        let height = |value: f64| HEIGHT - (value.max(0.0) / top) * (HEIGHT - TOP);
        // A single value is drawn for the whole time.
        let line = match values {
            [] => String::new(),
            [only] => line(&[*only; 2], &height),
            values => line(values, &height),
        };
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(summary) {
                @for part in grid {
                    line.grid x1="0" x2=(WIDTH) y1=(HEIGHT * part) y2=(HEIGHT * part) {}
                }
                @if !line.is_empty() {
                    path.area d=(format!("M0 {HEIGHT} L{line} L{WIDTH} {HEIGHT} Z")) {}
                    path.line d=(format!("M{line}")) {}
                }
                @if let Some(limit) = limit {
                    line.limit x1="0" x2=(WIDTH) y1=(height(limit)) y2=(height(limit)) {}
                }
            }
        }
    }
}

/// The points of the line, as an SVG path.
fn line(values: &[f64], height: &dyn Fn(f64) -> f64) -> String {
    let step = WIDTH / (values.len().saturating_sub(1).max(1)) as f64;
    let mut line = String::with_capacity(values.len() * 12);
    for (index, value) in values.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(
            line,
            "{}{:.1} {:.1}",
            if index == 0 { "" } else { " " },
            index as f64 * step,
            height(*value)
        );
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::language::Language;

    fn drawn(values: &[f64], limit: Option<f64>) -> String {
        let chart = Chart {
            name: "Pace",
            unit: "messages a second",
            values,
            limit,
            span: ("a", "b"),
            is_over: false,
        };
        chart.show(Text(Language::English)).into_string()
    }

    #[test]
    fn one_value_is_a_level_line_and_a_low_limit_stands_at_the_top() {
        let one = drawn(&[5.0], Some(10.0));
        assert!(one.contains(r#"d="M0.0 74.0 600.0 74.0""#), "{one}");
        let slow = drawn(&[0.0, 0.0], Some(0.1));
        assert!(slow.contains(r#"y1="8""#), "{slow}");
        assert!(!drawn(&[], None).contains("path"));
    }

    #[test]
    fn a_small_chart_says_its_numbers_beside_it() {
        let chart = Chart {
            name: "Pace",
            unit: "messages a second",
            values: &[0.0, 5.0],
            limit: Some(80.0),
            span: ("a", "b"),
            is_over: false,
        };
        let small = chart.spark(Text(Language::English)).into_string();
        assert!(small.contains("<span>5 / 80</span>") && !small.contains("class=\"grid\""), "{small}");
    }
}
