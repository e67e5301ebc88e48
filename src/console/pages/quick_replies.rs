//! Quick replies: their list, and adding, changing and deleting them.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::formatting::beginning;
use crate::console::component::library::OfferedFiles;
use crate::console::component::table::{Column, table};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::quick_reply::{InvalidReply, LONGEST_TEXT, LONGEST_WORD, MOST_QUICK_REPLIES, ReplyDraft};
use crate::engine;
use crate::engine::conversations::types::QuickReply;
use crate::error::Code;

/// The path of the list.
const PLACE: &str = "/console/quick-replies";
/// The most characters of a text that the list shows.
const SHOWN: usize = 80;

pub(crate) async fn list(viewer: Viewer, state: Data<State>) -> Result<Page> {
    list_page(&viewer, &state, &Form::new(viewer.text)).await
}

pub(crate) async fn create(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    if let Some(draft) = read(&viewer, &state, &mut form).await? {
        let created = state
            .once
            .act(&viewer, &form, async || {
                save(&viewer, &state, None, &draft).await?;
                Ok(Answer::done(&state, &viewer, viewer.text.get("replies-created"), PLACE))
            })
            .await;
        match created {
            Err(Error::Refused(refusal)) => refused(&mut form, refusal.code),
            other => return other,
        }
    }
    Ok(list_page(&viewer, &state, &form).await?.unprocessable().into())
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let reply = find(&viewer, &state, id).await?;
    let ReplyDraft { word, text, file_id } = &reply.draft;
    let file = file_id.map(|id| id.to_string()).unwrap_or_default();
    let values = [("word", word.clone()), ("text", text.clone()), ("file", file)];
    one_page(&viewer, &state, &Form::filled(viewer.text, values), &reply).await
}

pub(crate) async fn change(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let reply = find(&viewer, &state, id).await?;
    if let Some(draft) = read(&viewer, &state, &mut form).await? {
        match save(&viewer, &state, Some(reply.id), &draft).await {
            Ok(_) => {
                return Ok(Answer::done(&state, &viewer, viewer.text.get("replies-saved"), place(reply.id)));
            }
            Err(Error::Refused(refusal)) => refused(&mut form, refusal.code),
            Err(other) => return Err(other),
        }
    }
    Ok(one_page(&viewer, &state, &form, &reply).await?.unprocessable().into())
}

pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id, _form: Form) -> Result<Answer> {
    let replies = state.engine.conversations(viewer.company.id).quick_replies();
    replies.delete(&viewer.who(), id.0).await?;
    Ok(Answer::done(&state, &viewer, viewer.text.get("replies-deleted"), PLACE))
}

async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<QuickReply> {
    let all = state.engine.conversations(viewer.company.id).quick_replies().all().await?;
    all.into_iter().find(|reply| reply.id == id.0).ok_or(Error::NotFound)
}

/// What a form says; without a valid quick reply, the form has a fault.
async fn read(viewer: &Viewer, state: &State, form: &mut Form) -> Result<Option<ReplyDraft>> {
    let word = form.required("word", LONGEST_WORD + 1);
    let text = form.optional("text", LONGEST_TEXT).unwrap_or_default();
    let file = form.optional("file", 36).and_then(|id| Uuid::try_parse(&id).ok());
    if let Some(id) = file {
        match state.engine.media().find(viewer.company.id, id).await {
            Ok(_) => {}
            Err(engine::Error::Refused(_)) => form.fault("file", viewer.text.get("replies-file-gone")),
            Err(error) => return Err(error.into()),
        }
    }
    if form.has_faults() {
        return Ok(None);
    }
    let own = state.engine.company(viewer.company.id).await?.fields().all().await?;
    match ReplyDraft::new(&word, &text, file, &own) {
        Ok(draft) => Ok(Some(draft)),
        Err(wrong) => {
            form.fault(wrong.field(), sentence(viewer.text, &wrong));
            Ok(None)
        }
    }
}

