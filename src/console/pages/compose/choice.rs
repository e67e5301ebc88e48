//! The first step: the channel, the kind of message and the template. They decide which fields the form has.

use std::sync::Arc;

use maud::{Markup, html};

use super::content::Kind;
use super::{PLACE, STEERING};
use crate::console::State;
use crate::console::component::field::{Field, once};
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::pages::channel::words::kind as kind_of_channel;
use crate::console::pages::templates::{state_of, why};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::channel::{self, Channel, Status};
use crate::domain::own_field::OwnField;
use crate::domain::page::PageRequest;
use crate::domain::template::{Status as Approval, Template};
use crate::engine::records::templates::{Filter, Record};

/// The action that only chooses, without checking or sending.
pub(super) const CHOOSE: &str = "choose";
/// The number of channels and templates that are offered.
const OFFERED: u64 = 500;

/// The choices of the form.
pub(super) struct Choice {
    /// Business accounts, and the web sessions that can send now.
    pub(super) channels: Vec<Arc<Channel>>,
    pub(super) channel: Option<Arc<Channel>>,
    /// A chosen web session that cannot send now.
    away: Option<Arc<Channel>>,
    pub(super) kind: Kind,
    templates: Vec<Template>,
    pub(super) template: Option<Template>,
    /// The company's own fields of contacts, for a template's values.
    pub(super) own: Vec<OwnField>,
    /// A named template that cannot be sent now, because it is not approved.
    unfit: Option<Record>,
}

impl Choice {
    pub(super) async fn read(state: &State, viewer: &Viewer, words: &Words) -> Result<Self, Error> {
        let company = viewer.company.id;
        let records = state.engine.company(company).await?;
        let page = PageRequest { page: 1, limit: OFFERED };
        let sessions = records.channels().of_kind(channel::Kind::WebSession, page, None).await?.records;
        let is_on = |channel: &Channel| channel.connection.status == Status::Connected;
        let (on, away): (Vec<_>, Vec<_>) = sessions.into_iter().map(Arc::new).partition(|one| is_on(one));
        let business = records.channels().business_accounts().await?;
        let channels: Vec<_> = business.into_iter().map(Arc::new).chain(on).collect();
        let asked = words.one("channel").parse().ok();
        let away = away.into_iter().find(|channel| Some(channel.id) == asked);
        let channel = channels.iter().find(|channel| Some(channel.id) == asked);
        let only = channels.first().filter(|_| channels.len() == 1 && away.is_none());
        let channel = channel.or(only).cloned();
        let kind = Kind::of(words.one("type"));
        let mut templates = Vec::new();
        if let (Kind::Template, Some(waba)) =
            (kind, channel.as_ref().and_then(|channel| channel.waba_id.as_ref()))
        {
            let found = records.templates().approved(waba, page, Filter::default()).await?;
            templates.extend(found.records.into_iter().map(Template::from));
        }
        let asked: Option<i64> = words.one("template").parse().ok();
        let template = templates.iter().find(|template| Some(template.id) == asked).cloned();
        let unfit = match asked.filter(|_| kind == Kind::Template && template.is_none()) {
            Some(id) => {
                records.templates().find(id).await?.filter(|found| found.status != Approval::Approved)
            }
            None => None,
        };
        let own = if template.is_some() { records.fields().all().await? } else { Vec::new() };
        Ok(Self { channels, channel, away, kind, templates, template, own, unfit })
    }

    /// Whether the channel is a linked phone.
    pub(super) fn is_web(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.kind == channel::Kind::WebSession)
    }

    /// Whether the chosen channel sends messages of the chosen kind.
    pub(super) fn fits(&self) -> bool {
        self.kinds().contains(&self.kind)
    }

    /// Whether everything is chosen, so that the message can be written.
    pub(super) fn is_complete(&self) -> bool {
        self.channel.is_some() && self.fits() && (self.kind != Kind::Template || self.template.is_some())
    }

    /// Notes the missing choices of the first step, once its form was sent.
    pub(super) fn complain(&self, form: &mut Form) {
        let text = form.text();
        if form.words().names("channel") && self.channel.is_none() && self.away.is_none() {
            form.fault("channel", text.get("compose-fault-channel"));
        } else if form.words().names("template")
            && self.kind == Kind::Template
            && self.template.is_none()
            && self.unfit.is_none()
        {
            form.fault("template", self.template_fault(text));
        }
    }

    /// What to do while no template is chosen that can be sent.
    pub(super) fn template_fault(&self, text: Text) -> String {
        text.get(match self.unfit {
            Some(_) => "compose-fault-choose-other",
            None => "compose-fault-choose",
        })
    }

    fn kinds(&self) -> &'static [Kind] {
        if self.is_web() { &Kind::OF_WEB_SESSIONS } else { &Kind::ALL }
    }
}

