//! A new send: first the channel and the kind of message, then content, recipients and time. It is checked
//! before it is sent.
//!
//! Without script each choice is a step: the channel and the kind decide which fields the form has. *Check*
//! makes a dry run and shows it; *Send* accepts only a form that was checked. A business account writes to
//! many people at a time ([`bulk`]), a linked phone to one person or one group ([`web`]).

mod audience;
mod bulk;
mod choice;
mod content;
mod kept;
mod name;
mod preview;
mod refused;
mod sample;
mod template;
mod web;

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use maud::{Markup, html};
use tokio::time::timeout;
use uuid::Uuid;

use self::audience::Audience;
use self::choice::{CHOOSE, Choice, choices, choosing};
use self::refused::Refused;
use self::sample::Sample;
use super::send::again;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{faults, once};
use crate::console::component::library::take_chosen;
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::once::Turn;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::request::{BusinessRequest, WebRequest};
use crate::engine::{self, DryRun, WebDryRun};
use crate::error::Code;

/// The path of this page.
const PLACE: &str = "/console/sends/new";
/// Fields that control the form and are not part of the send.
const STEERING: [&str; 7] = ["action", "checked", "once", "find", "find_tag", "pick", "counting"];
/// How long the result of a dry run is kept for a page that did not wait for it.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// The request that the form describes.
enum Asked {
    Bulk(BusinessRequest),
    Web(WebRequest),
}

/// The result of a dry run.
#[derive(Clone)]
enum Found {
    Bulk(DryRun),
    Web(WebDryRun),
}

/// What is known about the send that the form describes.
#[derive(Default)]
struct Checked {
    found: Option<Found>,
    refused: Option<Refused>,
    /// The digest of the checked content.
    digest: Option<String>,
    /// The key of a dry run that takes longer than a page waits.
    counting: Option<String>,
    /// Whether the form was changed after the check.
    is_stale: bool,
    /// Whether a checked form is not kept any more.
    is_forgotten: bool,
}

/// The parts of the page around the form.
struct Around {
    choice: Choice,
    audience: Audience,
    sample: Sample,
}

impl Around {
    async fn read(state: &State, viewer: &Viewer, form: &Form) -> Result<Self, Error> {
        let choice = Choice::read(state, viewer, form.words()).await?;
        let audience = Audience::read(state, viewer, &choice, form.words()).await?;
        let sample = Sample::read(state, viewer, &choice, form.words()).await?;
        Ok(Self { choice, audience, sample })
    }
}

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    if let Some(id) = query.parsed("kept") {
        return kept::show(&viewer, &state, id).await;
    }
    let people = audience::named(&state, &viewer, &query).await?;
    let given = query.iter().filter(|(name, _)| *name != "contact");
    let given = given.map(|(name, value)| (name, value.to_owned()));
    let mut form = Form::filled(viewer.text, given.chain(people));
    let around = Around::read(&state, &viewer, &form).await?;
    around.choice.complain(&mut form);
    Ok(page(&viewer, &around, &form, &Checked::default()))
}

