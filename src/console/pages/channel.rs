//! One channel: its state, its limits, and the actions on it.

pub(crate) mod business;
pub(crate) mod checks;
pub(crate) mod limits;
pub(crate) mod pairing;
pub(crate) mod profile;
pub(crate) mod shape;
pub(crate) mod words;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use super::changes;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::copy;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment, second};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::console::{State, live};
use crate::domain::channel::{Channel, Kind, Level, Status};
use crate::domain::limit::Limits;
use crate::domain::page::PageRequest;
use crate::domain::tier::Quota;
use crate::engine;
use crate::engine::records::changes::Change;
use crate::error::{Code, Refusal};

/// How often a pairing in progress is polled: a QR code is valid for twenty seconds.
const LOOK: Duration = Duration::from_secs(1);
/// After this many polls of the pairing, the other parts are refreshed too.
const LOOKS: u32 = 2;
/// The number of changes that are shown.
const CHANGES: u64 = 20;

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let channel = own(&viewer, &state, id.0).await?;
    page(&viewer, &state, &channel, &Form::new(viewer.text)).await
}

/// The live parts of the page.
pub(crate) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let mut channel = own(&viewer, &state, id.0).await?;
    let (parts, mut looks, mut fragments, mut is_busy) = (state.clone(), 0, Vec::new(), false);
    live::stream(&request, &state, LOOK, async move || {
        let is_whole = looks % LOOKS == 0;
        looks += 1;
        // A channel that was removed ends the stream, before the next code of its pairing is shown.
        channel = own(&viewer, &parts, channel.id).await?;
        if is_whole {
            fragments = vec![head(&viewer, &channel), pace(&viewer, &parts, &channel).await?];
        }
        if channel.kind == Kind::WebSession && (is_whole || is_busy) {
            let (stage, shown) = pairing::progress(&viewer, &parts, &channel).await?;
            is_busy = stage.is_under_way();
            fragments.truncate(2);
            fragments.push(shown);
            // The form that asks for the risk is no live part.
            fragments.push(pairing::actions(&viewer, &parts, &channel, stage, &Form::new(viewer.text), true));
        }
        Ok(fragments.clone())
    })
}

/// Gives the channel another name.
pub(crate) async fn rename(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = own(&viewer, &state, id.0).await?;
    let name = shape::name(&mut form);
    if form.has_faults() {
        return Ok(page(&viewer, &state, &channel, &form).await?.unprocessable().into());
    }
    let act = async || {
        state.engine.channels().rename(&viewer.who(), channel.id, &name).await?;
        let said = viewer.text.with("channels-renamed", [("name", name.clone().into())]);
        state.flashes.put(viewer.session, "done", said);
        Ok(back(&channel))
    };
    state.once.act(&viewer, &form, act).await
}