async fn save(viewer: &Viewer, state: &State, id: Option<Uuid>, draft: &ReplyDraft) -> Result<QuickReply> {
    let replies = state.engine.conversations(viewer.company.id).quick_replies();
    let ReplyDraft { word, text, file_id } = draft;
    Ok(replies.save(&viewer.who(), id, (word, text, *file_id)).await?)
}

fn sentence(text: Text, wrong: &InvalidReply) -> String {
    match wrong {
        InvalidReply::Word => text.with("replies-word-wrong", [("most", LONGEST_WORD.into())]),
        InvalidReply::Empty => text.get("replies-empty"),
        InvalidReply::TooLong(most) => text.with("fault-field-too-long", [("most", (*most).into())]),
        InvalidReply::Field(field) => text.with("replies-field-wrong", [("field", field.as_str().into())]),
    }
}

/// Notes why a quick reply was not saved.
fn refused(form: &mut Form, code: Code) {
    let text = form.text();
    if code == Code::QuickReplyWordTaken {
        form.fault("word", text.get("replies-word-taken"));
    } else {
        form.general_fault(text.with("replies-too-many", [("most", MOST_QUICK_REPLIES.into())]));
    }
}

/// The address of a quick reply's page.
fn place(id: Uuid) -> String {
    format!("{PLACE}/{id}")
}

async fn list_page(viewer: &Viewer, state: &State, form: &Form) -> Result<Page> {
    let (text, company) = (viewer.text, viewer.company.id);
    let all = state.engine.conversations(company).quick_replies().all().await?;
    let files = OfferedFiles::read(&state.engine, company).await?;
    let columns = Column::all(text, ["replies-word", "replies-text"]);
    let rows = all.iter().map(|reply| {
        let (said, file) = (&reply.draft.text, reply.draft.file_id.is_some());
        vec![
            html! { a href=(place(reply.id)) { "/" (reply.draft.word) } },
            html! {
                bdi { (beginning(said, SHOWN)) }
                @if file { " " span.soft { (text.get("replies-with-file")) } }
            },
        ]
    });
    let body = html! {
        (faults(form))
        p { (text.get("replies-what")) }
        @if all.is_empty() {
            (empty(&text.get("replies-first"), &html! { p.soft { (text.get("replies-first-hint")) } }))
        } @else {
            (table(&text.get("replies-title"), &columns, rows))
        }
        @if viewer.may_work() {
            form.panel method="post" action=(PLACE) {
                h2 { (text.get("replies-new")) }
                (once(form))
                (fields(form, &files))
                button type="submit" { (text.get("replies-create")) }
            }
        }
    };
    Ok(Page::new(text.get("replies-title"), Menu::QuickReplies, body))
}

fn fields(form: &Form, files: &OfferedFiles) -> Markup {
    let text = form.text();
    html! {
        (Field::new(form, "word", &text.get("replies-word")).hint(&text.get("replies-word-hint"))
            .required().most(LONGEST_WORD + 1).text())
        (Field::new(form, "text", &text.get("replies-text")).hint(&text.get("replies-text-hint"))
            .most(LONGEST_TEXT).area(4))
        (files.any(form, ("file", &text.get("replies-file")), false))
    }
}

async fn one_page(viewer: &Viewer, state: &State, form: &Form, reply: &QuickReply) -> Result<Page> {
    let text = viewer.text;
    let files = OfferedFiles::read(&state.engine, viewer.company.id).await?;
    let place = place(reply.id);
    let body = html! {
        (faults(form))
        form.panel method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (fields(form, &files))
                @if viewer.may_work() { button type="submit" { (text.get("replies-save")) } }
            }
        }
        @if viewer.may_work() {
            (confirm::confirm(text, &format!("{place}/delete"), &text.get("replies-delete"), &text.get("replies-delete-question")))
        }
        p { a href=(PLACE) { (text.get("replies-all")) } }
    };
    Ok(Page::new(format!("/{}", reply.draft.word), Menu::QuickReplies, body))
}
