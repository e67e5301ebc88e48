//! Notes about a conversation, which the person never sees.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::actions::{again, done};
use super::filter::InboxFilter;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, once};
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::pages::changes::words::author;
use crate::console::query::{Id, Query, segment};
use crate::console::visitor::Viewer;
use crate::engine::conversations::{NOTE_CHARS, ShownNote};

/// The field of a note.
const TEXT: &str = "note";

pub(in crate::console) async fn add(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let text = read(&mut form);
    if form.has_faults() {
        return again(&viewer, &state, (id.0, &query), form).await;
    }
    state
        .once
        .act(&viewer, &form, async || {
            state.engine.conversations(viewer.company.id).add_note(&viewer.who(), id.0, &text).await?;
            Ok(done(&viewer, &state, &query, id.0, "inbox-note-added"))
        })
        .await
}

/// Changes a note of the person's own.
pub(in crate::console) async fn change(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let note = segment(&request, "note")?;
    let text = read(&mut form);
    if form.has_faults() {
        return Err(Error::Unreadable);
    }
    state.engine.conversations(viewer.company.id).edit_note(&viewer.who(), (id.0, note), &text).await?;
    Ok(done(&viewer, &state, &query, id.0, "inbox-note-changed"))
}

/// Deletes a note: one's own, or as an owner anybody's.
pub(in crate::console) async fn delete(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    query: Query,
    _form: Form,
) -> Result<Answer, Error> {
    let note = segment(&request, "note")?;
    let conversations = state.engine.conversations(viewer.company.id);
    conversations.remove_note(&viewer.who(), (id.0, note), viewer.is_owner()).await?;
    Ok(done(&viewer, &state, &query, id.0, "inbox-note-deleted"))
}

/// The text in a form. Browsers send line ends of two characters, and count one.
fn read(form: &mut Form) -> String {
    let text = form.words().one(TEXT).replace("\r\n", "\n");
    form.put(TEXT, text);
    form.required(TEXT, NOTE_CHARS)
}

/// The notes, with the form of a new one.
pub(super) fn panel(
    viewer: &Viewer,
    filter: &InboxFilter,
    conversation: Uuid,
    notes: &[ShownNote],
    form: &Form,
) -> Markup {
    let text = viewer.text;
    html! {
        h3 { (text.get("inbox-notes")) }
        @if notes.is_empty() { p.soft { (text.get("inbox-no-notes")) } }
        ul.last { @for note in notes { (row(viewer, filter, conversation, note)) } }
        @if viewer.may_answer() {
            form method="post" action=(filter.of(conversation, "/notes")) {
                (once(form))
                (Field::new(form, TEXT, &text.get("inbox-note-new")).required().most(NOTE_CHARS).area(2))
                button.plain type="submit" { (text.get("inbox-note-add")) }
            }
        }
    }
}

fn row(viewer: &Viewer, filter: &InboxFilter, conversation: Uuid, note: &ShownNote) -> Markup {
    let text = viewer.text;
    let place = |end: &str| filter.of(conversation, &format!("/notes/{}{end}", note.id));
    let is_own = note.author == viewer.who().to_string();
    let body = note.text.clone().unwrap_or_else(|| text.get("inbox-not-kept"));
    let form = Form::filled(text, [(TEXT, body.clone())]);
    let scope = format!("note-{}", note.id.simple());
    html! {
        li {
            p.note dir="auto" { (body) }
            p.soft {
                bdi { (author(text, &note.author)) } ", " (moment(viewer, note.created_at))
                @if let Some(at) = note.edited_at { ", " (text.get("inbox-edited")) " " (moment(viewer, at)) }
            }
            @if viewer.may_answer() && is_own {
                details.more id=(scope) {
                    summary { (text.get("inbox-note-change")) }
                    form method="post" action=(place("")) {
                        (Field::new(&form, TEXT, &text.get("inbox-note")).within(&scope).required().most(NOTE_CHARS).area(2))
                        button.plain type="submit" { (text.get("inbox-note-save")) }
                    }
                }
            }
            @if viewer.is_owner() || viewer.may_answer() && is_own {
                (confirm(text, &place("/delete"), &text.get("inbox-note-delete"), &text.get("inbox-note-delete-question")))
            }
        }
    }
}
