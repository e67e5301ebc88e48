//! The company's channels: the state of each with its reason, and its pace against its limits, live.

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
use crate::console::component::notice::done;
use crate::console::component::pager::pager;
use crate::console::error::Error;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::console::{State, live};
use crate::domain::channel::{Channel, Kind};
use crate::domain::limit::Limits;
use crate::domain::page::PageRequest;

/// Channels on a page: each has a chart.
const PER_PAGE: u64 = 20;
/// How often the channels are refreshed, and how old the shown data may be.
const EVERY: Duration = Duration::from_secs(2);
/// The most characters of a search.
const SEARCH: usize = 100;

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let (text, company) = (viewer.text, viewer.company.id);
    let (page, search) = (query.page(PER_PAGE), query.text("search", SEARCH));
    let Shown { channels, total } = &read_channels(&state, company, page, search).await?;
    let said = state.flashes.take(viewer.session, "done");
    let add = html! { a.button href="/console/channels/new" { (Icon::Add) (text.get("channels-add")) } };
    let is_empty = *total == 0 && search.is_none();
    let body = html! {
        @if let Some(said) = said { (done(&said)) }
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
            @for (channel, limits) in channels { (one(&viewer, channel, limits)) }
            (pager(text, &query, page, *total))
        }
    };
    let live = format!("/console/channels/live?{}", query.encoded());
    let shown = Page::new(text.get("channels-title"), Menu::Channels, body).live(live);
    // An empty list has the button in its middle.
    Ok(if viewer.is_owner() && !is_empty { shown.action(add) } else { shown })
}

/// Keeps the channels of one page up to date.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
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
) -> Result<Shown, Error> {
    let found = state.engine.company(company).await?.channels().page(page, search).await?;
    let asked = found.records.into_iter().map(async |channel| {
        let channel = Arc::new(channel);
        let limits = state.engine.channels().limits(&channel).await?;
        Ok::<_, Error>((channel, limits))
    });
    Ok(Shown { channels: try_join_all(asked).await?, total: found.total })
}

fn one(viewer: &Viewer, channel: &Channel, limits: &Limits) -> Markup {
    let text = viewer.text;
    let [head, pace, allowed] = parts(viewer, channel, limits);
    html! {
        section.panel.channel aria-label=(channel.name) {
            (head)
            dl.facts {
                dt { (text.get("channels-kind")) } dd { (words::kind(text, channel.kind)) }
                dt { (text.get("channels-number")) }
                dd { @match &channel.phone_number { Some(number) => bdi { (number) }, None => span.soft { "—" } } }
                dt { (text.get("channels-tier")) } dd { bdi { (channel.tier) } }
                @if channel.kind == Kind::BusinessAccount {
                    dt { (text.get("channels-quality")) }
                    dd { (words::quality(text, channel.quality_rating.as_deref())) }
                }
            }
            (pace)
            details.more {
                summary { (text.get("channels-limits")) }
                (allowed)
            }
        }
    }
}

/// The live parts of a channel: its state, its pace, and its limits.
fn parts(viewer: &Viewer, channel: &Channel, limits: &Limits) -> [Markup; 3] {
    let (text, id) = (viewer.text, channel.id);
    let head = html! {
        div id=(format!("state-{id}")) {
            h2 {
                a href=(format!("/console/channels/{id}")) { bdi { (channel.name) } } " "
                (words::state(text, &channel.connection))
            }
            (words::explanation(text, &channel.connection))
        }
    };
    let pace = html! { div id=(format!("pace-{id}")) { (limits::pace(viewer, limits)) } };
    let allowed = html! { div id=(format!("limits-{id}")) { (limits::table_of(viewer, limits)) } };
    [head, pace, allowed]
}