/// Checks the send, sends it, or looks for people.
pub(in crate::console) async fn act(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    take_chosen(&mut form);
    let picked = form.words().one("pick").to_owned();
    if !picked.is_empty() {
        form.put("number", picked.as_str());
        form.put("to", web::PERSON);
    }
    let action = form.words().one("action").to_owned();
    if action == CHOOSE {
        return choose(&viewer, &state, form).await;
    }
    let (around, company) = (Around::read(&state, &viewer, &form).await?, viewer.company.id);
    if matches!(action.as_str(), "find" | "find_tag") || !picked.is_empty() {
        return Ok(page(&viewer, &around, &form, &Checked::default()).into());
    }
    let asked = request(&state, &viewer, &around, &mut form);
    let (Some(channel), Some(asked)) = (&around.choice.channel, asked) else {
        return Ok(page(&viewer, &around, &form, &Checked::default()).unprocessable().into());
    };
    let fingerprint = form.words().digest("a new send", &STEERING);
    let digest = hex::encode(fingerprint);
    let mut checked = Checked::default();
    let result = if action == "send" && form.words().one("checked") == digest {
        let (mut failed, mut acted) = (None, false);
        let sent = state.once.act(&viewer, &form, async || {
            acted = true;
            let turn = Turn::of(&state, &viewer, &form, fingerprint).await;
            let sent = match turn {
                Ok(turn) => send(&viewer, &state, channel, asked, turn).await,
                Err(error) => Err(error),
            };
            sent.map_err(|error| {
                failed = Some(error.clone());
                error.into()
            })
        });
        match (sent.await, failed) {
            (_, Some(error)) => Err(error),
            (answer, None) => {
                if !acted {
                    state.flashes.put_behind(viewer.session, "done", viewer.text.get("compose-sent-before"));
                }
                return answer;
            }
        }
    } else {
        checked.is_stale = action == "send";
        // A browser that went back shows the id of a send. What is checked now is another one.
        form.renew();
        let run = form.words().one("counting").parse().unwrap_or_else(|_| Uuid::now_v7()).to_string();
        let found =
            within_patience(&state, channel, asked, format!("check {company} {digest} {run}")).await?;
        checked.counting = found.is_none().then_some(run);
        found.transpose()
    };
    match result {
        Ok(None) => {}
        Ok(Some(found)) => {
            // A check has a page of its own, which Back and a reload show without sending the form again.
            if !checked.is_stale
                && let Some((id, answer)) = kept::keep(&viewer, &state, &form).await?
            {
                let key = format!("check {company} {digest} {id}");
                state.shared.get(key, KEPT, async || Ok::<_, Error>(Ok::<_, engine::Error>(found))).await?;
                return Ok(answer);
            }
            checked.found = Some(found);
            checked.digest = Some(digest);
        }
        Err(error) => {
            if matches!(&error, engine::Error::Refused(refusal) if refusal.code == Code::IdempotencyKeyReused)
            {
                form.renew();
            }
            checked.refused = Some(Refused::by(error, &mut form)?);
        }
    }
    let page = page(&viewer, &around, &form, &checked);
    Ok(match &checked.refused {
        Some(refused) => refused.answer(page),
        None => page,
    }
    .into())
}

/// Shows the form for another channel, kind or template. Entered values stay in fields that still exist.
async fn choose(viewer: &Viewer, state: &State, mut form: Form) -> Result<Answer, Error> {
    let around = Around::read(state, viewer, &form).await?;
    // A linked phone writes to one number, a business account to many.
    let (one, many) = (form.words().one("number").to_owned(), form.words().one("numbers").to_owned());
    if around.choice.is_web() && one.is_empty() {
        form.put("number", many.lines().next().unwrap_or_default());
    } else if around.choice.channel.is_some() && !around.choice.is_web() && many.is_empty() {
        form.put("numbers", one);
    }
    around.choice.complain(&mut form);
    Ok(page(viewer, &around, &form, &Checked::default()).into())
}

