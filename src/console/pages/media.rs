//! The library of media: the company's files with their thumbnails, uploading and deleting them.

use std::time::Instant;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::copy::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults};
use crate::console::component::icon::Icon;
use crate::console::component::library::{kind, size};
use crate::console::component::notice;
use crate::console::component::pager::pager;
use crate::console::component::time::moment;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::rest;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::link::file_link;
use crate::domain::media::Kind;
use crate::domain::page::{Page as Records, PageRequest};
use crate::engine::records::media::{LibraryFile, MediaTotals};
use crate::engine::{self, MediaUpload};
use crate::error::Code;
use crate::surface::body::Incoming;
use crate::surface::multipart::Multipart;

/// The path of this page.
const PLACE: &str = "/console/media";
/// The maximum of bytes of a form without its file.
const AROUND: usize = 64 * 1024;
/// The longest word for a kind.
const WORD: usize = 32;
/// The name of the stored reason for a refused file, for a browser that did not show the answer.
const REFUSED: &str = "refused_media";

/// What the page shows beside the form.
struct Shown {
    files: Records<LibraryFile>,
    totals: MediaTotals,
    query: Option<(Query, PageRequest)>,
}

impl Shown {
    async fn read(state: &State, viewer: &Viewer, request: PageRequest) -> Result<Self> {
        let (library, company) = (state.engine.media(), viewer.company.id);
        let files = library.page(company, None, request).await?;
        Ok(Self { files, totals: library.totals(company).await?, query: None })
    }
}

/// Shows the files, and the form for an upload.
pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let request = query.page(state.options.page_size);
    let shown = Shown::read(&state, &viewer, request).await?;
    let mut form = Form::new(viewer.text);
    if let Some(refused) = state.flashes.take(viewer.session, REFUSED) {
        form.fault("file", refused);
    }
    Ok(page(&viewer, &state, &form, &Shown { query: Some((query, request)), ..shown }))
}

/// Receives a file piece by piece, and keeps it.
pub(crate) async fn upload(viewer: Viewer, state: Data<State>, body: Incoming) -> Result<Answer> {
    let form = match receive(&viewer, &state, body).await? {
        Ok(_) => return Ok(Answer::to(PLACE)),
        Err(form) => form,
    };
    let first = PageRequest { page: 1, limit: state.options.page_size };
    let shown = Shown::read(&state, &viewer, first).await?;
    Ok(page(&viewer, &state, &form, &shown).unprocessable().into())
}

/// Receives a file and keeps it in the library: its id, or the form with the fault.
pub(super) async fn receive(
    viewer: &Viewer,
    state: &Data<State>,
    body: Incoming,
) -> Result<Result<Uuid, Form>> {
    let (request, declared) = (body.request().clone(), body.declared());
    // The page says how large a file may be, so a form that declares more is read up to its file.
    let most = (state.engine.media().largest() + AROUND).max(declared.unwrap_or_default());
    let (mut form, mut parts) = (Form::new(viewer.text), Multipart::new(body, most)?);
    if let Some(file) = take(viewer, state, &mut parts, declared, &mut form).await? {
        return Ok(Ok(file));
    }
    // If the browser does not show the answer, because the rest of the file was too long, the page shows the
    // reason later.
    let (later, session) = (state.clone(), viewer.session);
    let said = form.fault_of("file").unwrap_or_default().to_owned();
    rest::leave(&request, parts.into_rest(), move || later.flashes.put(session, REFUSED, said));
    Ok(Err(form))
}

/// Deletes a file.
pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    let library = state.engine.media();
    let file = library.find(viewer.company.id, id.0).await?;
    library.remove(&viewer.who(), viewer.company.id, id.0).await?;
    let done = viewer.text.with("media-deleted", [("name", file.name.as_str().into())]);
    Ok(Answer::done(&state, &viewer, done, PLACE))
}

/// The thumbnail of a picture, of the library or of a message.
pub(crate) async fn thumbnail(viewer: Viewer, state: Data<State>, id: Id) -> Result<HttpResponse> {
    let thumbnail = state.engine.media().thumbnail(viewer.company.id, id.0).await?;
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, "image/jpeg"))
        .insert_header((CACHE_CONTROL, "private, max-age=86400"));
    Ok(answer.body(thumbnail))
}

/// The id of the file once it is kept; otherwise the form has a fault.
async fn take(
    viewer: &Viewer,
    state: &State,
    parts: &mut Multipart,
    declared: Option<usize>,
    form: &mut Form,
) -> Result<Option<Uuid>> {
    let (text, library) = (viewer.text, state.engine.media());
    let mut wanted = None;
    while let Some(part) = parts.next().await? {
        match (part.name.as_str(), part.file_name) {
            ("as", None) => {
                let word = parts.text(WORD).await?;
                wanted = word.parse::<Kind>().ok();
                *form = Form::filled(text, [("as", word)]);
            }
            ("file", Some(name)) if !name.is_empty() => {
                // A file that is certainly too large is refused before it arrives.
                if declared.is_some_and(|declared| declared > library.largest() + AROUND) {
                    form.fault("file", text.get("media-fault-large"));
                    return Ok(None);
                }
                let kept = match library.begin_upload(viewer.company.id).await {
                    Ok(upload) => keep(viewer, parts, upload, (name.as_str(), wanted)).await,
                    Err(error) => Err(Failure::Engine(error)),
                };
                return match kept {
                    Ok(file) => {
                        let done = text.with("media-kept", [("name", file.name.as_str().into())]);
                        state.flashes.put(viewer.session, "done", done);
                        Ok(Some(file.id))
                    }
                    Err(Failure::Engine(engine::Error::Refused(refusal))) => {
                        form.fault("file", refused(text, refusal.code));
                        Ok(None)
                    }
                    Err(Failure::Engine(other)) => Err(other.into()),
                    Err(Failure::Form(error)) => Err(error),
                };
            }
            _ => {}
        }
    }
    form.fault("file", text.get("media-fault-none"));
    Ok(None)
}

