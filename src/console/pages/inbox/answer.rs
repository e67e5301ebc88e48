//! Answers a person: once, as a direct send like every other. And keeps what is typed, by which others see who is writing.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use serde_json::{Value, json};
use uuid::Uuid;

use super::composer::{Composer, FILE, MESSAGE, PREVIEW, QUOTE, REPLY, TEMPLATE};
use super::filter::InboxFilter;
use super::thread::OpenThread;
use super::{Asking, page};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::library::take_chosen;
use crate::console::component::quick_replies;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::once::{Turn, form_key};
use crate::console::pages::compose::refused::{Refused, fault};
use crate::console::pages::compose::{SENT, template};
use crate::console::pages::media;
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::channel;
use crate::domain::link::file_link;
use crate::domain::media::Kind;
use crate::domain::request::ConversationRequest;
use crate::engine;
use crate::engine::conversations::RenderedReply;
use crate::surface::body::Incoming;

/// How often the other side is shown that somebody types: WhatsApp ends it after some seconds.
const TYPING: Duration = Duration::from_secs(8);

/// Keeps what a person has typed so far, and lets the other side see that somebody types.
pub(in crate::console) async fn keep(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<HttpResponse, Error> {
    let (company, user) = (viewer.company.id, viewer.signed_in.user.id);
    let conversations = state.engine.conversations(company);
    let typed = form.value(MESSAGE);
    // What is kept on its way while the answer goes may come after it. Asked before, so that nothing newer is replaced; and
    // afterwards, because the answer removes only what is there by then.
    if !sent(&state, company, &form).await? {
        conversations.keep_begun(id.0, user, typed).await?;
        if sent(&state, company, &form).await? {
            conversations.keep_begun(id.0, user, "").await?;
        }
    }
    if !typed.trim().is_empty() {
        show_typing(&state, company, id.0);
    }
    Ok(HttpResponse::NoContent().finish())
}

/// Whether the form of the answer has sent it.
async fn sent(state: &State, company: Uuid, form: &Form) -> Result<bool, engine::Error> {
    match form.once() {
        Some(once) => state.engine.conversations(company).is_answered_under(&form_key(once)).await,
        None => Ok(false),
    }
}

/// Shows the other side that somebody types. Nobody waits for it, or needs to know that it cannot be shown.
fn show_typing(state: &Data<State>, company: Uuid, id: Uuid) {
    let state = state.clone();
    actix_web::rt::spawn(async move {
        let key = format!("typing {company} {id}");
        let shown = state.shared.get(key, TYPING, async || {
            if let Err(error) = state.engine.conversations(company).show_typing_as_chosen(id).await {
                tracing::debug!(%error, "a person cannot be shown that somebody types");
            }
            Ok(())
        });
        shown.await.map(drop)
    });
}

/// Keeps a file in the library, and puts it beside the answer.
pub(in crate::console) async fn attach(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    body: Incoming,
) -> Result<Answer, Error> {
    let (filter, reply) = (InboxFilter::read(&query), query.one(REPLY));
    let mut form = match media::receive(&viewer, &state, body).await? {
        Ok(file) => {
            let file = file.to_string();
            return Ok(Answer::to(filter.with_all(id.0, "", &[(REPLY, reply), (FILE, file.as_str())])));
        }
        Err(form) => form,
    };
    form.put(REPLY, reply);
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
    take_chosen(&mut form);
    let is_prepared = match form.words().one("action") {
        quick_replies::TAKE => {
            take_quick_reply(&state, &viewer, &asking, &mut form).await?;
            true
        }
        action => action == PREVIEW || quote(&asking, &mut form),
    };
    if is_prepared {
        keep_typed(&state, &viewer, id.0, &form).await?;
        return Ok(page(&viewer, &state, &asking, &form).await?.into());
    }
    let (channel, conversation) = match state.engine.conversations(viewer.company.id).place(id.0).await {
        Ok(place) => place,
        Err(engine::Error::Refused(refusal)) if !form.words().one(MESSAGE).is_empty() => {
            form.general_fault(refusal.sentence);
            return Ok(page(&viewer, &state, &asking, &form).await?.unprocessable().into());
        }
        Err(error) => return Err(error.into()),
    };
    let to = (channel.kind, conversation.peer.group().is_some());
    let Some(asked) = asked(&state, &viewer, &asking.composer, to, &mut form).await? else {
        return Ok(page(&viewer, &state, &asking, &form).await?.unprocessable().into());
    };
    let sent = state.once.attempt(&viewer, &form, async || {
        let delivered = deliver(&viewer, &state, id.0, &form, asked).await;
        Ok(delivered.map(|()| Answer::to(filter.of(id.0, ""))))
    });
    let sent = Box::pin(sent).await?;
    match sent {
        Err(error) => {
            // What was typed is there when the answer can go.
            keep_typed(&state, &viewer, id.0, &form).await?;
            let refused = Refused::by(error, &mut form)?;
            Ok(refused.answer(page(&viewer, &state, &asking, &form).await?).into())
        }
        Ok(answer) => Ok(answer),
    }
}

/// Shows the template with what is filled in so far, for a page that is being filled in.
pub(in crate::console) async fn preview(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    mut form: Form,
) -> Result<HttpResponse, Error> {
    take_chosen(&mut form);
    let thread = OpenThread::read(&state, viewer.text, (viewer.company.id, id.0), None).await?;
    let composer = Composer::read(&state, &viewer, &thread, form.words().one(TEMPLATE)).await?;
    let shown = composer.preview(viewer.text, form.words()).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

/// Puts the chosen message above the answer, or takes it away; `false` when the form does not ask for it. What is typed and
/// chosen stays.
fn quote(asking: &Asking, form: &mut Form) -> bool {
    let Some(message) = form.words().raw(QUOTE).map(str::to_owned) else { return false };
    form.put(REPLY, message);
    if !form.words().names(MESSAGE) {
        asking.put_begun(form);
    }
    true
}

/// Keeps the text of the form, if it is one of a text: it is there when the answer can go.
async fn keep_typed(state: &State, viewer: &Viewer, id: Uuid, form: &Form) -> Result<(), engine::Error> {
    if !form.words().one(TEMPLATE).is_empty() {
        return Ok(());
    }
    let conversations = state.engine.conversations(viewer.company.id);
    conversations.keep_begun(id, viewer.signed_in.user.id, form.value(MESSAGE)).await
}

/// Puts the chosen quick reply behind what was typed, filled in for the person, and its file beside it.
async fn take_quick_reply(
    state: &State,
    viewer: &Viewer,
    asking: &Asking,
    form: &mut Form,
) -> Result<(), Error> {
    let word = form.words().one(quick_replies::CHOSEN);
    let Some(reply) = quick_replies::find(&asking.around.quick_replies, word) else { return Ok(()) };
    let (text, number) = (viewer.text, asking.thread.conversation().peer.number());
    let replies = state.engine.conversations(viewer.company.id).quick_replies();
    let RenderedReply { text: reply, missing, file, is_file_gone } =
        replies.rendered(reply.id, number, text.0.as_str()).await?;
    let typed = form.value(MESSAGE);
    let parts = [typed, reply.as_str()].into_iter().filter(|part| !part.trim().is_empty());
    let whole = parts.collect::<Vec<_>>().join("\n");
    form.put(MESSAGE, whole);
    if let Some(file) = file {
        form.put(FILE, file.id.to_string());
    }
    if is_file_gone {
        form.fault(FILE, text.get("replies-file-gone"));
    }
    if !missing.is_empty() {
        form.fault(MESSAGE, text.with("inbox-quick-missing", [("fields", missing.join(", ").into())]));
    }
    Ok(())
}

/// The request that the form describes; without one, the form has a fault.
async fn asked(
    state: &State,
    viewer: &Viewer,
    composer: &Composer,
    (kind, is_group): (channel::Kind, bool),
    form: &mut Form,
) -> Result<Option<ConversationRequest>, Error> {
    let mut body = match &composer.template {
        Some(template) => {
            template::read_deadline(viewer, template, form);
            template::check_contact_fields(template, &composer.own, form);
            let components = template::components(template, form.words());
            json!({"type": "template", "template_id": template.id, "components": components, "contact_fields": true})
        }
        None => content(state, viewer, form).await?,
    };
    let reply = form.words().one(REPLY);
    if !reply.is_empty() {
        body["reply_to"] = reply.into();
    }
    let body = body.to_string();
    Ok(match ConversationRequest::parse(body.as_bytes(), kind, is_group, &state.options.send) {
        Ok(asked) if !form.has_faults() => Some(asked),
        Ok(_) => None,
        Err(refusal) => {
            fault(form, &refusal);
            None
        }
    })
}

/// A text, or a file of the library with the text below it.
async fn content(state: &State, viewer: &Viewer, form: &mut Form) -> Result<Value, Error> {
    let said = form.value(MESSAGE).replace("\r\n", "\n");
    let Ok(file) = form.words().one(FILE).parse::<Uuid>() else {
        return Ok(json!({"type": "text", "message": said}));
    };
    let file = state.engine.media().find(viewer.company.id, file).await?;
    let caption = Some(said).filter(|said| !said.trim().is_empty());
    if caption.is_some() && matches!(file.kind, Kind::Audio | Kind::Sticker) {
        form.fault(MESSAGE, viewer.text.get("inbox-fault-caption"));
    }
    Ok(json!({"type": file.kind.as_str(), "link": file_link(file.id), "caption": caption}))
}

/// Sends the answer, unless this form was sent before, and removes what was kept of it.
async fn deliver(
    viewer: &Viewer,
    state: &State,
    id: Uuid,
    form: &Form,
    asked: ConversationRequest,
) -> Result<(), engine::Error> {
    let conversations = state.engine.conversations(viewer.company.id);
    let fingerprint = form.words().digest(&format!("an answer in {id}"), &["once", "action"]);
    if let Turn::First(guard) = Turn::of(state, viewer, form, fingerprint).await? {
        conversations.answer(&viewer.who(), id, asked, guard, SENT).await?;
    }
    // A template goes while a text waits until the person answers.
    if !form.words().one(TEMPLATE).is_empty() {
        return Ok(());
    }
    conversations.keep_begun(id, viewer.signed_in.user.id, "").await
}
