//! Charts as SVG for a page: lines over time, with units on the axes and lines for limits.
//!
//! Colours are placeholders: the page's style sheet replaces each by its light and dark colour.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// The size in pixels of a chart of usual width and of one as wide as the page, which scales them.
const USUAL: (u32, u32) = (640, 270);
const WIDE: (u32, u32) = (1_280, 340);
/// The maximum number of points of a line; of several neighbouring points, the highest is drawn.
const POINTS: usize = 400;
/// Room above the highest value.
const HEADROOM: f64 = 1.12;

/// A colour that the style sheet replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tone(pub(super) RGBColor);

/// The tones, each a colour that stands for itself in the style sheet.
pub(super) const FIRST: Tone = Tone(RGBColor(0x25, 0x63, 0xEB));
pub(super) const SECOND: Tone = Tone(RGBColor(0xD9, 0x77, 0x06));
pub(super) const THIRD: Tone = Tone(RGBColor(0x05, 0x96, 0x69));
pub(super) const FOURTH: Tone = Tone(RGBColor(0x7C, 0x3A, 0xED));
const LIMIT: Tone = Tone(RGBColor(0xDC, 0x26, 0x26));
const GRID: Tone = Tone(RGBColor(0xE5, 0xE7, 0xEB));
const INK: Tone = Tone(RGBColor(0x47, 0x55, 0x69));
const MARK: Tone = Tone(RGBColor(0x94, 0xA3, 0xB8));

/// A line and what it means.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) tone: Tone,
    /// Whether the area below it is filled.
    pub(super) is_filled: bool,
    /// The points, in the order of their first figures.
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines over time, or over percentiles.
#[derive(Debug, Clone, Default)]
pub(super) struct Chart {
    /// The unit of the vertical axis.
    pub(super) unit: &'static str,
    /// The unit of the horizontal axis.
    pub(super) along: &'static str,
    pub(super) lines: Vec<Line>,
    /// A value that must not be exceeded, from each moment on.
    pub(super) limits: Vec<(f64, f64)>,
    /// Moments at which the test changed something, each with a word.
    pub(super) changes: Vec<(f64, String)>,
    /// Moments at which something happened.
    pub(super) marks: Vec<f64>,
    /// Whether it is as wide as the page.
    pub(super) is_wide: bool,
    /// Whether the vertical axis is logarithmic.
    pub(super) is_logarithmic: bool,
    /// Whether the horizontal axis counts percentiles, ever finer.
    pub(super) is_percentiles: bool,
}

impl Chart {
    /// The SVG; `None` when there is nothing to show.
    pub(super) fn svg(&self) -> Option<String> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        points().next()?;
        let longest = points().map(|(x, _)| *x).fold(0.0, f64::max).max(1e-3);
        let highest = points().chain(&self.limits).map(|(_, y)| *y).fold(0.0, f64::max).max(1e-3) * HEADROOM;
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, if self.is_wide { WIDE } else { USUAL })
                .into_drawing_area();
            let drawn = if self.is_logarithmic {
                let least = points().map(|(_, y)| *y).filter(|y| *y > 0.0).fold(highest, f64::min) * 0.7;
                self.draw(&root, longest, (least.max(1e-3)..highest * 2.0).log_scale(), least.max(1e-3))
            } else {
                self.draw(&root, longest, 0.0..highest, 0.0)
            };
            drawn.ok()?;
            root.present().ok()?;
        }
        Some(svg)
    }

    fn draw<Y>(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
        longest: f64,
        vertical: Y,
        floor: f64,
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(root)
            .margin(8)
            .margin_right(18)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(0.0..longest, vertical)?;
        let text = ("sans-serif", 16).into_font().color(&INK.0);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.0.stroke_width(1))
            .axis_style(GRID.0.stroke_width(1))
            .label_style(text.clone())
            .axis_desc_style(text)
            .x_desc(self.along)
            .y_desc(self.unit)
            // Whole nines get labels, because people know them.
            .x_labels(if self.is_percentiles { longest as usize + 1 } else { 9 })
            .y_labels(5)
            .x_label_formatter(&|x| if self.is_percentiles { percentile(*x) } else { short(*x) })
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        for mark in self.marks.iter().filter(|mark| **mark <= longest) {
            let top = self.highest().fold(floor, f64::max);
            let line = [(*mark, floor), (*mark, top * HEADROOM)];
            chart.draw_series(DashedLineSeries::new(line, 3, 4, MARK.0.stroke_width(1)))?;
        }
        for line in &self.lines {
            let points = thinned(&line.points);
            if line.is_filled {
                let area = AreaSeries::new(points.iter().copied(), floor, line.tone.0.mix(0.14));
                chart.draw_series(area)?;
            }
            chart.draw_series(LineSeries::new(points, line.tone.0.stroke_width(2)))?;
        }
        for (place, (from, limit)) in self.limits.iter().enumerate() {
            let until = self.limits.get(place + 1).map_or(longest, |(until, _)| *until);
            let line = [(*from, *limit), (until, *limit)];
            chart.draw_series(DashedLineSeries::new(line, 8, 5, LIMIT.0.stroke_width(2)))?;
        }
        let top = self.highest().fold(floor, f64::max);
        for (at, what) in self.changes.iter().filter(|(at, _)| *at <= longest) {
            let line = [(*at, floor), (*at, top * HEADROOM)];
            chart.draw_series(LineSeries::new(line, LIMIT.0.stroke_width(1)))?;
            let style = ("sans-serif", 15).into_font().color(&INK.0);
            chart.draw_series(std::iter::once(Text::new(what.clone(), (*at, top * 1.05), style)))?;
        }
        Ok(())
    }

    /// The highest values of the lines and the limits.
    fn highest(&self) -> impl Iterator<Item = f64> {
        self.limits.iter().map(|(_, limit)| *limit).chain(self.lines.iter().flat_map(highest))
    }
}

