//! A new send: channel and kind first, then what is said, to whom and when; checked before it goes.
//!
//! Without script each choice is a step: the channel and the kind decide which fields there are. *Check* makes a dry run
//! and shows it; *Send* works for what was checked, and for nothing else.

mod audience;
mod content;
mod preview;
mod template;

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use self::audience::Audience;
use self::content::Kind;
use super::send::again::{outcome, refused};
use crate::console::State;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Answer, Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::channel::Channel;
use crate::domain::page::PageRequest;
use crate::domain::request::BusinessRequest;
use crate::domain::template::Template;
use crate::engine::{self, Rehearsal};
use crate::error::{Code, Refusal};
use crate::store::template::Filter;

/// Channels and templates that are offered.
const OFFERED: u64 = 500;
/// Words of a form that say what is done with it, and not what is sent.
const STEERING: [&str; 4] = ["action", "checked", "once", "find"];

/// What was chosen first: it decides which fields there are.
struct Choice {
    channels: Vec<Arc<Channel>>,
    channel: Option<Arc<Channel>>,
    kind: Kind,
    templates: Vec<Template>,
    template: Option<Template>,
}

/// What is known of the send that the form describes.
#[derive(Default)]
struct Checked {
    outcome: Option<Rehearsal>,
    refusal: Option<Refusal>,
    /// Names what was checked.
    digest: Option<String>,
    /// Whether something was changed after it was checked.
    is_stale: bool,
}

/// Shows the form.
pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let choice = Choice::read(&state, &viewer, &query).await?;
    let given = query.iter().map(|(name, value)| (name, value.to_owned()));
    let form = Form::filled(viewer.text, given);
    let audience = Audience::read(&state, &viewer, form.words()).await?;
    Ok(page(&viewer, &choice, &form, &audience, &Checked::default()))
}

/// Checks the send, sends it, or looks for people.
pub(in crate::console) async fn act(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    let choice = Choice::read(&state, &viewer, form.words()).await?;
    let audience = Audience::read(&state, &viewer, form.words()).await?;
    let action = form.words().one("action").to_owned();
    if action == "find" {
        return Ok(page(&viewer, &choice, &form, &audience, &Checked::default()).into());
    }
    let request = request(&state, &viewer, &choice, &mut form);
    let (Some(channel), Some(request)) = (&choice.channel, request) else {
        return Ok(page(&viewer, &choice, &form, &audience, &Checked::default()).unprocessable().into());
    };
    let digest = digest(form.words());
    let is_checked = form.words().one("checked") == digest;
    if action == "send" && is_checked {
        let sent = state.once.act(&viewer, &form, async || {
            let accepted = state.engine.send(channel, request, None).await?;
            let count = [("count", accepted.recipients.into())];
            state.flashes.put(viewer.session, "done", viewer.text.with("compose-accepted", count));
            Ok(Answer::to(format!("/console/sends/{}", accepted.send_id)))
        });
        return match sent.await {
            Err(Error::Refused(refusal)) => {
                fault(&mut form, &refusal);
                Ok(page(&viewer, &choice, &form, &audience, &Checked::default()).unprocessable().into())
            }
            Err(Error::NotFound) => {
                form.general_fault(viewer.text.get("compose-fault-template"));
                Ok(page(&viewer, &choice, &form, &audience, &Checked::default()).unprocessable().into())
            }
            other => other,
        };
    }
    let mut checked = Checked { is_stale: action == "send", ..Checked::default() };
    match state.engine.rehearse(channel, request).await {
        Ok(outcome) => {
            checked.outcome = Some(outcome);
            checked.digest = Some(digest);
        }
        Err(engine::Error::Refused(refusal)) => {
            fault(&mut form, &refusal);
            checked.refusal = Some(refusal);
        }
        Err(other) => return Err(other.into()),
    }
    let page = page(&viewer, &choice, &form, &audience, &checked);
    Ok(if checked.refusal.is_some() { page.unprocessable() } else { page }.into())
}

/// The preview alone, for the page that is being filled in.
pub(in crate::console) async fn preview(
    viewer: Viewer,
    state: Data<State>,
    form: Form,
) -> Result<HttpResponse, Error> {
    let choice = Choice::read(&state, &viewer, form.words()).await?;
    let shown = preview::preview(viewer.text, &choice, form.words()).into_string();
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/html; charset=utf-8")).body(shown))
}

