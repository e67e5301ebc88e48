//! Answers a person: once, as a direct send like every other. And keeps what is typed, by which others see who is writing.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::{Value, json};
use uuid::Uuid;

use super::composer::{Composer, FILE, MESSAGE, REPLY, TEMPLATE};
use super::filter::InboxFilter;
use super::{Asking, page};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::library::take_chosen;
use crate::console::component::quick_replies;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::once::Turn;
use crate::console::pages::compose::refused::{Refused, fault};
use crate::console::pages::compose::{SENT, template};
use crate::console::pages::media;
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::link::file_link;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::{BusinessRequest, RequestedContent, WebRequest};
use crate::domain::send::Label;
use crate::engine;
use crate::surface::body::Incoming;

/// The longest id of a message at a provider, in characters.
const ID_CHARS: usize = 256;

/// What is sent, by the kind of the channel.
enum AskedAnswer {
    Business(RequestedContent, Option<String>),
    Web(Arc<Channel>, WebRequest),
}

/// Keeps what a person has typed so far.
pub(in crate::console) async fn keep(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<HttpResponse, Error> {
    let conversations = state.engine.conversations(viewer.company.id);
    conversations.keep_begun(id.0, viewer.signed_in.user.id, form.value(MESSAGE)).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Keeps a file in the library, and puts it beside the answer.
pub(in crate::console) async fn attach(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    body: Incoming,
) -> Result<Answer, Error> {
    let filter = InboxFilter::read(&query);
    let mut form = match media::receive(&viewer, &state, body).await? {
        Ok(file) => return Ok(Answer::to(filter.and(id.0, FILE, &file.to_string()))),
        Err(form) => form,
    };
    let asking = Asking::of(&state, &viewer, id.0, &filter, "").await?;
    asking.put_begun(&mut form);
    Ok(page(&viewer, &state, &asking, &form).await?.unprocessable().into())
}

/// Sends the answer, or puts a quick reply into it.
pub(in crate::console) async fn send(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let filter = InboxFilter::read(&query);
    let asking = Asking::of(&state, &viewer, id.0, &filter, form.words().one(TEMPLATE)).await?;
    if form.words().one("action") == quick_replies::TAKE {
        take_quick_reply(&asking, &mut form);
        return Ok(page(&viewer, &state, &asking, &form).await?.into());
    }
    take_chosen(&mut form);
    let (channel, number, _) = match state.engine.conversations(viewer.company.id).recipient(id.0).await {
        Ok(recipient) => recipient,
        Err(engine::Error::Refused(refusal)) if !form.words().one(MESSAGE).is_empty() => {
            form.general_fault(refusal.sentence);
            return Ok(page(&viewer, &state, &asking, &form).await?.unprocessable().into());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(asked) = asked(&state, &viewer, &asking.composer, (channel, number), &mut form).await? else {
        return Ok(page(&viewer, &state, &asking, &form).await?.unprocessable().into());
    };
    let mut failed = None;
    let sent = state.once.act(&viewer, &form, async || {
        let sent = deliver(&viewer, &state, id.0, &form, asked).await;
        sent.map_err(|error| {
            failed = Some(error.clone());
            Error::from(error)
        })?;
        Ok(Answer::to(filter.of(id.0, "")))
    });
    match (sent.await, failed) {
        (_, Some(error)) => {
            // What was typed is there when the answer can go.
            if form.words().one(TEMPLATE).is_empty() {
                let conversations = state.engine.conversations(viewer.company.id);
                conversations.keep_begun(id.0, viewer.signed_in.user.id, form.value(MESSAGE)).await?;
            }
            let refused = Refused::by(error, &mut form)?;
            Ok(refused.answer(page(&viewer, &state, &asking, &form).await?).into())
        }
        (answer, None) => answer,
    }
}

/// Puts the chosen quick reply behind what was typed.
fn take_quick_reply(asking: &Asking, form: &mut Form) {
    let word = form.words().one(quick_replies::CHOSEN);
    let Some(reply) = quick_replies::find(&asking.around.quick_replies, word) else { return };
    let typed = form.value(MESSAGE);
    let whole = if typed.trim().is_empty() { reply.to_owned() } else { format!("{typed}\n{reply}") };
    form.put(MESSAGE, whole);
}

/// The request that the form describes; without one, the form has a fault.
async fn asked(
    state: &State,
    viewer: &Viewer,
    composer: &Composer,
    (channel, number): (Arc<Channel>, PhoneNumber),
    form: &mut Form,
) -> Result<Option<AskedAnswer>, Error> {
    let mut body = match &composer.template {
        Some(template) => {
            template::read_deadline(viewer, template, form);
            template::check_contact_fields(template, &composer.own, form);
            let components = template::components(template, form.words());
            json!({"type": "template", "template_id": template.id, "components": components, "contact_fields": true})
        }
        None => content(state, viewer, form).await?,
    };
    body["phone_number"] = format!("+{number}").into();
    let limits = &state.options.send;
    let quotes = form.words().one(REPLY);
    let quotes = (!quotes.is_empty() && quotes.chars().count() <= ID_CHARS).then(|| quotes.to_owned());
    let asked = match channel.kind {
        Kind::BusinessAccount => {
            let request = BusinessRequest::parse(body.to_string().as_bytes(), limits);
            request.map(|request| AskedAnswer::Business(request.content, quotes))
        }
        Kind::WebSession => {
            body["recipient_type"] = "number".into();
            let request = WebRequest::parse(body.to_string().as_bytes(), limits);
            request.map(|request| AskedAnswer::Web(channel, request))
        }
    };
    Ok(match asked {
        Ok(asked) if !form.has_faults() => Some(asked),
        Ok(_) => None,
        Err(refusal) => {
            fault(form, &refusal);
            None
        }
    })
}

/// A text, or a file of the library with the text below it.
async fn content(state: &State, viewer: &Viewer, form: &Form) -> Result<Value, Error> {
    let said = form.value(MESSAGE).replace("\r\n", "\n");
    let Ok(file) = form.words().one(FILE).parse::<Uuid>() else {
        return Ok(json!({"type": "text", "message": said}));
    };
    let file = state.engine.media().find(viewer.company.id, file).await?;
    let caption = Some(said).filter(|said| !said.trim().is_empty());
    Ok(json!({"type": file.kind.as_str(), "link": file_link(file.id), "caption": caption}))
}

/// Sends the answer, unless this form was sent before, and removes what was kept of it.
async fn deliver(
    viewer: &Viewer,
    state: &State,
    id: Uuid,
    form: &Form,
    asked: AskedAnswer,
) -> Result<(), engine::Error> {
    let conversations = state.engine.conversations(viewer.company.id);
    let fingerprint = form.words().digest(&format!("an answer in {id}"), &["once", "action"]);
    if let Turn::First(guard) = Turn::of(state, viewer, form, fingerprint).await? {
        let label = Label { made_by: Some(viewer.who().to_string()), ..Label::default() };
        match asked {
            AskedAnswer::Business(content, quotes) => {
                conversations.reply(id, content, quotes, label, guard).await?;
            }
            AskedAnswer::Web(channel, request) => {
                let request = WebRequest { label, ..request };
                state.engine.web_sends().begin(&channel, request, guard, SENT).await?;
            }
        }
    }
    // A template goes while a text waits until the person answers.
    if !form.words().one(TEMPLATE).is_empty() {
        return Ok(());
    }
    conversations.keep_begun(id, viewer.signed_in.user.id, "").await
}