fn highest(line: &Line) -> Option<f64> {
    line.points.iter().map(|(_, y)| *y).reduce(f64::max)
}

/// At most [`POINTS`] of the points: the highest of each run.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let run = points.len().div_ceil(POINTS).max(1);
    let highest = |run: &[(f64, f64)]| run.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(run).filter_map(highest).collect()
}

/// The position of a percentile on an axis on which each further nine takes the same space.
pub(super) fn place(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-6).log10()
}

fn percentile(place: f64) -> String {
    let percent = (1.0 - 10_f64.powf(-place)) * 100.0;
    // A whole nine may be slightly off its position, because of rounding.
    let nines = (place - 1e-6).ceil() as usize;
    let digits = if percent < 90.0 { 0 } else { nines.saturating_sub(2) };
    format!("{percent:.digits$}")
}

/// A figure with few signs: 12k, 1.5M, 0.25.
fn short(value: f64) -> String {
    let trimmed = |value: f64, digits: usize| {
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    match value.abs() {
        size if size >= 1e6 => format!("{}M", trimmed(value / 1e6, 2)),
        size if size >= 1e4 => format!("{}k", trimmed(value / 1e3, 1)),
        size if size >= 10.0 => trimmed(value, 1),
        _ => trimmed(value, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_on_the_axes_are_short_and_percentiles_get_finer() {
        assert_eq!([0.0, 0.25, 80.0, 12_500.0, 1_500_000.0].map(short), ["0", "0.25", "80", "12.5k", "1.5M"]);
        let shown = [50.0, 90.0, 99.0, 99.9].map(|percent| percentile(place(percent)));
        assert_eq!(shown, ["50", "90", "99", "99.9"]);
    }

    #[test]
    fn a_picture_is_xml_with_its_limit_and_nothing_is_no_picture() {
        let line = |points| Line { name: "arrived".to_owned(), tone: FIRST, is_filled: true, points };
        let points: Vec<_> = (0..5_000).map(|x| (f64::from(x), f64::from(x % 7))).collect();
        for is_logarithmic in [false, true] {
            let lines = vec![line(points.clone())];
            let chart = Chart {
                lines,
                limits: vec![(0.0, 9.0), (2_000.0, 4.0)],
                changes: vec![(2_000.0, "40/s".to_owned())],
                marks: vec![3.0],
                is_logarithmic,
                ..Chart::default()
            };
            let svg = chart.svg().unwrap();
            let parsed = roxmltree::Document::parse(&svg).unwrap();
            let strokes = parsed.descendants().filter(|node| node.attribute("stroke") == Some("#DC2626"));
            assert!(strokes.count() > 0, "{svg}");
            assert!(svg.contains("40/s"), "a change is named");
            assert!(svg.len() < 100_000, "{}", svg.len());
        }
        assert_eq!(Chart { lines: vec![line(Vec::new())], ..Chart::default() }.svg(), None);
    }

    #[test]
    fn thinning_keeps_the_highest() {
        let points: Vec<_> =
            (0..4_000).map(|x| (f64::from(x), if x == 1_234 { 99.0 } else { 1.0 })).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= POINTS && thin.contains(&(1_234.0, 99.0)));
    }
}
