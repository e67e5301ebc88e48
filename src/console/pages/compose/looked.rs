//! What the check found in the file with the recipients: how many rows are ready, the first rows with their problems, and the
//! first messages as their recipients would get them.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use super::Around;
use super::attached::Looked;
use crate::console::component::formatting::beginning;
use crate::console::component::table::{Column, table};
use crate::console::form::Form;
use crate::console::pages::send::{message, skipped_row};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::request::{SkipCode, Skipped, SkippedEntry};
use crate::engine::DryRun;

/// Columns that are shown, and characters of each cell.
const SHOWN_COLUMNS: usize = 8;
const SHOWN_CHARS: usize = 60;
/// The messages that are drawn.
const EXAMPLES: usize = 3;

/// The counts, the first rows, and the link to the rows with problems.
pub(super) fn rows(
    viewer: &Viewer,
    form: &Form,
    (recipients, skipped): (u64, &Skipped),
    looked: &Looked,
) -> Markup {
    let text = viewer.text;
    let of = |codes: &[SkipCode]| counted(&skipped.counts, codes);
    let tiles = [
        ("compose-rows-ready", recipients),
        (
            "compose-rows-duplicate",
            of(&[SkipCode::DuplicateRecipient, SkipCode::SamePerson]) + looked.repeated,
        ),
        ("compose-rows-no-number", of(&[SkipCode::InvalidNumber])),
        ("compose-rows-lacking", of(&[SkipCode::ValueMissing, SkipCode::ValueNotAllowed])),
        ("compose-rows-suppressed", of(&[SkipCode::Suppressed, SkipCode::OptedOut])),
    ];
    let problems: HashMap<u64, &SkippedEntry> =
        skipped.first.iter().filter_map(|entry| Some((entry.index?, entry))).collect();
    let heads = std::iter::once(Column::numbers(text.get("compose-rows-line")))
        .chain(
            looked.header.iter().take(SHOWN_COLUMNS).map(|name| Column::words(beginning(name, SHOWN_CHARS))),
        )
        .chain(std::iter::once(Column::words(text.get("compose-rows-problem"))));
    let heads: Vec<Column> = heads.collect();
    let shown = looked.rows.iter().map(|(place, row)| {
        let mut cells = vec![html! { (text.number(row.line)) }];
        for column in 0..looked.header.len().min(SHOWN_COLUMNS) {
            let cell = row.cells.get(column).map(|cell| beginning(cell, SHOWN_CHARS)).unwrap_or_default();
            cells.push(html! { bdi { (cell) } });
        }
        let problem = problems.get(place).map(|entry| reason(text, looked, entry, &row.cells));
        cells.push(html! { @if let Some(problem) = problem { span.fault { (problem) } } });
        cells
    });
    let kept = form.value("kept");
    html! {
        section.panel aria-label=(text.get("compose-rows-title")) {
            h2 { (text.get("compose-rows-title")) }
            p { (text.with("compose-rows-count", [("count", looked.given.into())])) }
            dl.tiles {
                @for (key, count) in tiles { div.tile { dt { (text.get(key)) } dd { (text.number(count)) } } }
            }
            (table(&text.get("compose-rows-first"), &heads, shown))
            @if !problems.is_empty() && !kept.is_empty() {
                p { a href=(format!("/console/sends/new/problems/{kept}")) download { (text.get("compose-rows-download")) } }
            }
        }
    }
}

fn counted(counts: &BTreeMap<&'static str, u64>, codes: &[SkipCode]) -> u64 {
    codes.iter().filter_map(|code| counts.get(code.as_str())).sum()
}

/// Why nothing is sent to a row with these cells.
pub(super) fn reason(text: Text, looked: &Looked, entry: &SkippedEntry, cells: &[String]) -> String {
    let number = cells.get(looked.phone).map_or("", String::as_str);
    skipped_row::reason(text, (&looked.names, &looked.header), entry, (number, looked.country))
}

/// The first messages, as their recipients would get them.
pub(super) fn examples(viewer: &Viewer, around: &Around, dry_run: &DryRun) -> Markup {
    let text = viewer.text;
    let template = around.choice.filled();
    let filled =
        dry_run.examples.iter().filter_map(|example| Some((example.number, example.content.as_ref()?)));
    let filled: Vec<_> = filled.take(EXAMPLES).collect();
    html! {
        section.panel id="preview" aria-label=(text.get("compose-preview")) {
            h2 { (text.get("compose-preview")) }
            @for (number, content) in filled {
                p.hint { (text.get("compose-preview-to")) " " bdi { "+" (number) } }
                (message::shown(text, content, template.map(|template| template.components.clone())))
            }
        }
    }
}
