//! One send: the outcome of its messages, what it says, to whom, who made it; pausing, resuming, moving and canceling it.

pub(crate) mod again;
mod cost;
mod facts;
pub(super) mod figures;
pub(super) mod message;
pub(super) mod messages;
mod messages_file;
pub(super) mod origin;
mod results;
pub(crate) mod schedule;
pub(super) mod skipped_row;
pub(super) mod words;

pub(crate) use self::messages_file::download as csv;
pub(crate) use self::results::download as results;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::error::Result;
use crate::console::live;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::message::Selection;
use crate::domain::page::PageRequest;
use crate::domain::send::{Source, Stage};
use crate::engine::SteeringStep;
use crate::engine::records::sends::{Filter, Record};

/// How often an open page is refreshed.
const EVERY: Duration = Duration::from_secs(2);
/// The number of retries of the send that the page shows, newest first.
const REPEATS: u64 = 20;

pub(crate) async fn show(viewer: Viewer, state: Data<State>, Id(id): Id, query: Query) -> Result<Page> {
    let view = figures::view(&state, viewer.company.id, id).await?;
    let around = Around::read(&state, &viewer, &view.send).await?;
    let listed = messages::list(&viewer, &state, &view, &query).await?;
    let send = &view.send;
    let cost = cost::part(&viewer, &state, send).await?;
    let page = Page::new(
        words::name(viewer.text, send),
        Menu::Sends,
        html! {
            div.send-page {
                div {
                    (figures::progress(&viewer, &view))
                    (steering(&viewer, send))
                    (again::link(&viewer, &view, around.can_repeat))
                    (schedule::links(&viewer, send))
                    (figures::causes(&viewer, &view))
                }
                div {
                    @if let Some(message) = &around.message {
                        section aria-label=(viewer.text.get("send-message")) { (message) }
                    }
                    (facts::facts(&viewer, send, &around))
                    (cost)
                }
            }
            (listed)
            (figures::technical(&viewer, &view))
        },
    );
    // The stream needs the query, too: it shows the same part of the list, or none of a filtered one.
    let live = match query.encoded() {
        filters if filters.is_empty() => format!("/console/sends/{id}/live"),
        filters => format!("/console/sends/{id}/live?{filters}"),
    };
    Ok(if view.may_change(Timestamp::now()) { page.live(live) } else { page })
}

/// Keeps the figures up to date, and the list of messages unless it is filtered: a filter takes a scan, which each open
/// page would repeat. A filtered list changes with a reload.
pub(crate) async fn live(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let query = query.at(format!("/console/sends/{id}"));
    // Another company's send has no stream.
    let view = figures::view(&state, viewer.company.id, id).await?;
    let channel = state.engine.channel(view.send.channel_id).await?;
    let can_repeat = can_repeat(channel.as_deref());
    let shown = state.clone();
    live::stream(&request, &state, EVERY, async move || {
        let company = viewer.company.id;
        let key = format!("send {company} {id}");
        let view = shown.shared.get(key, EVERY, async || figures::view(&shown, company, id).await).await?;
        let mut parts = vec![
            figures::progress(&viewer, &view),
            steering(&viewer, &view.send),
            again::link(&viewer, &view, can_repeat),
            schedule::links(&viewer, &view.send),
            figures::causes(&viewer, &view),
            figures::technical(&viewer, &view),
            cost::part(&viewer, &shown, &view.send).await?,
        ];
        if selection(&query).is_everything() {
            parts.push(messages::rows(&viewer, &shown, &view, &query).await?);
        }
        Ok(parts)
    })
}