enum Failure {
    Engine(engine::Error),
    Form(Error),
}

async fn keep(
    viewer: &Viewer,
    parts: &mut Multipart,
    mut upload: MediaUpload,
    (name, wanted): (&str, Option<Kind>),
) -> Result<LibraryFile, Failure> {
    let unread = |fault| Failure::Form(Error::from(fault));
    while let Some(piece) = parts.piece().await.map_err(unread)? {
        let began = Instant::now();
        upload.write(piece).await.map_err(Failure::Engine)?;
        parts.stored(began.elapsed());
    }
    // The form has to be complete, too: a form that breaks off after the file may have broken off in the
    // file.
    while parts.next().await.map_err(unread)?.is_some() {}
    upload.finish(&viewer.who(), Some(name), wanted).await.map_err(Failure::Engine)
}

/// Why a file is not kept, and what to do.
fn refused(text: Text, code: Code) -> String {
    text.get(match code {
        Code::MediaTooLarge | Code::BodyTooLarge => "media-fault-large",
        Code::MediaUnavailable => "media-fault-unusable",
        Code::MediaLibraryFull => "media-fault-full",
        _ => "media-fault-store",
    })
}

fn page(viewer: &Viewer, state: &State, form: &Form, shown: &Shown) -> Page {
    let (text, library) = (viewer.text, state.engine.media());
    let most = library.most();
    let used = [
        ("files", shown.totals.files.into()),
        ("size", size(text, shown.totals.bytes).into()),
        ("most", size(text, most.bytes).into()),
    ];
    let body = html! {
        (faults(form))
        @if !library.is_reachable() { (notice::warning(&html! { p { (text.get("media-unreachable")) } })) }
        @if viewer.may_work() { (uploading(viewer, state, form)) }
        @if shown.files.records.is_empty() {
            (empty(&text.get("media-none"), &html! { p { (text.get("media-none-hint")) } }))
        } @else {
            p.soft { (text.with("media-used-space", used)) }
            ul.files { @for file in &shown.files.records { (card(viewer, state, file)) } }
            @if let Some((query, request)) = &shown.query { (pager(text, query, *request, shown.files.total)) }
        }
    };
    Page::new(text.get("media-title"), Menu::Media, body)
}

fn uploading(viewer: &Viewer, state: &State, form: &Form) -> Markup {
    let text = viewer.text;
    let label = text.get("media-file");
    let file = Field::new(form, "file", &label);
    let choices =
        [("", text.get("media-as-it-is")), (Kind::Document.as_str(), text.get("media-as-document"))];
    html! {
        form.panel method="post" action=(PLACE) enctype="multipart/form-data" data-most=(state.engine.media().largest())
            data-too-large=(text.get("media-fault-large")) data-broken=(text.get("media-broken")) {
            p { (text.get("media-hint")) }
            (Field::new(form, "as", &text.get("media-as")).hint(&text.get("media-as-hint")).select(choices))
            (file.around(&html! { input id=(file.id()) type="file" name="file" required; }))
            button type="submit" { (text.get("media-upload")) }
        }
    }
}

/// A file: its picture, what it is, and what can be done with it.
fn card(viewer: &Viewer, state: &State, file: &LibraryFile) -> Markup {
    let (text, link) = (viewer.text, file_link(file.id));
    let delete = text.with("media-delete", [("name", file.name.as_str().into())]);
    html! {
        li.file {
            a.picture href=(state.engine.media().signed_path(file.id)) {
                @if file.has_thumbnail { img src=(format!("{PLACE}/{}/thumbnail", file.id)) alt="" loading="lazy"; }
                @else { (Icon::Entry("image")) }
                bdi { (file.name) }
            }
            p.soft { (kind(text, file.kind)) ", " (size(text, file.bytes)) }
            p.soft {
                @if let Some(at) = file.used_at { (text.get("media-used")) " " (moment(viewer, at)) }
                @else { (text.get("media-uploaded")) " " (moment(viewer, file.created_at)) }
            }
            @if viewer.may_work() && file.kind != Kind::Sticker {
                p { a href=(format!("/console/sends/new?type={}&link={link}", file.kind)) { (text.get("media-send")) } }
            }
            div.row {
                (copy(text, &text.get("media-link"), &link))
                @if viewer.may_work() {
                    (confirm(text, &format!("{PLACE}/{}/delete", file.id), &delete, &text.get("media-delete-question")))
                }
            }
        }
    }
}
