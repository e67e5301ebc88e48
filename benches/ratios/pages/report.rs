//! The rows of the report about pages, and a table of all of them on standard error.

use std::io::Write as _;

use super::Shown;
use crate::Row;

/// The longest that a person waits for a page, in milliseconds.
const BOUND: f64 = 50.0;

/// What the rows say.
pub(crate) struct Words {
    pub(crate) slowest: &'static str,
    pub(crate) heaviest: &'static str,
    pub(crate) most: &'static str,
}

/// The slowest and the heaviest of `pages`, and all of them on standard error.
pub(crate) fn rows(mut pages: Vec<Shown>, mut health: Vec<f64>, assets: usize, words: &Words) -> Vec<Row> {
    pages.iter_mut().for_each(|page| page.took.sort_by(f64::total_cmp));
    health.sort_by(f64::total_cmp);
    pages.sort_by(|a, b| at(&b.took, 0.99).total_cmp(&at(&a.took, 0.99)));
    let mut table = String::from("| page | p50 ms | p99 ms | compressed kB |\n|---|---|---|---|\n");
    for Shown { path, took, bytes, .. } in &pages {
        let (p50, p99) = (at(took, 0.5), at(took, 0.99));
        table.push_str(&format!("| `{path}` | {p50:.1} | {p99:.1} | {:.1} |\n", *bytes as f64 / 1_000.0));
    }
    let _ = write!(std::io::stderr().lock(), "\n{table}");
    let above = pages.iter().filter(|page| at(&page.took, 0.99) > BOUND).count();
    let (slowest, all) = (&pages[0], pages.len());
    let heaviest = pages.iter().max_by_key(|page| page.bytes).unwrap();
    let (ours, bare) = (at(&slowest.took, 0.99), at(&health, 0.99));
    let [page, all_files] = [heaviest.bytes, heaviest.bytes + assets].map(|bytes| bytes as f64 / 1_000.0);
    vec![
        Row {
            what: words.slowest,
            ours: format!(
                "p50 {:.1}, p99 {ours:.1} ms: `{}`; {above} of {all} above the bound",
                at(&slowest.took, 0.5),
                slowest.path
            ),
            yardstick: format!("`/healthz` p50 {:.1}, p99 {bare:.1} ms", at(&health, 0.5)),
            ratio: format!("{:.1}", ours / bare),
            bound: "p99 ≤ 50 ms",
        },
        Row {
            what: words.heaviest,
            ours: format!("{all_files:.1} kB, the page alone {page:.1} kB: `{}`", heaviest.path),
            yardstick: format!("the assets {:.1} kB", assets as f64 / 1_000.0),
            ratio: "–".to_owned(),
            bound: words.most,
        },
    ]
}

/// The value below which this share of ascending `values` lies.
fn at(values: &[f64], share: f64) -> f64 {
    let place = (values.len() as f64 * share).ceil() as usize;
    values[place.clamp(1, values.len()) - 1]
}