impl Choice {
    async fn read(state: &State, viewer: &Viewer, words: &Words) -> Result<Self, Error> {
        let records = state.engine.records_of(viewer.company.id).await?;
        let channels = records.business_accounts(viewer.company.id).await?;
        let channels: Vec<_> = channels.into_iter().map(Arc::new).collect();
        let asked = words.one("channel").parse().ok();
        let channel = channels.iter().find(|channel| Some(channel.id) == asked);
        let only = channels.first().filter(|_| channels.len() == 1);
        let channel = channel.or(only).cloned();
        let kind = Kind::of(words.one("type"));
        let mut templates = Vec::new();
        if let (Kind::Template, Some(waba)) =
            (kind, channel.as_ref().and_then(|channel| channel.waba_id.as_ref()))
        {
            let page = PageRequest { page: 1, limit: OFFERED };
            let found = records.approved_templates(viewer.company.id, waba, page, Filter::default()).await?;
            templates.extend(found.records.into_iter().map(Template::from));
        }
        let asked: Option<i64> = words.one("template").parse().ok();
        let template = templates.iter().find(|template| Some(template.id) == asked).cloned();
        Ok(Self { channels, channel, kind, templates, template })
    }
}

/// The request that the form describes, with a fault at each field that is wrong.
fn request(state: &State, viewer: &Viewer, choice: &Choice, form: &mut Form) -> Option<BusinessRequest> {
    if choice.channel.is_none() {
        form.fault("channel", viewer.text.get("compose-fault-channel"));
    }
    if choice.kind == Kind::Template && choice.template.is_none() {
        form.fault("template", viewer.text.get("compose-fault-choose"));
    }
    let mut body = content::body(choice, form.words());
    audience::add(&mut body, form.words());
    for name in ["send_at", "expires_at"] {
        moment(viewer, form, name, &mut body);
    }
    if form.has_faults() {
        return None;
    }
    match BusinessRequest::parse(Value::Object(body).to_string().as_bytes(), &state.options.send) {
        Ok(request) => Some(request),
        Err(refusal) => {
            fault(form, &refusal);
            None
        }
    }
}

fn moment(viewer: &Viewer, form: &mut Form, name: &'static str, body: &mut Map<String, Value>) {
    let local = form.words().one(name).to_owned();
    if local.is_empty() {
        return;
    }
    match viewer.zone.moment(&local) {
        Some(at) => {
            body.insert(name.to_owned(), at.to_string().into());
        }
        None => form.fault(name, viewer.text.get("compose-fault-time")),
    }
}

/// Puts a refusal beside the field that it is about.
fn fault(form: &mut Form, refusal: &Refusal) {
    let (field, key) = match refusal.code {
        Code::MissingRecipient => ("numbers", "compose-fault-recipient"),
        Code::NoValidRecipients => ("numbers", "compose-fault-nobody"),
        Code::TooManyRecipients | Code::TooManyTags => ("numbers", "compose-fault-too-many"),
        Code::MissingMessage => ("message", "compose-fault-message"),
        Code::TextTooLong => ("message", "compose-fault-long"),
        Code::MissingLink | Code::InvalidLink | Code::LinkTooLong => ("link", "compose-fault-link"),
        Code::CaptionTooLong => ("caption", "compose-fault-long"),
        Code::InvalidSchedule => ("send_at", "compose-fault-schedule"),
        Code::ReconnectWaba => ("channel", "compose-fault-disconnected"),
        Code::TemplateNotFound | Code::TemplateNotApproved => ("template", "compose-fault-template"),
        Code::InvalidInteractive => ("message", "compose-fault-interactive"),
        Code::InvalidComponents => ("", "compose-fault-values"),
        _ => {
            form.general_fault(refusal.sentence.clone());
            return;
        }
    };
    let sentence = form.text().get(key);
    form.fault(field, sentence);
}

