//! The company's channels as a table: those that need attention first, each with its state, the reason, and its pace, live.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::try_join_all;
use maud::{Markup, html};
use uuid::Uuid;

use super::channel::{limits, words};
use crate::console::component::empty::empty;
use crate::console::component::icon::Icon;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::error::{Error, Result};
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::console::{State, live};
use crate::domain::channel::{Channel, Kind};
use crate::domain::limit::Limits;
use crate::domain::page::PageRequest;

/// Channels on a page: the limits of each are asked for.
const PER_PAGE: u64 = 20;
/// How often the channels are refreshed, and how old the shown data may be.
const EVERY: Duration = Duration::from_secs(2);
/// The most characters of a search.
const SEARCH: usize = 100;

pub(crate) async fn show(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let (text, company) = (viewer.text, viewer.company.id);
    let (page, search) = (query.page(PER_PAGE), query.text("search", SEARCH));
    let Shown { channels, total } = &read_channels(&state, company, page, search).await?;
    let add = html! { a.button href="/console/channels/new" { (Icon::Add) (text.get("channels-add")) } };
    let is_empty = *total == 0 && search.is_none();
    let body = html! {
        @if is_empty {
            (empty(&text.get("channels-none"), &html! {
                @if viewer.is_owner() { (add) } @else { p.soft { (text.get("channels-ask-owner")) } }
            }))
        } @else {
            form.row method="get" role="search" {
                input type="search" name="search" value=(search.unwrap_or_default()) maxlength=(SEARCH)
                    aria-label=(text.get("channels-search")) placeholder=(text.get("channels-search"));
                button.plain type="submit" { (text.get("channels-find")) }
            }
            @if channels.is_empty() { p { (text.get("channels-nothing-found")) } }
            @if !channels.is_empty() { (list(&viewer, channels)) }
            (pager(text, &query, page, *total))
        }
    };
    let live = format!("/console/channels/live?{}", query.encoded());
    let shown = Page::new(text.get("channels-title"), Menu::Channels, body).live(live);
    // An empty list has the button in its middle.
    Ok(if viewer.is_owner() && !is_empty { shown.action(add) } else { shown })
}

/// Keeps the channels of one page up to date.
pub(crate) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let (company, page) = (viewer.company.id, query.page(PER_PAGE));
    let search = query.text("search", SEARCH).map(str::to_owned);
    let kept = (format!("channels {company} {} {}", page.page, search.as_deref().unwrap_or_default()), EVERY);
    let read = async move |state: &State| read_channels(state, company, page, search.as_deref()).await;
    live::stream_shared(&request, &state, kept, read, move |shown: &Shown| {
        shown.channels.iter().flat_map(|(channel, limits)| parts(&viewer, channel, limits)).collect()
    })
}

/// The channels of a page with their limits, and the number of all channels.
struct Shown {
    channels: Vec<(Arc<Channel>, Limits)>,
    total: u64,
}

async fn read_channels(
    state: &State,
    company: Uuid,
    page: PageRequest,
    search: Option<&str>,
) -> Result<Shown> {
    let found = state.engine.company(company).await?.channels().page_by_need(page, search).await?;
    let asked = found.records.into_iter().map(async |channel| {
        let channel = Arc::new(channel);
        let limits = state.engine.channels().limits(&channel).await?;
        Ok::<_, Error>((channel, limits))
    });
    Ok(Shown { channels: try_join_all(asked).await?, total: found.total })
}

fn list(viewer: &Viewer, channels: &[(Arc<Channel>, Limits)]) -> Markup {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("channels-name")),
        Column::words(text.get("channels-state")),
        Column::brief(text.get("channels-number")),
        Column::brief(text.get("channels-pace-now")),
        Column::words(text.get("channels-tier")),
        Column::words(text.get("channels-quality")),
    ];
    let rows = channels.iter().map(|(channel, limits)| {
        let [state, pace] = parts(viewer, channel, limits);
        vec![
            html! {
                a href=(format!("/console/channels/{}", channel.id)) { bdi { (channel.name) } }
                div.soft { (words::kind(text, channel.kind)) }
            },
            state,
            words::number(channel),
            pace,
            html! { bdi { (channel.tier) } },
            match channel.kind {
                Kind::BusinessAccount => words::quality(text, channel.quality_rating.as_deref()),
                Kind::WebSession => html! { span.soft { "—" } },
            },
        ]
    });
    table(&text.get("channels-title"), &columns, rows)
}

/// The live parts of a channel: its state and its pace.
fn parts(viewer: &Viewer, channel: &Channel, limits: &Limits) -> [Markup; 2] {
    let (text, id) = (viewer.text, channel.id);
    let state = html! {
        div id=(format!("state-{id}")) {
            (words::state(text, &channel.connection))
            (words::explanation(text, &channel.connection))
        }
    };
    let pace = html! { div id=(format!("pace-{id}")) { (limits::small_pace(viewer, limits)) } };
    [state, pace]
}