/// Removes the channel, if its sends are over.
pub(crate) async fn remove(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = own(&viewer, &state, id.0).await?;
    match state.engine.channels().remove(&viewer.who(), channel.id).await {
        Ok(_) => {
            let said = viewer.text.with("channels-removed", [("name", channel.name.clone().into())]);
            Ok(Answer::done(&state, &viewer, said, "/console/channels"))
        }
        Err(engine::Error::Refused(Refusal { code: Code::ChannelInUse, .. })) => {
            form.general_fault(viewer.text.get("channels-in-use"));
            Ok(page(&viewer, &state, &channel, &form).await?.unprocessable().into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The channel as it is in the store now, if it belongs to the company.
pub(super) async fn own(viewer: &Viewer, state: &State, id: Uuid) -> Result<Arc<Channel>> {
    let found = state.engine.company(viewer.company.id).await?.channels().find(id).await?;
    found.map(Arc::new).ok_or(Error::NotFound)
}

/// The same, if the channel is of this kind.
async fn of_kind(viewer: &Viewer, state: &State, id: Id, kind: Kind) -> Result<Arc<Channel>> {
    let channel = own(viewer, state, id.0).await?;
    if channel.kind == kind { Ok(channel) } else { Err(Error::NotFound) }
}

/// Back to the channel's page.
fn back(channel: &Channel) -> Answer {
    Answer::to(format!("/console/channels/{}", channel.id))
}

/// The page, with a submitted form or a new one.
pub(super) async fn page(
    viewer: &Viewer,
    state: &State,
    channel: &Arc<Channel>,
    form: &Form,
) -> Result<Page> {
    let text = viewer.text;
    let limits = state.engine.channels().limits(channel).await?;
    let own_part = match channel.kind {
        Kind::BusinessAccount => business::part(viewer, state, channel, form).await?,
        Kind::WebSession => pairing::part(viewer, state, channel, form).await?,
    };
    // What connects a channel comes first, unless it is connected.
    let sends = channel.connection.status == Status::Connected;
    let body = html! {
        (faults(form))
        (head(viewer, channel))
        @if !sends { (own_part) }
        (pace_of(viewer, &limits))
        section.panel {
            h2 { (text.get("channels-limits")) }
            (limits::table_of(viewer, &limits))
        }
        @if sends { (own_part) }
        (history(viewer, state, channel).await?)
        @if viewer.is_owner() {
            (naming(viewer, channel, form))
            (confirm(text, &format!("/console/channels/{}/remove", channel.id), &text.get("channels-remove"), &text.get("channels-remove-question")))
        }
        p { a href="/console/channels" { (text.get("channels-all")) } }
    };
    let page = Page::new(channel.name.clone(), Menu::Channels, body);
    Ok(page.live(format!("/console/channels/{}/live", channel.id)).secret())
}

/// The form for another name.
fn naming(viewer: &Viewer, channel: &Channel, form: &Form) -> Markup {
    let text = viewer.text;
    // Another form of the page may come back with its faults.
    let fresh = Form::filled(text, [("name", channel.name.clone())]);
    let form = if form.words().raw("name").is_some() { form } else { &fresh };
    html! {
        section.panel {
            h2 { (text.get("channels-rename-title")) }
            form.row.bottom method="post" action=(format!("/console/channels/{}/rename", channel.id)) {
                (once(form))
                (Field::new(form, "name", &text.get("channels-name")).hint(&text.get("channels-name-hint")).required().most(shape::NAME).text())
                button.plain type="submit" { (text.get("channels-rename")) }
            }
        }
    }
}

/// The channel and its state; a live part.
fn head(viewer: &Viewer, channel: &Channel) -> Markup {
    let text = viewer.text;
    let limit = channel.messaging_limit.map(|limit| match limit {
        Quota::AtMost(people) => text.number(people.into()),
        Quota::Unlimited => text.get("channels-no-limit"),
    });
    html! {
        section.panel #channel-head {
            p { (words::state(text, &channel.connection)) " " (text.get("channels-since")) " " (second(viewer, channel.connection.since)) }
            (words::explanation(text, &channel.connection))
            dl.facts {
                dt { (text.get("channels-kind")) } dd { (words::kind(text, channel.kind)) }
                dt { (text.get("channels-number")) }
                dd { (words::number(channel)) }
                dt { (text.get("channels-tier")) } dd { bdi { (channel.tier) } }
                @if channel.kind == Kind::BusinessAccount {
                    dt { (text.get("channels-quality")) } dd { (words::quality(text, channel.quality_rating.as_deref())) }
                    @if let Some(level) = channel.level.filter(|level| *level != Level::NotApplicable) {
                        dt { (text.get("channels-level")) } dd { code { (level) } }
                    }
                    @if let Some(limit) = limit {
                        dt { (text.get("channels-messaging-limit")) } dd { (limit) }
                    }
                } @else {
                    dt { (text.get("channels-linked-at")) } dd { (maybe(viewer, channel.linked_at)) }
                }
                dt { (text.get("channels-id")) } dd { (copy::id(text, channel.id)) }
            }
        }
    }
}

async fn pace(viewer: &Viewer, state: &State, channel: &Arc<Channel>) -> Result<Markup> {
    let limits = state.engine.channels().limits(channel).await?;
    Ok(pace_of(viewer, &limits))
}

fn pace_of(viewer: &Viewer, limits: &Limits) -> Markup {
    html! { div #channel-pace { (limits::pace(viewer, limits)) } }
}

/// The changes that people made to the channel, newest first.
async fn history(viewer: &Viewer, state: &State, channel: &Channel) -> Result<Markup> {
    let text = viewer.text;
    let request = PageRequest { page: 1, limit: CHANGES };
    let records = state.engine.company(viewer.company.id).await?;
    let recorded = records.channels().changes(channel.id, request).await?.records;
    drop(records);
    let columns = Column::all(
        text,
        ["channels-when", "channels-who", "channels-what", "channels-before", "channels-after"],
    );
    let names = HashMap::from([(viewer.company.id, viewer.company.name.clone())]);
    let values = changes::Recorded { person: viewer, names: &names };
    let rows = recorded.into_iter().map(|change| {
        let Change { at, who, what, before, after, .. } = change;
        vec![
            moment(viewer, at),
            html! { bdi title=(who) { (changes::words::author(text, &who)) } },
            html! { span title=(what.as_str()) { (changes::words::kind(text, what)) } },
            html! { div.values[before.is_some()] { (values.value(&before.unwrap_or_default())) } },
            html! { div.values { (values.value(&after)) } },
        ]
    });
    Ok(html! {
        section.panel {
            h2 { (text.get("channels-history")) }
            (table(&text.get("channels-history"), &columns, rows))
        }
    })
}