/// What is sent, to whom and when, as one word.
fn digest(words: &Words) -> String {
    let mut digest = Sha256::new();
    for (name, value) in words.iter().filter(|(name, value)| !STEERING.contains(name) && !value.is_empty()) {
        for part in [name, value] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    hex::encode(digest.finalize())
}

fn page(viewer: &Viewer, choice: &Choice, form: &Form, audience: &Audience, checked: &Checked) -> Page {
    let text = viewer.text;
    let body = if choice.channels.is_empty() {
        let first = html! {
            @if viewer.may_work() { a.button href="/console/channels/new" { (text.get("compose-add-channel")) } }
        };
        empty(&text.get("compose-no-channel"), &first)
    } else {
        html! {
            (choosing(viewer, choice, form))
            @if choice.channel.is_some() && (choice.kind != Kind::Template || choice.template.is_some()) {
                (writing(viewer, choice, form, audience, checked))
            } @else {
                (faults(form))
            }
        }
    };
    Page::new(text.get("compose-title"), Menu::Sends, body)
}

/// The first step: channel, kind and template.
fn choosing(viewer: &Viewer, choice: &Choice, form: &Form) -> Markup {
    let text = viewer.text;
    let current = choice.channel.as_ref().map(|channel| channel.id.to_string()).unwrap_or_default();
    let template = choice.template.as_ref().map(|template| template.id.to_string()).unwrap_or_default();
    let first = &Form::filled(
        text,
        [("channel", current), ("type", choice.kind.as_str().to_owned()), ("template", template)],
    );
    let channels = choice.channels.iter().map(|channel| (channel.id.to_string(), channel.name.clone()));
    let any = (String::new(), text.get("compose-choose"));
    let kinds = Kind::ALL.map(|kind| (kind.as_str(), kind.word(text)));
    let templates = choice.templates.iter();
    let templates = templates
        .map(|template| (template.id.to_string(), format!("{} ({})", template.name, template.language)));
    let shown = |name: &str| form.fault_of(name).map(notice::fault);
    html! {
        form.panel.row.bottom method="get" action="/console/sends/new" {
            (Field::new(first, "channel", &text.get("compose-channel")).within("first")
                .select(std::iter::once(any.clone()).chain(channels)))
            (Field::new(first, "type", &text.get("compose-type")).within("first").select(kinds))
            @if choice.kind == Kind::Template {
                (Field::new(first, "template", &text.get("compose-template")).within("first")
                    .select(std::iter::once(any).chain(templates)))
            }
            button.plain type="submit" { (text.get("compose-go-on")) }
        }
        @if choice.kind == Kind::Template && choice.channel.is_some() && choice.templates.is_empty() {
            p { (text.get("compose-no-template")) }
        }
        @for name in ["channel", "template"] { @if let Some(fault) = shown(name) { (fault) } }
    }
}

/// The second step: what is said, to whom, and when.
fn writing(viewer: &Viewer, choice: &Choice, form: &Form, audience: &Audience, checked: &Checked) -> Markup {
    let text = viewer.text;
    let hidden = [
        ("channel", choice.channel.as_ref().map(|channel| channel.id.to_string())),
        ("type", Some(choice.kind.as_str().to_owned())),
        ("template", choice.template.as_ref().map(|template| template.id.to_string())),
    ];
    html! {
        form method="post" action="/console/sends/new" data-preview="/console/sends/preview" {
            (faults(form)) (once(form))
            @for (name, value) in hidden {
                @if let Some(value) = value { input type="hidden" name=(name) value=(value); }
            }
            div.columns {
                section.panel {
                    h2 { (text.get("compose-what")) }
                    (content::fields(text, choice, form))
                }
                (preview::preview(text, choice, form.words()))
            }
            section.panel { h2 { (text.get("compose-whom")) } (audience::fields(viewer, form, audience)) }
            section.panel {
                h2 { (text.get("compose-when")) }
                div.row {
                    (Field::new(form, "send_at", &text.get("compose-starts")).hint(&text.get("compose-starts-hint"))
                        .input("datetime-local"))
                    (Field::new(form, "expires_at", &text.get("compose-expires")).hint(&text.get("compose-expires-hint"))
                        .input("datetime-local"))
                }
                p.soft { (text.get("compose-zone")) " " (viewer.zone.name()) }
            }
            @if checked.is_stale { (notice::warning(&html! { p { (text.get("compose-stale")) } })) }
            @if let Some(rehearsal) = &checked.outcome { (outcome(viewer, rehearsal)) }
            @if let Some(refusal) = &checked.refusal { (refused(viewer, refusal)) }
            @if let Some(digest) = &checked.digest { input type="hidden" name="checked" value=(digest); }
            div.row {
                button.plain[checked.digest.is_some()] type="submit" name="action" value="check" { (text.get("compose-check")) }
                button type="submit" name="action" value="send" disabled[checked.digest.is_none()] { (text.get("compose-send")) }
                @if checked.digest.is_none() { span.soft { (text.get("compose-check-first")) } }
            }
        }
    }
}
