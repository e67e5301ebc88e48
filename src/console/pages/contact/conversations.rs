//! The button that erases the conversations with a contact. The record of changes says who did it, and how much there was.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::{find, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Id;
use crate::console::visitor::Viewer;

/// How many conversations there are with the person of a contact, on all channels.
pub(super) async fn count(viewer: &Viewer, state: &State, contact: Uuid) -> Result<u64> {
    let found = state.engine.conversations(viewer.company.id).of_contact(contact).await?;
    Ok(found.len() as u64)
}

/// Erases everything that was written in them. The contact stays.
pub(crate) async fn erase(viewer: Viewer, state: Data<State>, id: Id, _form: Form) -> Result<Answer> {
    let contact = find(&viewer, &state, id.0).await?.id;
    state.engine.conversations(viewer.company.id).erase_of_contact(&viewer.who(), contact).await?;
    Ok(Answer::done(&state, &viewer, viewer.text.get("contacts-erased"), place(contact)))
}

/// The button, with its question; nothing when there is nothing to erase.
pub(super) fn button(viewer: &Viewer, contact: Uuid, count: u64) -> Markup {
    let text = viewer.text;
    let action = format!("{}/conversations/erase", place(contact));
    let question = text.with("contacts-erase-question", [("count", count.into())]);
    html! { @if count > 0 { (confirm(text, &action, &text.get("contacts-erase"), &question)) } }
}
