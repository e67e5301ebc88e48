//! One import: its settings while it waits to be started, its progress, and its end.

mod ready;
mod result;

use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};

use self::ready::{SHOWN_COLUMNS, ready_page};
use super::imports::TAGS;
use super::{contact_fields, contacts};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::time::maybe;
use crate::console::component::{confirm, notice};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::live;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::contact::MOST_TAGS;
use crate::domain::own_field::FieldKind;
use crate::domain::phone::Country;
use crate::engine::records::imports::{Import, State as Stage};
use crate::engine::{self, ImportChange, import_settings};
use crate::error::Code;
use crate::import::{self, Field as Held, MOST_COLUMNS, TAG_SEPARATORS};

/// How often an open page is updated with the progress.
const EVERY: Duration = Duration::from_secs(1);
/// The choices for a column that make a new own field of it.
const NEW_FIELDS: [(&str, FieldKind); 3] =
    [("new.text", FieldKind::Text), ("new.number", FieldKind::Number), ("new.date", FieldKind::Date)];

/// Shows the import in its present state.
pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let import = find(&viewer, &state, id).await?;
    if import.state != Stage::Ready {
        let imported = imported(&viewer, &state, &import).await?;
        let body = progress_page(&viewer, &import, imported.as_deref());
        let page = Page::new(import.file_name.clone(), Menu::Contacts, body);
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
pub(crate) async fn steer(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let company = viewer.company.id;
    let place = format!("/console/contacts/import/{}", id.0);
    let import = find(&viewer, &state, id).await?;
    let action = form.words().one("action").to_owned();
    if action == "cancel" {
        state.engine.imports().cancel(&viewer.who(), company, id.0).await?;
        return Ok(Answer::to(place));
    }
    if import.state != Stage::Ready {
        // The import was started already, perhaps by the same form.
        return Ok(Answer::to(place));
    }
    let made = make_fields(&viewer, &state, &import, &mut form).await?;
    let change = read(&import, &mut form);
    if !form.has_faults() {
        let changed = async {
            if let Some(country) = change.country.flatten() {
                remember(&viewer, &state, country).await?;
            }
            state.engine.imports().change(company, id.0, change).await?;
            if action == "start" {
                state.engine.imports().start(&viewer.who(), company, id.0).await
            } else {
                Ok(())
            }
        };
        match changed.await {
            Ok(()) => return Ok(Answer::to(place)),
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::InvalidMapping => {
                let columns = import_settings(&import).header.len();
                let knows = |(_, field): &(usize, Held)| matches!(field, Held::PhoneNumber | Held::Email);
                let key = match chosen(&form, columns).iter().any(knows) {
                    true => "imports-mapping-wrong",
                    false => "imports-mapping-needed",
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
    // The page offers the fields that were made.
    let import = if made { find(&viewer, &state, id).await? } else { import };
    Ok(ready_page(&viewer, &state, &import, &form).await?.unprocessable().into())
}

/// Makes the own fields that the form wants for columns, called like these. Returns whether there are any.
async fn make_fields(viewer: &Viewer, state: &State, import: &Import, form: &mut Form) -> Result<bool> {
    let mut made = false;
    for (index, name) in import_settings(import).header.iter().enumerate().take(SHOWN_COLUMNS) {
        let column = format!("column-{index}");
        let Some(kind) = NEW_FIELDS.into_iter().find(|(word, _)| *word == form.words().one(&column)) else {
            continue;
        };
        match state.engine.contacts().add_field(&viewer.who(), viewer.company.id, name, kind.1).await {
            Ok(field) => {
                form.put(&column, Held::Own(field.key).word());
                made = true;
            }
            Err(engine::Error::Refused(refusal)) => {
                let said = contact_fields::refused(viewer.text, refusal.code);
                form.general_fault(format!("{name}: {said}"));
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(made)
}

/// Remembers the country of the company's numbers at the first import that names it.
async fn remember(viewer: &Viewer, state: &State, country: Country) -> Result<(), engine::Error> {
    let records = state.engine.company(viewer.company.id).await?;
    if records.country().await?.set.is_none() {
        records.set_country(&viewer.who(), Some(country)).await?;
    }
    Ok(())
}

/// Keeps the progress of the import up to date.
pub(crate) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse> {
    find(&viewer, &state, id).await?;
    let own = state.clone();
    live::stream(&request, &state, EVERY, async move || {
        let import = find(&viewer, &own, id).await?;
        let imported = imported(&viewer, &own, &import).await?;
        Ok(vec![progress(&viewer, &import, imported.as_deref())])
    })
}

pub(super) async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<Import> {
    Ok(state.engine.imports().find(viewer.company.id, id.0).await?)
}

/// The fields that the form names for the columns.
fn chosen(form: &Form, columns: usize) -> Vec<(usize, Held)> {
    let field = |index| Held::parse(form.words().one(&format!("column-{index}")));
    (0..columns.min(SHOWN_COLUMNS)).filter_map(|index| Some((index, field(index)?))).collect()
}

fn read(import: &Import, form: &mut Form) -> ImportChange {
    let settings = import_settings(import);
    let names = form.optional("tags", TAGS).unwrap_or_default();
    let tags = tags(&names, form);
    let encoding = form.words().one("encoding").to_owned();
    let encoding = Some(encoding).filter(|encoding| !encoding.is_empty() && *encoding != settings.encoding);
    let is_national = form.words().one("numbers") == "national";
    let country = Country::parse(form.words().one("country"));
    let separated = form.words().one("tag_separator").to_owned();
    if is_national && country.is_none() {
        form.fault("country", form.text().get("imports-country-missing"));
    }
    ImportChange {
        columns: None,
        chosen: Some(chosen(form, settings.header.len())),
        tags: Some(tags),
        encoding,
        country: Some(country.filter(|_| is_national)),
        replaces_names: Some(form.is_ticked("replace_names", "yes")),
        tag_separator: TAG_SEPARATORS.into_iter().find(|separator| separated.chars().eq([*separator])),
    }
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

fn progress_page(viewer: &Viewer, import: &Import, imported: Option<&str>) -> Markup {
    let text = viewer.text;
    html! {
        (progress(viewer, import, imported))
        p { a href="/console/contacts/import" { (text.get("imports-all")) } }
    }
}

/// The progress of the import: the live part of the page. `imported` is the address of its contacts.
fn progress(viewer: &Viewer, import: &Import, imported: Option<&str>) -> Markup {
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
        ("imports-names-kept", counts.names_kept),
        ("imports-emails-left-out", counts.emails_left_out),
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
            @if let Some(imported) = imported {
                p { a.button.plain href=(imported) { (text.get("imports-see-contacts")) } }
            } @else if viewer.may_work() && import.state == Stage::Running {
                (confirm::with(text, &format!("/console/contacts/import/{}", import.id), &text.get("imports-cancel"),
                    &text.get("imports-cancel-question"), &html! { input type="hidden" name="action" value="cancel"; }))
            }
        }
    }
}

/// The address of the list of an ended import's contacts: those with its tag, or all contacts if it gave none. A tag is
/// named by its id, because other contacts may have its name in theirs, and a tag that is gone has no list.
async fn imported(viewer: &Viewer, state: &State, import: &Import) -> Result<Option<String>> {
    if !import.state.is_over() {
        return Ok(None);
    }
    let settings = import_settings(import);
    let Some(name) = settings.tags.first() else { return Ok(Some(contacts::PLACE.to_owned())) };
    let tag = state.engine.company(viewer.company.id).await?.tags().named(name).await?;
    Ok(tag.map(|tag| format!("{}?tag={tag}", contacts::PLACE)))
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

/// The name of a field of every contact; the key of an own one.
pub(super) fn words(text: Text, field: Held) -> String {
    text.get(match field {
        Held::Own(key) => return key.to_string(),
        Held::FirstName => "imports-field-first-name",
        Held::MiddleName => "imports-field-middle-name",
        Held::LastName => "imports-field-last-name",
        Held::Name => "imports-field-name",
        Held::Organization => "imports-field-organization",
        Held::Email => "imports-field-email",
        Held::PhoneNumber => "imports-field-number",
        Held::PhoneNumberLid => "imports-field-lid",
        Held::ProfilePicture => "imports-field-picture",
        Held::Tags => "imports-field-tags",
        Held::Ignored => "imports-field-ignored",
    })
}
