//! The company's channels: the state of each with its reason, and its pace against its limits.

use std::sync::Arc;

use actix_web::web::Data;
use futures_util::future::try_join_all;
use maud::{Markup, html};

use super::channel::{limits, words};
use crate::console::State;
use crate::console::component::empty::empty;
use crate::console::component::notice::done;
use crate::console::component::pager::pager;
use crate::console::error::Error;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::limit::Limits;

/// Channels on a page: each has a chart.
const PER_PAGE: u64 = 20;
/// The most characters of a search.
const SEARCH: usize = 100;

/// Shows them.
pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let (text, company) = (viewer.text, viewer.company.id);
    let (page, search) = (query.page(PER_PAGE), query.text("search", SEARCH));
    let found = state.engine.records_of(company).await?.channels_of_company(company, page, search).await?;
    let asked = found.records.into_iter().map(async |channel| {
        let channel = Arc::new(channel);
        let limits = state.engine.limits(&channel).await?;
        Ok::<_, Error>((channel, limits))
    });
    let channels = try_join_all(asked).await?;
    let said = state.flashes.take(viewer.session, "done");
    let add = html! { a.button href="/console/channels/new" { (text.get("channels-add")) } };
    let body = html! {
        @if let Some(said) = said { (done(&said)) }
        @if found.total == 0 && search.is_none() {
            (empty(&text.get("channels-none"), &html! {
                @if viewer.is_owner() { (add) } @else { p.soft { (text.get("channels-ask-owner")) } }
            }))
        } @else {
            form.row method="get" role="search" {
                input type="search" name="search" value=(search.unwrap_or_default()) maxlength=(SEARCH)
                    aria-label=(text.get("channels-search")) placeholder=(text.get("channels-search"));
                button.plain type="submit" { (text.get("channels-find")) }
                @if viewer.is_owner() { (add) }
            }
            @if channels.is_empty() { p { (text.get("channels-nothing-found")) } }
            @for (channel, limits) in &channels { (one(&viewer, channel, limits)) }
            (pager(text, &query, page, found.total))
        }
    };
    Ok(Page::new(text.get("channels-title"), Menu::Channels, body))
}

fn one(viewer: &Viewer, channel: &Channel, limits: &Limits) -> Markup {
    let text = viewer.text;
    html! {
        section.panel aria-label=(channel.name) {
            h2 {
                a href=(format!("/console/channels/{}", channel.id)) { bdi { (channel.name) } } " "
                (words::state(text, &channel.connection))
            }
            (words::explanation(text, &channel.connection))
            dl.facts {
                dt { (text.get("channels-kind")) } dd { (words::kind(text, channel.kind)) }
                dt { (text.get("channels-number")) }
                dd { @match &channel.phone_number { Some(number) => bdi { (number) }, None => span.soft { "—" } } }
                dt { (text.get("channels-tier")) } dd { bdi { (channel.tier) } }
                dt { (text.get("channels-quality")) }
                dd { (words::quality(text, channel.quality_rating.as_deref())) }
            }
            (limits::pace(viewer, limits))
            details.more {
                summary { (text.get("channels-limits")) }
                (limits::table_of(viewer, limits))
            }
        }
    }
}
