//! The page of an uploaded file before its import: the fields of its columns, how its numbers and letters are read, and
//! what would happen to its first rows.

use maud::{Markup, html};

use super::result::result;
use super::{NEW_FIELDS, words};
use crate::console::State;
use crate::console::component::countries;
use crate::console::component::field::{Field, faults};
use crate::console::component::formatting::beginning;
use crate::console::component::notice;
use crate::console::component::table::{Column as Head, table};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::contact_fields;
use crate::console::pages::imports::TAGS;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::phone::Country;
use crate::engine::records::imports::Import;
use crate::engine::{Shown, import_settings};
use crate::import::{Field as Held, Settings, TAG_SEPARATORS, column_name};

/// The maximum of columns that are shown, each with a choice of its field, and characters of each name.
pub(super) const SHOWN_COLUMNS: usize = 200;
const SHOWN_CHARS: usize = 80;
/// Encodings that are offered in addition to the file's own.
const ENCODINGS: [&str; 8] =
    ["UTF-8", "windows-1252", "macintosh", "windows-1250", "windows-1251", "UTF-16LE", "Shift_JIS", "GBK"];

/// The page of an uploaded file: the fields of its columns, and the result of its first rows.
pub(super) async fn ready_page(viewer: &Viewer, state: &State, import: &Import, form: &Form) -> Result<Page> {
    let shown = state.engine.imports().show(viewer.company.id, import.id).await?;
    let body = html! {
        (faults(form))
        @if let Some(problem) = &shown.preview.problem {
            (notice::warning(&html! { p title=(problem) { (viewer.text.get("imports-mapping-needed")) } }))
        } @else if !has_number(&shown) {
            (notice::warning(&html! { p { (viewer.text.get("imports-no-number")) } }))
        }
        (warnings(viewer.text, &import_settings(import), &shown))
        (mapping(viewer, import, form, &shown))
        (outlook(viewer, &shown))
        @if shown.preview.problem.is_none() { (result(viewer.text, &import_settings(import), &shown)) }
        p { a href="/console/contacts/import" { (viewer.text.get("imports-all")) } }
    };
    Ok(Page::new(import.file_name.clone(), Menu::Contacts, body))
}

/// Whether a column holds phone numbers.
fn has_number(shown: &Shown) -> bool {
    shown.preview.columns.iter().any(|(_, field)| *field == Some(Held::PhoneNumber))
}

fn mapping(viewer: &Viewer, import: &Import, form: &Form, shown: &Shown) -> Markup {
    let text = viewer.text;
    let settings = import_settings(import);
    let is_sent = form.words().names("encoding");
    let held = |index: usize, field: Option<Held>| match is_sent {
        true => form.value(&format!("column-{index}")).to_owned(),
        false => field.unwrap_or(Held::Ignored).word().into_owned(),
    };
    let built_in = Held::BUILT_IN.into_iter().map(|field| (field.word().into_owned(), words(text, field)));
    let own = settings.own.iter().map(|own| (Held::Own(own.key).word().into_owned(), own.name.clone()));
    let new = NEW_FIELDS.into_iter().map(|(word, kind)| {
        let kind = contact_fields::kind(text, kind);
        (word.to_owned(), text.with("imports-new-field", [("kind", kind.into())]))
    });
    let fields: Vec<(String, String)> = built_in.chain(own).chain(new).collect();
    let example = |index: usize| {
        shown.preview.rows.iter().find_map(|row| row.get(index).filter(|cell| !cell.is_empty()))
    };
    let stored = stored(text, &settings, shown);
    let filled = if is_sent { form } else { &stored };
    let mut encodings: Vec<&str> = ENCODINGS.to_vec();
    if !encodings.contains(&settings.encoding.as_str()) {
        encodings.push(&settings.encoding);
    }
    let heads = [
        Head::words(text.get("imports-column")),
        Head::words(text.get("imports-holds")),
        Head::words(text.get("imports-example")),
    ];
    let rows = shown.preview.columns.iter().enumerate().take(SHOWN_COLUMNS).map(|(index, (name, field))| {
        let named = column_name(&settings.header, index);
        let label = match (named.strip_prefix('#'), name.is_empty()) {
            (Some(place), true) => text.with("imports-column-unnamed", [("place", place.into())]),
            (Some(place), false) if named != *name => {
                let name = beginning(name, SHOWN_CHARS);
                text.with("imports-column-repeated", [("place", place.into()), ("name", name.into())])
            }
            _ => beginning(name, SHOWN_CHARS).to_owned(),
        };
        let current = held(index, *field);
        vec![
            html! { bdi { (label) } },
            html! {
                select name=(format!("column-{index}"))
                    aria-label=(text.with("imports-holds-what", [("column", label.into())])) {
                    @for (value, words) in &fields { option value=(value) selected[*value == current] { (words) } }
                }
            },
            html! { @if let Some(example) = example(index) { bdi { (beginning(example, SHOWN_CHARS)) } } },
        ]
    });
    let place = format!("/console/contacts/import/{}", import.id);
    html! {
        form method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (table(&text.get("imports-columns"), &heads, rows))
                @if shown.preview.columns.len() > SHOWN_COLUMNS {
                    p.hint { (text.with("imports-more-columns", [("count", SHOWN_COLUMNS.into())])) }
                }
                (Field::new(filled, "tags", &text.get("imports-tags")).hint(&text.get("imports-tags-hint")).most(TAGS).text())
                @if shown.preview.tag_separator.is_some() {
                    (Field::new(filled, "tag_separator", &text.get("imports-separator"))
                        .hint(&text.get("imports-separator-hint")).select(separators(text)))
                }
                (Field::new(filled, "numbers", &text.get("imports-numbers")).radios([
                    ("international", text.get("imports-numbers-international")),
                    ("national", text.get("imports-numbers-national")),
                ]))
                (Field::new(filled, "country", &text.get("imports-country")).hint(&text.get("imports-country-hint"))
                    .select(countries::options(text)))
                @if settings.sheet.is_some() {
                    // The form says by it that it was sent.
                    input type="hidden" name="encoding" value=(settings.encoding);
                } @else {
                    (Field::new(filled, "encoding", &text.get("imports-encoding")).hint(&text.get("imports-encoding-hint"))
                        .select(encodings.iter().map(|name| (*name, encoding_words(name)))))
                }
                @if shown.counts.names_kept > 0 || settings.replaces_names {
                    (Field::new(filled, "replace_names", &text.get("imports-names")).boxes([("yes", text.get("imports-names-replace"))]))
                }
                @if viewer.may_work() {
                    p.actions {
                        button type="submit" name="action" value="start" { (text.get("imports-import")) }
                        button.quiet type="submit" name="action" value="check" { (text.get("imports-check")) }
                        button.quiet type="submit" name="action" value="cancel" { (text.get("imports-discard")) }
                    }
                }
            }
        }
    }
}