pub(crate) async fn pause(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Answer> {
    state.engine.sends().pause(&viewer.who(), viewer.company.id, id).await?;
    Ok(done(&state, &viewer, id, "send-is-paused"))
}

pub(crate) async fn resume(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Answer> {
    state.engine.sends().resume(&viewer.who(), viewer.company.id, id).await?;
    Ok(done(&state, &viewer, id, "send-is-resumed"))
}

pub(crate) async fn cancel(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Answer> {
    state.engine.sends().cancel(&viewer.who(), viewer.company.id, id).await?;
    Ok(done(&state, &viewer, id, "send-is-canceled"))
}

fn done(state: &State, viewer: &Viewer, id: Uuid, key: &str) -> Answer {
    Answer::done(state, viewer, viewer.text.get(key), format!("/console/sends/{id}"))
}

/// The messages that the query selects.
fn selection(query: &Query) -> Selection {
    Selection {
        states: query.parsed::<StateWord>("state").map(|StateWord(state)| state).into_iter().collect(),
        codes: query.parsed("code").into_iter().collect(),
    }
}

/// A state by its word.
struct StateWord(crate::domain::message::State);

impl std::str::FromStr for StateWord {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        crate::domain::message::State::from_word(word).map(Self).ok_or(())
    }
}

/// What the page shows beside the figures.
struct Around {
    /// The message as a phone shows it.
    message: Option<Markup>,
    channel: Option<String>,
    /// Whether the send can be retried.
    can_repeat: bool,
    /// The send that it repeats.
    origin: Option<Record>,
    /// The send with the message in whose place it is a template.
    in_place_of: Option<Record>,
    repeats: Vec<Record>,
    /// Who paused, resumed, moved and canceled it.
    steps: Vec<SteeringStep>,
}

impl Around {
    async fn read(state: &State, viewer: &Viewer, send: &Record) -> Result<Self> {
        let company = viewer.company.id;
        let channel = state.engine.channel(send.channel_id).await?;
        let filter = Filter { source: Some(Source::Send(send.id)), ..Filter::default() };
        let page = PageRequest { page: 1, limit: REPEATS };
        let records = state.engine.company(company).await?;
        let repeats = if send.retries.is_empty() {
            Vec::new()
        } else {
            records.sends().heads(page, &filter, Timestamp::now()).await?.records
        };
        let origin = send.sources.iter().find_map(|source| match source {
            Source::Send(id) => Some(*id),
            Source::Tag(_) | Source::WithoutTag(_) | Source::Segment(_) | Source::Closed(_) => None,
        });
        let in_place_of = send.sources.iter().find_map(|source| match source {
            Source::Closed(other) => *other,
            Source::Tag(_) | Source::WithoutTag(_) | Source::Segment(_) | Source::Send(_) => None,
        });
        let head = async |id: Option<Uuid>| match id {
            Some(id) => records.sends().head(id, Timestamp::now()).await,
            None => Ok(None),
        };
        let (origin, in_place_of) = (head(origin).await?, head(in_place_of).await?);
        let template = match &send.template {
            Some(template) => records.templates().find(template.id).await?,
            None => None,
        };
        let message = records.sends().sent(send.id).await?.map(|sent| {
            message::shown(viewer.text, &sent.content, template.map(|template| template.components))
        });
        drop(records);
        let steps = state.engine.sends().steering(company, send.id).await?;
        let can_repeat = can_repeat(channel.as_deref());
        let channel = channel.map(|channel| channel.name.clone());
        Ok(Self { message, channel, can_repeat, origin, in_place_of, repeats, steps })
    }
}

/// Whether sends through this channel can be retried from a page.
fn can_repeat(channel: Option<&Channel>) -> bool {
    channel.is_some_and(|channel| channel.kind == Kind::BusinessAccount)
}

/// The buttons for a person with this role, at this moment.
fn steering(viewer: &Viewer, send: &Record) -> Markup {
    let text = viewer.text;
    let action = |what: &str| format!("/console/sends/{}/{what}", send.id);
    let may_steer = viewer.may_work() && !send.stage.is_over();
    html! {
        div.row id="steering" {
            @if may_steer {
                @if send.stage == Stage::Paused {
                    form method="post" action=(action("resume")) { button type="submit" { (text.get("send-resume")) } }
                } @else {
                    form method="post" action=(action("pause")) { button type="submit" { (text.get("send-pause")) } }
                }
                (schedule::edit_button(viewer, send))
                (confirm(text, &action("cancel"), &text.get("send-cancel"), &text.get("send-cancel-question")))
            }
        }
    }
}
