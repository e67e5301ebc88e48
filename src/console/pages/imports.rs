//! Importing files of contacts: the upload, and the earlier imports.

use std::time::Instant;

use actix_web::web::Data;
use maud::html;

use super::import::{state_badge, tags};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::rest;
use crate::console::visitor::Viewer;
use crate::domain::page::{Page as Records, PageRequest};
use crate::engine::records::imports::{Import, MOST_OPEN};
use crate::engine::{self, NewSeparator, NewUpload};
use crate::error::{Code, Refusal};
use crate::import::{GUESSED, MOST_COLUMNS, Other};
use crate::surface::body::Incoming;
use crate::surface::multipart::Multipart;

/// The maximum of bytes of the tags' names: as many tags as a contact is given at once have room, with usual names.
pub(super) const TAGS: usize = 2_000;
/// The maximum of bytes of a form without its file.
const AROUND: usize = 64 * 1024;
/// The name of the stored reason for a refused file, for a browser that did not show the answer.
const REFUSED: &str = "refused_upload";
/// The files that a browser offers.
pub(super) const ACCEPTED: &str = ".csv,.txt,.tsv,.xlsx,text/csv,text/plain,\
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
/// Characters of a file's name that are kept.
const LONGEST_NAME: usize = 200;

/// Shows the form, and the earlier imports.
pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let request = query.page(state.options.page_size);
    let imports = state.engine.company(viewer.company.id).await?.imports().page(request).await?;
    let mut form = Form::new(viewer.text);
    if let Some(refused) = state.flashes.take(viewer.session, REFUSED) {
        form.fault("file", refused);
    }
    Ok(page(&viewer, &state, &form, Some((&query, request)), &imports))
}

/// Receives a file piece by piece, and redirects to the page where it is checked before it is imported.
pub(crate) async fn upload(viewer: Viewer, state: Data<State>, body: Incoming) -> Result<Answer> {
    let (request, declared) = (body.request().clone(), body.declared());
    // The page says how large a file may be, so a form that declares more is read up to its file.
    let most = (state.engine.imports().largest() + AROUND).max(declared.unwrap_or_default());
    let (mut form, mut parts) = (Form::new(viewer.text), Multipart::new(body, most)?);
    if let Some(place) = take(&viewer, &state, &mut parts, declared, &mut form).await? {
        return Ok(Answer::to(place));
    }
    // If the browser does not show the answer, because the rest of the file was too long, the page shows the
    // reason later.
    let (later, session) = (state.clone(), viewer.session);
    let said = form.fault_of("file").unwrap_or_default().to_owned();
    rest::leave(&request, parts.into_rest(), move || later.flashes.put(session, REFUSED, said));
    let first = PageRequest { page: 1, limit: state.options.page_size };
    let imports = state.engine.company(viewer.company.id).await?.imports().page(first).await?;
    Ok(page(&viewer, &state, &form, None, &imports).unprocessable().into())
}

/// The redirect; `None` with a fault in the form.
async fn take(
    viewer: &Viewer,
    state: &State,
    parts: &mut Multipart,
    declared: Option<usize>,
    form: &mut Form,
) -> Result<Option<String>> {
    let text = viewer.text;
    let mut names = Vec::new();
    while let Some(part) = parts.next().await? {
        match (part.name.as_str(), part.file_name) {
            ("tags", None) => {
                let given = parts.text(TAGS).await?;
                *form = Form::filled(text, [("tags", given.clone())]);
                names = tags(&given, form);
            }
            ("file", Some(name)) if !name.is_empty() && !form.has_faults() => {
                // A file that is certainly too large is refused before it arrives.
                if declared.is_some_and(|declared| declared > state.engine.imports().largest() + AROUND) {
                    form.fault("file", too_large(viewer, state));
                    return Ok(None);
                }
                let file_name = name.chars().take(LONGEST_NAME).collect();
                let new = NewUpload {
                    file_name,
                    encoding: Some(GUESSED.to_owned()),
                    tags: names,
                    country: None,
                    tag_separator: NewSeparator::Guessed,
                };
                return match store(viewer, state, parts, new).await {
                    Ok(import) => Ok(Some(format!("/console/contacts/import/{}", import.id))),
                    Err(Failure::Engine(engine::Error::Refused(refusal))) => {
                        form.fault("file", refused(viewer, state, &refusal));
                        Ok(None)
                    }
                    Err(Failure::Engine(other)) => Err(other.into()),
                    Err(Failure::Form(error)) => Err(error),
                };
            }
            _ => {}
        }
    }
    if !form.has_faults() {
        form.fault("file", text.get("imports-no-file"));
    }
    Ok(None)
}