/// The values of the fields that were not sent yet.
fn stored(text: Text, settings: &Settings, shown: &Shown) -> Form {
    let country = settings.numbers_of().or_else(|| shown.country.likely());
    let numbers = if settings.country.is_some() { "national" } else { "international" };
    let replaces = if settings.replaces_names { "yes" } else { "" };
    Form::filled(
        text,
        [
            ("tags", settings.tags.join("; ")),
            ("encoding", settings.encoding.clone()),
            ("numbers", numbers.to_owned()),
            ("country", country.map_or("", Country::code).to_owned()),
            ("replace_names", replaces.to_owned()),
            ("tag_separator", settings.tag_separator.unwrap_or(';').to_string()),
        ],
    )
}

/// What may separate the tags of a cell.
fn separators(text: Text) -> [(String, String); 3] {
    TAG_SEPARATORS.map(|separator| {
        let key = match separator {
            ',' => "imports-separator-comma",
            '|' => "imports-separator-bar",
            _ => "imports-separator-semicolon",
        };
        (separator.to_string(), text.get(key))
    })
}

/// An encoding by the name that people know.
fn encoding_words(name: &str) -> String {
    match name {
        "macintosh" => "Mac Roman".to_owned(),
        other => other.to_owned(),
    }
}

/// What a person should look at before the import.
fn warnings(text: Text, settings: &Settings, shown: &Shown) -> Markup {
    html! {
        @if let Some(sheet) = settings.sheet.as_ref().filter(|sheet| sheet.of > 1) {
            p { (text.with("imports-sheet", [("name", sheet.name.as_str().into()), ("count", sheet.of.into())])) }
        }
        @if let Some(wrong) = settings.wrong_bytes {
            (notice::warning(&html! {
                p { (text.with("imports-wrong-bytes", [("count", wrong.count.into()), ("line", wrong.line.into())])) }
            }))
        }
        @if shown.national > 0 && let Some(country) = shown.country.likely() {
            (notice::warning(&html! {
                p {
                    (text.with("imports-look-national", [
                        ("count", shown.national.into()), ("country", countries::name(text, country).into()),
                    ]))
                }
            }))
        }
        @if shown.counts.names_kept > 0 {
            (notice::warning(&html! { p { (text.with("imports-look-garbled", [("count", shown.counts.names_kept.into())])) } }))
        }
    }
}

/// The results that the import would have for the rows.
fn outlook(viewer: &Viewer, shown: &Shown) -> Markup {
    let text = viewer.text;
    let (rejected, looked_at) = (shown.counts.rejected, shown.counts.rows());
    let left_out = shown.counts.emails_left_out;
    let key = if shown.preview.is_whole { "imports-outlook-all" } else { "imports-outlook-first" };
    html! {
        section {
            h2 { (text.get("imports-outlook")) }
            p { (text.with(key, [("count", looked_at.into())])) }
            ul {
                li { (text.with("imports-would-create", [("count", shown.counts.created.into())])) }
                li { (text.with("imports-would-update", [("count", shown.counts.updated.into())])) }
                li { (text.with("imports-would-keep", [("count", shown.counts.unchanged.into())])) }
                li { (text.with("imports-would-reject", [("count", rejected.into())])) }
                @if left_out > 0 { li { (text.with("imports-would-leave-out", [("count", left_out.into())])) } }
            }
        }
    }
}
