//! What the check found in the file with the recipients: how many rows are ready, the first rows with their problems, and the
//! first messages as their recipients would get them.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use super::Around;
use super::attached::Looked;
use super::content::Kind;
use crate::console::component::formatting::beginning;
use crate::console::component::table::{Column, table};
use crate::console::form::Form;
use crate::console::pages::rejected_rows;
use crate::console::pages::send::message;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::phone::{Country, PhoneNumber};
use crate::domain::request::{SkipCode, SkippedEntry};
use crate::engine::DryRun;
use crate::engine::records::imports::Rejected;
use crate::import::RejectCode;

/// Columns that are shown, and characters of each cell.
const SHOWN_COLUMNS: usize = 8;
const SHOWN_CHARS: usize = 60;
/// The messages that are drawn.
const EXAMPLES: usize = 3;

/// The counts, the first rows, and the link to the rows with problems.
pub(super) fn rows(viewer: &Viewer, form: &Form, dry_run: &DryRun, looked: &Looked) -> Markup {
    let text = viewer.text;
    let counts = &dry_run.skipped.counts;
    let of = |codes: &[SkipCode]| counted(counts, codes);
    let tiles = [
        ("compose-rows-ready", dry_run.recipients),
        (
            "compose-rows-duplicate",
            of(&[SkipCode::DuplicateRecipient, SkipCode::SamePerson]) + looked.repeated,
        ),
        ("compose-rows-no-number", of(&[SkipCode::InvalidNumber])),
        ("compose-rows-lacking", of(&[SkipCode::ValueMissing, SkipCode::ValueNotAllowed])),
        ("compose-rows-suppressed", of(&[SkipCode::Suppressed, SkipCode::OptedOut])),
    ];
    let problems: HashMap<u64, &SkippedEntry> =
        dry_run.skipped.first.iter().filter_map(|entry| Some((entry.index?, entry))).collect();
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
        section.panel aria-label=(text.get("compose-rows")) {
            h2 { (text.get("compose-rows")) }
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
    let field = entry.field.as_deref().unwrap_or_default();
    let column = field.strip_prefix("values.").and_then(|name| {
        let place = looked.names.iter().position(|known| known == name)?;
        looked.header.get(place).map(|header| beginning(header, SHOWN_CHARS).to_owned())
    });
    let of_column = |key: &str| match &column {
        Some(column) => text.with(key, [("column", column.as_str().into())]),
        None => entry.reason.clone(),
    };
    let known = SkipCode::ALL.into_iter().find(|code| Some(code.as_str()) == entry.code.as_deref());
    match known {
        Some(SkipCode::InvalidNumber) => {
            let cell = cells.get(looked.phone).map_or("", String::as_str);
            number(text, cell, looked.country).unwrap_or_else(|| entry.reason.clone())
        }
        Some(SkipCode::ValueMissing) => of_column("compose-row-missing"),
        Some(SkipCode::ValueNotAllowed) => of_column("compose-row-not-allowed"),
        Some(SkipCode::DuplicateRecipient | SkipCode::SamePerson) => text.get("compose-row-duplicate"),
        Some(SkipCode::Suppressed | SkipCode::OptedOut) => text.get("compose-row-suppressed"),
        Some(SkipCode::LeftOut) => text.get("compose-row-left-out"),
        Some(SkipCode::WindowClosed) => text.get("compose-row-window"),
        Some(
            SkipCode::TagNotFound
            | SkipCode::SegmentNotFound
            | SkipCode::SegmentOutdated
            | SkipCode::AlreadyRetried,
        )
        | None => entry.reason.clone(),
    }
}

/// What is wrong with the text of a number.
fn number(text: Text, cell: &str, country: Option<Country>) -> Option<String> {
    let invalid = PhoneNumber::parse_in(cell, country).err()?;
    let code = RejectCode::of_number(invalid);
    let rejected = Rejected {
        line: 0,
        reason: invalid.to_string(),
        code: Some(code.as_str().to_owned()),
        details: vec![beginning(cell, SHOWN_CHARS).to_owned()],
        fields: Vec::new(),
    };
    Some(rejected_rows::reason(text, &rejected))
}

/// The first messages, as their recipients would get them.
pub(super) fn examples(viewer: &Viewer, around: &Around, dry_run: &DryRun) -> Markup {
    let text = viewer.text;
    let template = around.choice.template.as_ref().filter(|_| around.choice.kind == Kind::Template);
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
