//! One import: the fields of its columns, its first rows, its progress, and its rejected rows.

use std::collections::BTreeSet;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};

use super::imports::TAGS;
use super::rejected_rows::reason;
use crate::console::State;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::field::{Field, faults};
use crate::console::component::formatting::beginning;
use crate::console::component::table::{Column as Head, table};
use crate::console::component::time::maybe;
use crate::console::component::{confirm, notice};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::live;
use crate::console::page::{Answer, Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::contact::MOST_TAGS;
use crate::engine::records::imports::{Import, State as Stage};
use crate::engine::{self, ImportChange, Shown, import_settings};
use crate::error::Code;
use crate::import::{self, Column, Field as Held, MOST_COLUMNS};

/// The maximum of columns that are shown, each with a choice of its field, and characters of each name.
const SHOWN_COLUMNS: usize = 200;
const SHOWN_CHARS: usize = 80;
/// How often an open page is updated with the progress.
const EVERY: Duration = Duration::from_secs(1);
/// Encodings that are offered in addition to the file's own.
const ENCODINGS: [&str; 6] = ["UTF-8", "windows-1252", "windows-1251", "UTF-16LE", "Shift_JIS", "GBK"];

/// Shows the import in its present state.
pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page, Error> {
    let import = find(&viewer, &state, id).await?;
    if import.state != Stage::Ready {
        let page = Page::new(import.file_name.clone(), Menu::Contacts, progress_page(&viewer, &import));
        let is_over = import.state.is_over();
        return Ok(if is_over {
            page
        } else {
            page.live(format!("/console/contacts/import/{}/live", import.id))
        });
    }
    ready_page(&viewer, &state, &import, &Form::new(viewer.text)).await
}

/// Sets the fields of the columns; starts or cancels the import.
pub(in crate::console) async fn steer(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    mut form: Form,
) -> Result<Answer, Error> {
    let company = viewer.company.id;
    let place = format!("/console/contacts/import/{}", id.0);
    let import = find(&viewer, &state, id).await?;
    let action = form.words().one("action").to_owned();
    if action == "cancel" {
        state.engine.cancel_import(&viewer.who(), company, id.0).await?;
        return Ok(Answer::to(place));
    }
    if import.state != Stage::Ready {
        // The import was started already, perhaps by the same form.
        return Ok(Answer::to(place));
    }
    let change = read(&import, &mut form);
    if !form.has_faults() {
        let changed = async {
            state.engine.change_import(company, id.0, change).await?;
            if action == "start" {
                state.engine.start_import(&viewer.who(), company, id.0).await
            } else {
                Ok(())
            }
        };
        match changed.await {
            Ok(()) => return Ok(Answer::to(place)),
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::InvalidMapping => {
                let settings = import_settings(&import);
                let knows = |column: &&Column| matches!(column.field.as_str(), "phone_number" | "email");
                let chosen = chosen(&form, &settings.header);
                let key = match chosen.iter().find(knows) {
                    Some(_) => "imports-mapping-wrong",
                    None => "imports-mapping-needed",
                };
                form.general_fault(viewer.text.get(key));
            }
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::TooManyColumns => {
                form.general_fault(
                    viewer.text.with("imports-too-many-columns", [("most", MOST_COLUMNS.into())]),
                );
            }
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::ImportHasBegun => {
                return Ok(Answer::to(place));
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(ready_page(&viewer, &state, &import, &form).await?.unprocessable().into())
}

/// Keeps the progress of the import up to date.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    find(&viewer, &state, id).await?;
    let own = state.clone();
    live::stream(&request, &state, EVERY, async move || {
        let import = find(&viewer, &own, id).await?;
        Ok(vec![progress(&viewer, &import)])
    })
}

pub(super) async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<Import, Error> {
    let records = state.engine.company(viewer.company.id).await?;
    records.imports().find(id.0).await?.ok_or(Error::NotFound)
}

/// The form's fields of the columns. For columns with the same name, the first one counts.
fn chosen(form: &Form, header: &[String]) -> Vec<Column> {
    let mut seen = BTreeSet::new();
    let columns = header.iter().enumerate().take(SHOWN_COLUMNS).filter(|(_, name)| !name.is_empty());
    let columns = columns.filter(|(_, name)| seen.insert(name.as_str()));
    let chosen = columns.map(|(index, name)| {
        let field = form.words().one(&format!("column-{index}"));
        let field = Held::parse(field).unwrap_or(Held::Ignored);
        Column { column: name.clone(), field: field.as_str().to_owned() }
    });
    chosen.collect()
}

fn read(import: &Import, form: &mut Form) -> ImportChange {
    let settings = import_settings(import);
    let names = form.optional("tags", TAGS).unwrap_or_default();
    let tags = tags(&names, form);
    let encoding = form.words().one("encoding").to_owned();
    let encoding = Some(encoding).filter(|encoding| !encoding.is_empty() && *encoding != settings.encoding);
    ImportChange { columns: Some(chosen(form, &settings.header)), tags: Some(tags), encoding }
}

/// The names of tags in a field of this name, separated by semicolons; too many, or a wrong one, are its fault.
pub(super) fn tags(names: &str, form: &mut Form) -> Vec<String> {
    let given = names.split(';').map(str::trim).filter(|name| !name.is_empty());
    let checked = import::check_tags(given.clone());
    checked.unwrap_or_else(|_| {
        let has_wrong_name = given.clone().any(|name| import::check_tag(name).is_err());
        let key = if has_wrong_name { "imports-tag-wrong" } else { "imports-tags-too-many" };
        form.fault("tags", form.text().with(key, [("most", MOST_TAGS.into())]));
        Vec::new()
    })
}

/// The page of an uploaded file: the fields of its columns, and its first rows.
async fn ready_page(viewer: &Viewer, state: &State, import: &Import, form: &Form) -> Result<Page, Error> {
    let shown = state.engine.show_import(viewer.company.id, import.id).await?;
    let body = html! {
        (faults(form))
        @if let Some(problem) = &shown.preview.problem {
            (notice::warning(&html! { p title=(problem) { (viewer.text.get("imports-mapping-needed")) } }))
        } @else if !has_number(&shown) {
            (notice::warning(&html! { p { (viewer.text.get("imports-no-number")) } }))
        }
        (mapping(viewer, import, form, &shown))
        (outlook(viewer, &shown))
        (first_rows(viewer.text, &shown))
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
        false => field.unwrap_or(Held::Ignored).as_str().to_owned(),
    };
    let fields = Held::ALL.map(|field| (field.as_str(), words(text, field)));
    let example = |index: usize| {
        shown.preview.rows.iter().find_map(|row| row.get(index).filter(|cell| !cell.is_empty()))
    };
    let stored =
        Form::filled(text, [("tags", settings.tags.join("; ")), ("encoding", settings.encoding.clone())]);
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
        let (current, label) = (held(index, *field), beginning(name, SHOWN_CHARS));
        vec![
            html! { bdi { (label) } },
            html! {
                select name=(format!("column-{index}")) disabled[name.is_empty()]
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
                (Field::new(filled, "encoding", &text.get("imports-encoding")).hint(&text.get("imports-encoding-hint"))
                    .select(encodings.iter().map(|name| (*name, *name))))
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

/// The results that the import would have for the rows.
fn outlook(viewer: &Viewer, shown: &Shown) -> Markup {
    let text = viewer.text;
    let rejected = shown.preview.step.rejected.len() as u64;
    let looked_at = shown.preview.step.drafts.len() as u64 + rejected;
    let key = if shown.preview.is_whole { "imports-outlook-all" } else { "imports-outlook-first" };
    html! {
        section {
            h2 { (text.get("imports-outlook")) }
            p { (text.with(key, [("count", looked_at.into())])) }
            ul {
                li { (text.with("imports-would-create", [("count", shown.created.into())])) }
                li { (text.with("imports-would-update", [("count", shown.updated.into())])) }
                li { (text.with("imports-would-keep", [("count", shown.unchanged.into())])) }
                li { (text.with("imports-would-reject", [("count", rejected.into())])) }
            }
            @if rejected > 0 {
                ul {
                    @for row in shown.preview.step.rejected.iter().take(5) {
                        li { (text.with("imports-line", [("line", row.line.into())])) ": " (reason(text, row)) }
                    }
                }
            }
        }
    }
}

fn first_rows(text: Text, shown: &Shown) -> Markup {
    let names = shown.preview.columns.iter().take(SHOWN_COLUMNS);
    let heads: Vec<_> = names.map(|(name, _)| Head::words(beginning(name, SHOWN_CHARS))).collect();
    let cell = |cell: &String| html! { bdi { (beginning(cell, SHOWN_CHARS)) } };
    let rows = shown.preview.rows.iter().map(|row| {
        let mut cells: Vec<Markup> = row.iter().take(heads.len()).map(cell).collect();
        cells.resize_with(heads.len(), || html! {});
        cells
    });
    html! {
        section {
            h2 { (text.get("imports-first-rows")) }
            (table(&text.get("imports-first-rows"), &heads, rows))
        }
    }
}

fn progress_page(viewer: &Viewer, import: &Import) -> Markup {
    let text = viewer.text;
    html! {
        (progress(viewer, import))
        p { a href="/console/contacts/import" { (text.get("imports-all")) } }
    }
}

/// The progress of the import: the live part of the page.
fn progress(viewer: &Viewer, import: &Import) -> Markup {
    let text = viewer.text;
    let counts = &import.counts;
    let percent = import.bytes_read.saturating_mul(100).checked_div(import.bytes).unwrap_or(100).min(100);
    let figures = [
        ("imports-rows", counts.rows()),
        ("imports-created", counts.created),
        ("imports-updated", counts.updated),
        ("imports-unchanged", counts.unchanged),
        ("imports-rejected", counts.rejected),
        ("imports-numberless", counts.without_number),
    ];
    html! {
        div id="progress" {
            p { (state_badge(text, import.state)) }
            @if let Some(failure) = &import.failure { (notice::fault(failure)) }
            @if !import.state.is_over() {
                p {
                    progress max="100" value=(percent) aria-label=(text.get("imports-progress")) {}
                    " " (text.with("imports-percent", [("percent", percent.into())]))
                }
                p.soft { (text.get("imports-goes-on")) }
            }
            dl.tiles {
                @for (key, figure) in figures { div.tile { dt { (text.get(key)) } dd { (text.number(figure)) } } }
                div.tile { dt { (text.get("imports-started")) } dd.word { (maybe(viewer, import.started_at)) } }
                div.tile { dt { (text.get("imports-ended")) } dd.word { (maybe(viewer, import.finished_at)) } }
            }
            @if counts.rejected_kept > 0 {
                p {
                    a href=(format!("/console/contacts/import/{}/rejected", import.id)) {
                        (text.with("imports-download", [("count", counts.rejected_kept.into())]))
                    }
                }
            }
            @if import.state.is_over() {
                p { a.button.plain href=(contacts(import)) { (text.get("imports-see-contacts")) } }
            } @else if viewer.may_work() && import.state == Stage::Running {
                (confirm::with(text, &format!("/console/contacts/import/{}", import.id), &text.get("imports-cancel"),
                    &text.get("imports-cancel-question"), &html! { input type="hidden" name="action" value="cancel"; }))
            }
        }
    }
}

/// The address of the list of contacts, filtered by the tag if all contacts of the file got one.
fn contacts(import: &Import) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    if let Some(tag) = import_settings(import).tags.first() {
        query.append_pair("search", tag);
    }
    format!("/console/contacts?{}", query.finish())
}

/// The badge of an import's state.
pub(super) fn state_badge(text: Text, state: Stage) -> Markup {
    let (tone, key) = match state {
        Stage::Uploading => (Tone::Busy, "imports-state-uploading"),
        Stage::Ready => (Tone::Warning, "imports-state-ready"),
        Stage::Running => (Tone::Busy, "imports-state-running"),
        Stage::Finished => (Tone::Good, "imports-state-finished"),
        Stage::Failed => (Tone::Bad, "imports-state-failed"),
        Stage::Canceled => (Tone::Plain, "imports-state-canceled"),
    };
    badge(tone, &text.get(key))
}

pub(super) fn words(text: Text, field: Held) -> String {
    text.get(match field {
        Held::FirstName | Held::MiddleName => "imports-field-first-name",
        Held::LastName => "imports-field-last-name",
        Held::Name | Held::Organization => "imports-field-name",
        Held::Email => "imports-field-email",
        Held::PhoneNumber => "imports-field-number",
        Held::PhoneNumberLid => "imports-field-lid",
        Held::ProfilePicture => "imports-field-picture",
        Held::Tags => "imports-field-tags",
        Held::Ignored => "imports-field-ignored",
    })
}
