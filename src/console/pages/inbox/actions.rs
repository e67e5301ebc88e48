//! What is done with a conversation beside answering: reading, assigning, closing, tags, and opting out.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use uuid::Uuid;

use super::filter::InboxFilter;
use super::{Asking, page};
use crate::accounts::{Email, Member};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::contact::Person;
use crate::domain::inbound::ConversationState;
use crate::domain::phone::PhoneNumber;
use crate::domain::suppression::Suppression;
use crate::engine::Whom;
use crate::engine::records::contacts::{ContactDraft, Membership};

/// Marks a conversation as read up to a moment, or as unread.
pub(in crate::console) async fn read(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    form: Form,
) -> Result<Answer, Error> {
    match form.words().one("up_to").parse().map(Timestamp::from_millis) {
        Ok(up_to) => mark_read(&viewer, &state, id.0, up_to).await?,
        Err(_) => state.engine.conversations(viewer.company.id).mark_unread(id.0).await?,
    }
    let filter = InboxFilter::read(&query);
    // Who marks a conversation as unread leaves it for later.
    Ok(Answer::to(if form.words().names("up_to") { filter.of(id.0, "") } else { filter.list() }))
}

/// The same for the script, which stays on the page.
pub(in crate::console) async fn seen(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<HttpResponse, Error> {
    let up_to = form.words().one("up_to").parse().map_err(|_| Error::Unreadable)?;
    mark_read(&viewer, &state, id.0, Timestamp::from_millis(up_to)).await?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT).finish())
}

/// Marks a conversation as read, and lets the person see it if the company does. Who reads need not know that the person cannot be
/// told.
async fn mark_read(viewer: &Viewer, state: &State, id: Uuid, up_to: Timestamp) -> Result<(), Error> {
    let conversations = state.engine.conversations(viewer.company.id);
    if let Err(error) = conversations.mark_read_as_chosen(id, up_to).await {
        tracing::debug!(%error, "a person cannot be told that messages were read");
        conversations.mark_read(id, up_to).await?;
    }
    Ok(())
}

/// Gives a conversation to somebody who answers, or to nobody.
pub(in crate::console) async fn assign(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let conversations = state.engine.conversations(viewer.company.id);
    let word = form.words().one("to").to_owned();
    let to = match (word.as_str(), word.parse::<Uuid>()) {
        ("", _) => None,
        (_, Ok(user)) => Some(user),
        (word, Err(_)) => {
            let email = Email::parse(word);
            let is_meant = |member: &Member| email.as_ref().is_ok_and(|email| email.as_str() == member.email);
            let Some(member) = conversations.assignees().await?.into_iter().find(is_meant) else {
                form.fault("to", viewer.text.get("inbox-unknown-person"));
                return again(&viewer, &state, (id.0, &query), form).await;
            };
            Some(member.user_id)
        }
    };
    conversations.assign(&viewer.who(), id.0, to).await?;
    Ok(done(&viewer, &state, &query, id.0, "inbox-assigned-done"))
}

/// Closes a conversation, or opens it again. The list follows on what was closed.
pub(in crate::console) async fn set_state(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    form: Form,
) -> Result<Answer, Error> {
    let to: ConversationState = form.words().one("state").parse().map_err(|_| Error::Unreadable)?;
    state.engine.conversations(viewer.company.id).set_state(&viewer.who(), id.0, to).await?;
    let (key, is_closed) = match to {
        ConversationState::Closed => ("inbox-closed-done", true),
        ConversationState::Open => ("inbox-reopened-done", false),
    };
    let there = done(&viewer, &state, &query, id.0, key);
    Ok(if is_closed { Answer::to(InboxFilter::read(&query).list()) } else { there })
}

/// Gives the person's contact a tag that the company has, or takes it away. A person without a contact becomes one.
pub(in crate::console) async fn tag(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let company = viewer.company.id;
    let (number, name) = person(&viewer, &state, id.0).await?;
    let records = state.engine.company(company).await?;
    let word = form.words().one("tag");
    let tag = match word.parse::<Uuid>() {
        Ok(tag) => Some(tag),
        Err(_) => records.tags().named(word).await?,
    };
    let Some(tag) = tag else {
        drop(records);
        form.fault("tag", viewer.text.get("inbox-unknown-name"));
        return again(&viewer, &state, (id.0, &query), form).await;
    };
    let known = records.tags().find(tag).await?.ok_or(Error::NotFound)?;
    let contact = records.contacts().with_numbers(&[number]).await?.pop().map(|(_, id)| id);
    drop(records);
    let membership = match form.words().one("action") {
        "remove" => Membership::Remove,
        _ => Membership::Add,
    };
    match contact {
        Some(contact) => {
            let whom = Whom::Named { ids: vec![contact], numbers: Vec::new() };
            state.engine.contacts().change_members(&viewer.who(), company, tag, whom, membership).await?;
        }
        None if membership == Membership::Add => {
            let first_name = name.unwrap_or_default();
            let person = Person { first_name, phone_number: format!("+{number}"), ..Person::default() };
            let draft = ContactDraft { person, tags: vec![known.summary.name] };
            state.engine.contacts().write(&viewer.who(), company, vec![draft]).await?;
        }
        None => return Err(Error::NotFound),
    }
    Ok(done(&viewer, &state, &query, id.0, "inbox-tags-done"))
}

/// Opts the person out of all messages or those of marketing, or in again.
pub(in crate::console) async fn consent(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    form: Form,
) -> Result<Answer, Error> {
    let (number, _) = person(&viewer, &state, id.0).await?;
    let records = state.engine.company(viewer.company.id).await?;
    let contacts = state.engine.contacts();
    let key = match form.words().one("opt_out") {
        "" => {
            // A suppression may name another form of the person's number.
            let found = contacts.suppressions_of(&records, &[number]).await?;
            for recipient in found.values().flatten().map(|kept| kept.record.recipient) {
                contacts.lift_suppressions(&viewer.who(), &records, recipient).await?;
            }
            "inbox-opted-in-done"
        }
        word => {
            let scope: Suppression = word.parse().map_err(|_| Error::Unreadable)?;
            contacts.suppress(&viewer.who(), &records, number, scope).await?;
            "inbox-opted-out-done"
        }
    };
    drop(records);
    Ok(done(&viewer, &state, &query, id.0, key))
}

/// The number and the name of the person of a conversation.
async fn person(viewer: &Viewer, state: &State, id: Uuid) -> Result<(PhoneNumber, Option<String>), Error> {
    let conversation = state.engine.conversations(viewer.company.id).one(id).await?.conversation;
    Ok((conversation.peer.number().ok_or(Error::NotFound)?, conversation.name))
}

/// The conversation's page again, with the fault of a form.
pub(super) async fn again(
    viewer: &Viewer,
    state: &State,
    (id, query): (Uuid, &Query),
    mut form: Form,
) -> Result<Answer, Error> {
    let asking = Asking::of(state, viewer, id, &InboxFilter::read(query), "").await?;
    asking.put_begun(&mut form);
    Ok(page(viewer, state, &asking, &form).await?.unprocessable().into())
}

/// Says on the conversation's page that something was done.
pub(super) fn done(viewer: &Viewer, state: &State, query: &Query, id: Uuid, key: &str) -> Answer {
    state.flashes.put(viewer.session, "done", viewer.text.get(key));
    Answer::to(InboxFilter::read(query).of(id, ""))
}
