//! Notes on a contact: adding, changing one's own, and deleting them.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::page::Shown;
use super::{find, place};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm;
use crate::console::component::field::{Field, once};
use crate::console::component::time::moment;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::pages::changes::words::author;
use crate::console::query::{Id, segment};
use crate::console::visitor::Viewer;
use crate::domain::page::PageRequest;
use crate::engine::records::contacts::{ContactNote, MOST_NOTES, NOTE_CHARS, NewNote, NotesOf};

/// The field of a note.
const TEXT: &str = "note";

/// A form of a note that is shown with its faults: of a new one, or of the one with this id.
pub(super) struct Noting {
    form: Form,
    note: Option<Uuid>,
}

pub(crate) async fn add(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let body = read_body(&mut form);
    if !form.has_faults() {
        let added = state
            .once
            .attempt(&viewer, &form, async || {
                let records = state.engine.company(viewer.company.id).await?;
                match records.contact_notes().add(&viewer.who(), id.0, &body, Timestamp::now()).await? {
                    NewNote::Added(_) => Ok(Ok(done(&viewer, &state, id.0, "contacts-note-added"))),
                    NewNote::NoContact => Err(Error::NotFound),
                    NewNote::Full => {
                        Ok(Err(viewer.text.with("contacts-notes-full", [("most", MOST_NOTES.into())])))
                    }
                }
            })
            .await?;
        match added {
            Ok(answer) => return Ok(answer),
            Err(sentence) => form.fault(TEXT, sentence),
        }
    }
    refused(&viewer, &state, id.0, Noting { form, note: None }).await
}

/// Changes a note of the person's own.
pub(crate) async fn change(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let note = segment(&request, "note")?;
    let body = read_body(&mut form);
    if form.has_faults() {
        return refused(&viewer, &state, id.0, Noting { form, note: Some(note) }).await;
    }
    let records = state.engine.company(viewer.company.id).await?;
    match records.contact_notes().change(&viewer.who(), (id.0, note), &body, Timestamp::now()).await? {
        true => Ok(done(&viewer, &state, id.0, "contacts-note-changed")),
        false => Err(Error::NotFound),
    }
}

/// Deletes a note: one's own, or as an owner anybody's.
pub(crate) async fn delete(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    _form: Form,
) -> Result<Answer> {
    let note = segment(&request, "note")?;
    let may = if viewer.is_owner() { NotesOf::Everybody } else { NotesOf::Oneself };
    let records = state.engine.company(viewer.company.id).await?;
    match records.contact_notes().delete(&viewer.who(), (id.0, note), may).await? {
        true => Ok(done(&viewer, &state, id.0, "contacts-note-deleted")),
        false => Err(Error::NotFound),
    }
}

/// The notes on a contact, newest first. More than can be added, of contacts that were merged, are not shown.
pub(super) async fn read(viewer: &Viewer, state: &State, contact: Uuid) -> Result<Vec<ContactNote>> {
    let records = state.engine.company(viewer.company.id).await?;
    Ok(records.contact_notes().page(contact, PageRequest { page: 1, limit: MOST_NOTES }).await?.records)
}

/// The text in a form. Browsers send line ends of two characters, and count one.
fn read_body(form: &mut Form) -> String {
    let body = form.words().one(TEXT).replace("\r\n", "\n");
    form.put(TEXT, body);
    form.required(TEXT, NOTE_CHARS)
}

fn done(viewer: &Viewer, state: &State, contact: Uuid, key: &str) -> Answer {
    Answer::done(state, viewer, viewer.text.get(key), place(contact))
}

/// The contact's page with the faults of a note.
async fn refused(viewer: &Viewer, state: &State, id: Uuid, noting: Noting) -> Result<Answer> {
    let contact = find(viewer, state, id).await?;
    let shown = Shown::read(viewer, state, contact).await?.noting(noting);
    Ok(shown.page(viewer, &shown.filled(viewer), &[]).unprocessable().into())
}

/// The panel of the contact's page.
pub(super) fn panel(
    viewer: &Viewer,
    contact: Uuid,
    notes: &[ContactNote],
    noting: Option<&Noting>,
) -> Markup {
    let text = viewer.text;
    let place = format!("{}/notes", place(contact));
    let empty = Form::new(text);
    let new = noting.filter(|noting| noting.note.is_none()).map_or(&empty, |noting| &noting.form);
    html! {
        section.panel {
            h2 { (text.get("contacts-notes")) }
            @if viewer.may_work() {
                form method="post" action=(place) {
                    (once(new))
                    (Field::new(new, TEXT, &text.get("contacts-note-new")).required().most(NOTE_CHARS).area(3))
                    button.plain type="submit" { (text.get("contacts-note-add")) }
                }
            }
            @if notes.is_empty() {
                p.soft { (text.get("contacts-no-notes")) }
            } @else {
                ul.last { @for note in notes { (row(viewer, &place, note, noting)) } }
            }
        }
    }
}

fn row(viewer: &Viewer, place: &str, note: &ContactNote, noting: Option<&Noting>) -> Markup {
    let text = viewer.text;
    let place = format!("{place}/{}", note.id);
    let is_own = note.author == viewer.who().to_string();
    let refused = noting.filter(|noting| noting.note == Some(note.id));
    let filled = Form::filled(text, [(TEXT, note.body.clone())]);
    let form = refused.map_or(&filled, |noting| &noting.form);
    let scope = format!("note-{}", note.id.simple());
    html! {
        li {
            p.note dir="auto" { (note.body) }
            p.soft {
                bdi { (author(text, &note.author)) } ", " (moment(viewer, note.created_at))
                @if note.updated_at != note.created_at { ", " (text.get("contacts-changed")) " " (moment(viewer, note.updated_at)) }
            }
            @if viewer.may_work() && is_own {
                details.more id=(scope) open[refused.is_some()] {
                    summary { (text.get("contacts-note-change")) }
                    form method="post" action=(place) {
                        (Field::new(form, TEXT, &text.get("contacts-note")).within(&scope).required().most(NOTE_CHARS).area(3))
                        button.plain type="submit" { (text.get("contacts-save")) }
                    }
                }
            }
            @if viewer.is_owner() || viewer.may_work() && is_own {
                (confirm::confirm(text, &format!("{place}/delete"), &text.get("contacts-note-delete"), &text.get("contacts-note-delete-question")))
            }
        }
    }
}