/// Only the preview, for a page that is being filled in.
pub(in crate::console) async fn preview(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<HttpResponse, Error> {
    take_chosen(&mut form);
    let choice = Choice::read(&state, &viewer, form.words()).await?;
    let sample = Sample::read(&state, &viewer, &choice, form.words()).await?;
    let shown = preview::preview(viewer.text, &choice, form.words(), &sample).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

/// The request that the form describes, with a fault at each field that is wrong.
fn request(state: &State, viewer: &Viewer, around: &Around, form: &mut Form) -> Option<Asked> {
    let Around { choice, audience, .. } = around;
    if choice.channel.is_none() {
        form.fault("channel", viewer.text.get("compose-fault-channel"));
    }
    if !choice.fits() {
        form.fault("type", viewer.text.get("compose-fault-web-type"));
        return None;
    }
    if choice.is_web() {
        return web::request(state, choice, audience, form).map(Asked::Web);
    }
    bulk::request(state, viewer, choice, audience, form).map(Asked::Bulk)
}

/// The result of the dry run, if it is ready within the patience of a page. Otherwise the dry run continues,
/// and a later request with the same `key` gets its result.
async fn within_patience(
    state: &Data<State>,
    channel: &Arc<Channel>,
    asked: Asked,
    key: String,
) -> Result<Option<Result<Found, engine::Error>>, Error> {
    if let Some(found) = state.shared.ready::<Result<Found, engine::Error>>(&key, KEPT) {
        return Ok(Some(Result::clone(&found)));
    }
    if matches!(asked, Asked::Web(_)) {
        return Ok(Some(try_out(state, channel, asked).await));
    }
    let (own, channel) = (state.clone(), Arc::clone(channel));
    let running = actix_web::rt::spawn(async move {
        own.shared.get(key, KEPT, async || Ok(try_out(&own, &channel, asked).await)).await
    });
    match timeout(state.options.patience, running).await {
        Ok(found) => Ok(Some(Result::clone(&*found.map_err(|_| Error::Internal)??))),
        Err(_) => Ok(None),
    }
}

/// The stored answer for a form that is sent again: its redirect.
pub const SENT: engine::Form = engine::Form { name: "console", render: |sent| sent.send_id.to_string() };

/// Makes the dry run.
async fn try_out(state: &State, channel: &Arc<Channel>, asked: Asked) -> Result<Found, engine::Error> {
    Ok(match asked {
        Asked::Bulk(request) => Found::Bulk(state.engine.dry_run(channel, request).await?),
        Asked::Web(request) => Found::Web(state.engine.web_sends().dry_run(channel, request).await?),
    })
}

/// Sends the message, unless this form was sent before, and redirects to the page of the send.
async fn send(
    viewer: &Viewer,
    state: &State,
    channel: &Arc<Channel>,
    asked: Asked,
    turn: Turn,
) -> Result<Answer, engine::Error> {
    let text = viewer.text;
    let (send_id, said) = match (turn, asked) {
        (Turn::Done(send_id), _) => (send_id, text.get("compose-sent-before")),
        (Turn::First(held), Asked::Bulk(mut request)) => {
            request.label.made_by = Some(viewer.who().to_string());
            let accepted = state.engine.send(channel, request, held).await?;
            let count = [("count", accepted.recipients.into())];
            (accepted.send_id, text.with("compose-accepted", count))
        }
        (Turn::First(held), Asked::Web(mut request)) => {
            request.label.made_by = Some(viewer.who().to_string());
            let send_id = state.engine.web_sends().begin(channel, request, held, SENT).await?;
            (send_id, text.get("compose-accepted-web"))
        }
    };
    state.flashes.put(viewer.session, "done", said);
    Ok(Answer::to(format!("/console/sends/{send_id}")))
}

fn page(viewer: &Viewer, around: &Around, form: &Form, checked: &Checked) -> Page {
    let (text, choice) = (viewer.text, &around.choice);
    let body = if choice.channels.is_empty() {
        let first = html! {
            @if viewer.may_work() { a.button href="/console/channels/new" { (text.get("compose-add-channel")) } }
            " " a href="/console/channels" { (text.get("compose-to-channels")) }
        };
        empty(&text.get("compose-no-channel"), &first)
    } else {
        html! {
            @if checked.is_forgotten { (notice::warning(&html! { p { (text.get("compose-forgotten")) } })) }
            @if choice.is_complete() {
                (writing(viewer, around, form, checked))
            } @else {
                (faults(form))
                (choosing(viewer, choice, form))
            }
        }
    };
    Page::new(text.get("compose-title"), Menu::Sends, body)
}

/// The second step: content, recipients, and time.
fn writing(viewer: &Viewer, around: &Around, form: &Form, checked: &Checked) -> Markup {
    let (text, choice) = (viewer.text, &around.choice);
    html! {
        form method="post" action=(PLACE) data-preview="/console/sends/preview" {
            (choices(viewer, choice, form, true))
            (faults(form)) (once(form))
            div.columns {
                section.panel {
                    h2 { (text.get("compose-what")) }
                    (name::field(text, form))
                    (content::fields(text, choice, form))
                }
                (preview::preview(text, choice, form.words(), &around.sample))
            }
            @if choice.is_web() {
                section.panel { h2 { (text.get("compose-whom")) } (web::fields(viewer, form, &around.audience)) }
                section.panel { h2 { (text.get("compose-pace")) } (web::pace(viewer, &around.audience)) }
            } @else {
                section.panel { h2 { (text.get("compose-whom")) } (audience::fields(viewer, form, &around.audience)) }
                section.panel { h2 { (text.get("compose-when")) } (bulk::when(viewer, form)) }
            }
            @if checked.is_stale && checked.found.is_some() { (notice::warning(&html! { p { (text.get("compose-stale")) } })) }
            @match &checked.found {
                Some(Found::Bulk(dry_run)) => (again::outcome(viewer, dry_run)),
                Some(Found::Web(dry_run)) => (web::outcome(viewer, dry_run)),
                None => {}
            }
            @if let Some(refused) = &checked.refused { (refused.show(viewer)) }
            @if let Some(run) = &checked.counting {
                p.notice role="status" { (text.get("compose-counting")) }
                input type="hidden" name="counting" value=(run);
            }
            @if let Some(digest) = &checked.digest { input type="hidden" name="checked" value=(digest); }
            div.row {
                button.plain[checked.digest.is_some()] type="submit" name="action" value="check" data-again[checked.counting.is_some()] { (text.get("compose-check")) }
                button type="submit" name="action" value="send" disabled[checked.digest.is_none()] { (text.get("compose-send")) }
                @if checked.digest.is_none() { span.soft { (text.get("compose-check-first")) } }
            }
        }
    }
}