/// Why a file is not taken, and what to do.
pub(super) fn refused(viewer: &Viewer, state: &State, refusal: &Refusal) -> String {
    let text = viewer.text;
    let other = Other::ALL.into_iter().find(|other| refusal.sentence == other.sentence());
    match (refusal.code, other) {
        (Code::TooManyImports, _) => text.with("imports-too-many", [("most", MOST_OPEN.into())]),
        (Code::BodyTooLarge, _) => too_large(viewer, state),
        (Code::TooManyColumns, _) => text.with("imports-too-many-columns", [("most", MOST_COLUMNS.into())]),
        (_, Some(other)) => text.get(match other {
            Other::VCard => "imports-vcard",
            Other::OldWorkbook => "imports-old-workbook",
            Other::OpenDocument => "imports-open-document",
            Other::Numbers => "imports-numbers-file",
            Other::BinaryWorkbook => "imports-binary-workbook",
            Other::Archive => "imports-archive",
            Other::DamagedWorkbook => "imports-damaged-workbook",
            Other::LargeWorkbook => "imports-large-workbook",
            Other::NoSheet => "imports-no-sheet",
        }),
        // The fault of the file, with its line.
        (_, None) => text.with("imports-wrong-file", [("said", refusal.sentence.as_str().into())]),
    }
}

fn too_large(viewer: &Viewer, state: &State) -> String {
    let most = viewer.text.0.decimal(state.engine.imports().largest() as f64 / 1e6, 1);
    viewer.text.with("imports-too-large", [("most", most.into())])
}

enum Failure {
    Engine(engine::Error),
    Form(Error),
}

async fn store(
    viewer: &Viewer,
    state: &State,
    parts: &mut Multipart,
    new: NewUpload,
) -> Result<Import, Failure> {
    let mut upload =
        state.engine.imports().begin_upload(viewer.company.id, new).await.map_err(Failure::Engine)?;
    let unread = |fault| Failure::Form(Error::from(fault));
    while let Some(piece) = parts.piece().await.map_err(unread)? {
        let began = Instant::now();
        upload.write(&piece).await.map_err(Failure::Engine)?;
        parts.stored(began.elapsed());
    }
    // The form has to be complete, too: a form that breaks off after the file may have broken off in the
    // file.
    while parts.next().await.map_err(unread)?.is_some() {}
    upload.finish().await.map_err(Failure::Engine)
}

fn page(
    viewer: &Viewer,
    state: &State,
    form: &Form,
    query: Option<(&Query, PageRequest)>,
    imports: &Records<Import>,
) -> Page {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("imports-file")),
        Column::words(text.get("imports-state")),
        Column::numbers(text.get("imports-rows")),
        Column::numbers(text.get("imports-created")),
        Column::numbers(text.get("imports-rejected")),
        Column::words(text.get("imports-when")),
    ];
    let rows = imports.records.iter().map(|import| {
        vec![
            html! { a href=(format!("/console/contacts/import/{}", import.id)) { bdi { (import.file_name) } } },
            state_badge(text, import.state),
            html! { (text.number(import.counts.rows())) },
            html! { (text.number(import.counts.created)) },
            html! { (text.number(import.counts.rejected)) },
            moment(viewer, import.created_at),
        ]
    });
    let label = text.get("imports-file");
    let file = Field::new(form, "file", &label);
    let body = html! {
        (faults(form))
        @if viewer.may_work() {
            form.panel method="post" action="/console/contacts/import" enctype="multipart/form-data"
                data-most=(state.engine.imports().largest()) data-too-large=(too_large(viewer, state)) data-broken=(text.get("imports-broken")) {
                p { (text.get("imports-hint")) }
                (Field::new(form, "tags", &text.get("imports-tags")).hint(&text.get("imports-tags-hint")).most(TAGS).text())
                (file.around(&html! {
                    input id=(file.id()) type="file" name="file" accept=(ACCEPTED) required;
                }))
                button type="submit" { (text.get("imports-import")) }
            }
        }
        @if !imports.records.is_empty() {
            section {
                h2 { (text.get("imports-before")) }
                (table(&text.get("imports-before"), &columns, rows))
                @if let Some((query, request)) = query { (pager(text, query, request, imports.total)) }
            }
        }
        p { a href="/console/contacts" { (text.get("imports-back")) } }
    };
    Page::new(text.get("imports-title"), Menu::Contacts, body)
}
