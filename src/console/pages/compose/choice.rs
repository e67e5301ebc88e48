//! What decides which fields the form has: the channel, the kind of message and the template.

use std::sync::Arc;

use maud::{Markup, html};

use super::cards::Cards;
use super::content::Kind;
use super::instead::{INSTEAD, Instead};
use crate::console::State;
use crate::console::component::library::OfferedFiles;
use crate::console::component::notice;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::channel::{self, Channel, Status};
use crate::domain::own_field::OwnField;
use crate::domain::page::PageRequest;
use crate::domain::template::{Status as Approval, Template};
use crate::engine::records::templates::Record;

/// The action that only chooses, without checking or sending.
pub(super) const CHOOSE: &str = "choose";
/// The number of channels that are offered.
const OFFERED: u64 = 500;

/// The choices of the form.
pub(super) struct Choice {
    /// Business accounts, and the web sessions that can send now.
    pub(super) channels: Vec<Arc<Channel>>,
    pub(super) channel: Option<Arc<Channel>>,
    /// A chosen web session that cannot send now.
    away: Option<Arc<Channel>>,
    pub(super) kind: Kind,
    /// The files of the library that can take the place of a link.
    pub(super) files: OfferedFiles,
    pub(super) template: Option<Template>,
    /// The templates to choose from, while none is chosen.
    pub(super) cards: Cards,
    /// The company's own fields of contacts, for the values of the chosen template.
    pub(super) own: Vec<OwnField>,
    /// A named template that cannot be sent now, because it is not approved.
    pub(super) unfit: Option<Record>,
    /// What people get whose window is closed, of a message that is no template.
    pub(super) instead: Instead,
}

impl Choice {
    pub(super) async fn read(state: &State, viewer: &Viewer, words: &Words) -> Result<Self> {
        let company = viewer.company.id;
        let (kind, is_open) = (Kind::of(words.one("type")), !words.names("type"));
        // Before the records, whose turn others wait for.
        let files = match kind {
            Kind::Image | Kind::Video | Kind::Audio | Kind::Document | Kind::Template => {
                OfferedFiles::read(&state.engine, company).await?
            }
            _ if is_open || !words.one(INSTEAD).is_empty() => {
                OfferedFiles::read(&state.engine, company).await?
            }
            _ => OfferedFiles::default(),
        };
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
        let waba = channel.as_ref().and_then(|channel| channel.waba_id.clone());
        let mut choice = Self {
            channels,
            channel,
            away,
            kind,
            files,
            template: None,
            cards: Cards::default(),
            own: Vec::new(),
            unfit: None,
            instead: Instead::default(),
        };
        let Some(waba) = waba else { return Ok(choice) };
        if !is_open && choice.kind != Kind::Template {
            choice.instead = Instead::read(&records, &waba, words).await?;
            if choice.instead.chosen.is_some() {
                choice.own = records.fields().all().await?;
            }
            return Ok(choice);
        }
        let named = match words.one("template").parse::<i64>() {
            Ok(id) => records.templates().find(id).await?.filter(|found| found.waba_id == waba),
            Err(_) => None,
        };
        match named {
            Some(found) if found.status == Approval::Approved => choice.template = Some(found.into()),
            other => choice.unfit = other,
        }
        match choice.template {
            Some(_) => choice.own = records.fields().all().await?,
            None => choice.cards = Cards::read(&records, &waba, words).await?,
        }
        // Templates are what most sends of a business account are, and all that reaches people who did not write lately.
        if is_open && (choice.template.is_some() || choice.cards.has_fit()) {
            choice.kind = Kind::Template;
        }
        Ok(choice)
    }

    /// The template whose values the form has: that of the message, or the one that goes in its place.
    pub(super) fn filled(&self) -> Option<&Template> {
        if self.kind == Kind::Template { self.template.as_ref() } else { self.instead.chosen.as_ref() }
    }

    /// Whether the channel is a linked phone.
    pub(super) fn is_web(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.kind == channel::Kind::WebSession)
    }

    /// Whether the channel, or one that is chosen yet, writes to many people at a time.
    pub(super) fn is_for_many(&self) -> bool {
        let is_business = |channel: &Arc<Channel>| channel.kind == channel::Kind::BusinessAccount;
        match &self.channel {
            Some(channel) => is_business(channel),
            None => self.away.is_none() && self.channels.iter().any(is_business),
        }
    }

    /// Whether the chosen channel sends messages of the chosen kind.
    pub(super) fn fits(&self) -> bool {
        self.kinds().contains(&self.kind)
    }

    /// Notes the choices that are missing, once a form with them was sent.
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

    /// The kinds that the channel sends.
    pub(super) fn kinds(&self) -> &'static [Kind] {
        if self.is_web() { &Kind::OF_WEB_SESSIONS } else { &Kind::ALL }
    }

    /// Says that the chosen phone is not linked, and where to link it.
    pub(super) fn not_linked(&self, text: Text) -> Markup {
        let Some(away) = &self.away else { return html! {} };
        notice::warning(&html! {
            p {
                bdi { (away.name) } ": " (text.get("compose-not-linked")) " "
                a href=(format!("/console/channels/{}", away.id)) { (text.get("compose-to-channel")) }
            }
        })
    }
}
