//! A new send as a draft: it is kept while it is written, saved for later, and opened again.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::content::Kind;
use super::duplicate::Lacking;
use super::step::SendStep;
use super::{Around, Checked, page, test_message};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::drafts::{self, FIELD, Keeping};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::Page;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;

/// The action that saves the form as a draft.
pub(super) const SAVE: &str = "save";

/// The hidden field that says which draft the form continues.
pub(super) fn field(form: &Form) -> Markup {
    let id = form.value(FIELD);
    html! { @if !id.is_empty() { input type="hidden" name=(FIELD) value=(id); } }
}

/// The button that saves the form as a draft.
pub(super) fn button(text: Text) -> Markup {
    html! {
        button.plain type="submit" name="action" value=(SAVE) formnovalidate { (text.get("drafts-save")) }
    }
}

/// The word for the kind of a draft's messages; empty for one that is not chosen.
pub(in crate::console::pages) fn kind(text: Text, word: &str) -> String {
    let known = Kind::ALL.into_iter().find(|kind| kind.as_str() == word);
    known.map(|kind| kind.word(text)).unwrap_or_default()
}

fn keeper(viewer: &Viewer) -> (Uuid, Uuid) {
    (viewer.company.id, viewer.signed_in.user.id)
}

/// Keeps what the form has, for the person alone. Returns the form's content with the id of the draft, which whatever is
/// made of the content continues.
pub(super) async fn follow(viewer: &Viewer, state: &State, form: &Form, content: String) -> Result<String> {
    Ok(match drafts::keep(state, keeper(viewer), form.words(), false).await? {
        Keeping::As(id) => format!("{content}&{FIELD}={id}"),
        Keeping::TooLong | Keeping::TooMany => content,
    })
}

/// The form's content with the draft that it continues.
pub(super) fn followed(form: &Form, content: String) -> String {
    match form.words().one(FIELD).parse::<Uuid>() {
        Ok(id) => format!("{content}&{FIELD}={id}"),
        Err(_) => content,
    }
}

/// The address of the form with what it has now; `None` when it is too long to be kept.
pub(super) async fn kept(viewer: &Viewer, state: &State, form: &Form) -> Result<Option<String>> {
    Ok(match drafts::keep(state, keeper(viewer), form.words(), false).await? {
        Keeping::As(id) => Some(drafts::place(id)),
        Keeping::TooLong | Keeping::TooMany => None,
    })
}

/// Saves the form as a draft of the company. A form that is sent twice saves one.
pub(super) async fn save(viewer: &Viewer, state: &Data<State>, mut form: Form) -> Result<Answer> {
    let saved = state
        .once
        .attempt(viewer, &form, async || {
            Ok(match drafts::keep(state, keeper(viewer), form.words(), true).await? {
                Keeping::As(_) => {
                    Ok(Answer::done(state, viewer, viewer.text.get("drafts-saved"), "/console/sends/drafts"))
                }
                Keeping::TooMany => Err("drafts-too-many"),
                Keeping::TooLong => Err("drafts-too-long"),
            })
        })
        .await?;
    match saved {
        Ok(answer) => return Ok(answer),
        Err(key) => form.general_fault(viewer.text.get(key)),
    }
    let step = SendStep::read(form.words().one("step")).unwrap_or(SendStep::Who);
    let around = Around::read(state, viewer, &form, step).await?;
    Ok(page(viewer, &around, &form, &Checked::default()).unprocessable().into())
}

/// The form with a draft, with the result of its test and what it lacks, if the query names them.
pub(super) async fn open(viewer: &Viewer, state: &Data<State>, id: Uuid, query: &Query) -> Result<Page> {
    let records = state.engine.company(viewer.company.id).await?;
    let content = records.drafts().content(viewer.signed_in.user.id, id, Timestamp::now()).await?;
    drop(records);
    let mut form = Form::kept(viewer.text, Words::parse(content.ok_or(Error::NotFound)?.as_bytes()));
    form.put(FIELD, id.to_string());
    let test = test_message::told(viewer, state, query).await?;
    let first = html! {
        @if query.names("lacks") { (Lacking::BesideTags.notice(viewer.text)) }
        (test)
    };
    shown(viewer, state, &form, &first).await
}

/// The form, below what there is to say of it first.
pub(super) async fn shown(viewer: &Viewer, state: &Data<State>, form: &Form, first: &Markup) -> Result<Page> {
    let around = Around::read(state, viewer, form, SendStep::Who).await?;
    let mut page = page(viewer, &around, form, &Checked::default());
    page.body = html! { (first) (page.body) };
    Ok(page)
}

/// Removes the draft of a form that was sent. One that cannot be removed now is removed when it is old.
pub(super) async fn sent(viewer: &Viewer, state: &State, form: &Form) {
    let Ok(id) = form.words().one(FIELD).parse::<Uuid>() else { return };
    let removed = async {
        let records = state.engine.company(viewer.company.id).await?;
        Ok::<_, Error>(records.drafts().remove(viewer.signed_in.user.id, id).await?)
    };
    if let Err(error) = removed.await {
        tracing::warn!(%error, "the draft of a send could not be removed");
    }
}