/// The fields of the first step.
pub(super) const CHOSEN: [&str; 3] = ["channel", "type", "template"];

/// The form of the first step. It carries values that were entered for another channel, so that they appear
/// again in fields that the new channel has.
pub(super) fn choosing(viewer: &Viewer, choice: &Choice, form: &Form) -> Markup {
    let written = form
        .words()
        .iter()
        .filter(|(name, value)| !CHOSEN.contains(name) && !STEERING.contains(name) && !value.is_empty());
    let written: Vec<_> = written.collect();
    // A query is too short for these values, but the tags of a link from the page of a tag fit.
    let method = if written.iter().all(|(name, _)| *name == "tag") { "get" } else { "post" };
    html! {
        form method=(method) action=(PLACE) {
            @if method == "post" { (once(form)) }
            @for (name, value) in written { input type="hidden" name=(name) value=(value); }
            (choices(viewer, choice, form, method == "post"))
        }
    }
}

/// Only the choices, for the form of the message. A form that `is_posted` names the pressed button.
pub(super) fn choices(viewer: &Viewer, choice: &Choice, form: &Form, is_posted: bool) -> Markup {
    let text = viewer.text;
    let current = choice.channel.as_ref().map(|channel| channel.id.to_string()).unwrap_or_default();
    let template = choice.template.as_ref().map(|template| template.id.to_string()).unwrap_or_default();
    let first = &Form::filled(
        text,
        [("channel", current), ("type", choice.kind.as_str().to_owned()), ("template", template)],
    );
    let named = |channel: &Arc<Channel>| match channel.kind {
        channel::Kind::BusinessAccount => channel.name.clone(),
        channel::Kind::WebSession => format!("{} ({})", channel.name, kind_of_channel(text, channel.kind)),
    };
    let channels = choice.channels.iter().map(|channel| (channel.id.to_string(), named(channel)));
    let any = (String::new(), text.get("compose-choose"));
    let kinds = choice.kinds().iter().map(|kind| (kind.as_str(), kind.word(text)));
    let has_templates = choice.kind == Kind::Template && choice.fits();
    let templates = choice.templates.iter();
    let templates = templates
        .map(|template| (template.id.to_string(), format!("{} ({})", template.name, template.language)));
    html! {
        div.panel.row.bottom {
            (Field::new(first, "channel", &text.get("compose-channel")).within("first")
                .select(std::iter::once(any.clone()).chain(channels)))
            (Field::new(first, "type", &text.get("compose-type")).within("first").select(kinds))
            @if has_templates {
                (Field::new(first, "template", &text.get("compose-template")).within("first")
                    .select(std::iter::once(any).chain(templates)))
            }
            button.plain[choice.is_complete()] type="submit" name=[is_posted.then_some("action")] value=[is_posted.then_some(CHOOSE)] formnovalidate { (text.get("compose-go-on")) }
        }
        @if has_templates && choice.channel.is_some() && choice.templates.is_empty() {
            p { (text.get("compose-no-template")) }
        }
        @if has_templates && let Some(unfit) = &choice.unfit { (not_now(text, unfit)) }
        @if let Some(away) = &choice.away {
            (notice::warning(&html! {
                p {
                    bdi { (away.name) } ": " (text.get("compose-not-linked")) " "
                    a href=(format!("/console/channels/{}", away.id)) { (text.get("compose-to-channel")) }
                }
            }))
        }
        @if !choice.fits() { (notice::fault(&text.get("compose-fault-web-type"))) }
        @for name in ["channel", "template"] {
            @if let Some(fault) = form.fault_of(name) { (notice::fault(fault)) }
        }
    }
}

/// Says that a template cannot be sent now, why, and where it is shown.
fn not_now(text: Text, template: &Record) -> Markup {
    let search =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("search", &template.name).finish();
    notice::warning(&html! {
        p {
            bdi { (template.name) } " (" (template.language) "): " (text.get("compose-template-not-now")) " "
            (state_of(text, template.status.as_str()))
        }
        (why(text, template))
        p { a href=(format!("/console/templates?{search}")) { (text.get("compose-to-template")) } }
    })
}
