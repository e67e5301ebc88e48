//! What the company's messages of a month cost by published prices: in all, by channel, category and country, and as a file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::empty::empty;
use crate::console::component::table::{Column, table};
use crate::console::component::{cost, number};
use crate::console::error::Result;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::price::{Micros, Month};
use crate::engine::costs::{MonthCost, MonthCosts};

/// The channels whose names are looked up; a company has few.
const MOST_NAMES: usize = 1_000;

/// Channels by their ids; `None` for one that was removed.
type Channels = BTreeMap<Uuid, Option<Arc<Channel>>>;
/// What channels are called, by their ids.
type Names = BTreeMap<Uuid, String>;

/// Messages that are added up.
#[derive(Debug, Clone, Copy, Default)]
struct Added {
    messages: u64,
    charged: u64,
    unpriced: u64,
    amount: Micros,
}

impl Added {
    fn of<'a>(rows: impl IntoIterator<Item = &'a MonthCost>) -> Self {
        rows.into_iter().fold(Self::default(), |sum, row| Self {
            messages: sum.messages + row.messages,
            charged: sum.charged + if row.billing.is_charged { row.messages } else { 0 },
            unpriced: sum.unpriced + if row.price.is_none() { row.messages } else { 0 },
            amount: [sum.amount, row.amount().unwrap_or_default()].into_iter().sum(),
        })
    }
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let text = viewer.text;
    let now = Month::of(Timestamp::now());
    let month = asked(&query);
    let costs = state.engine.costs().month(viewer.company.id, month).await?;
    let labels = labels(text, &channels(&state, &costs).await?);
    let all = Added::of(&costs.rows);
    let currency = costs.card.as_ref().map_or("", |card| card.currency.as_str());
    let body = html! {
        p { (text.get("costs-hint")) }
        nav.row aria-label=(text.get("costs-months")) {
            a href=(format!("/console/costs?month={}", month.previous())) { (month.previous()) }
            strong { (month) }
            @if month < now { a href=(format!("/console/costs?month={}", month.next())) { (month.next()) } }
        }
        @if costs.rows.is_empty() {
            (empty(&text.get("costs-none"), &html! { p.soft { (text.get("costs-none-hint")) } }))
        } @else {
            dl.tiles {
                div.tile { dt { (text.get("costs-amount")) } dd { (sum(&viewer, currency, &all)) } }
                div.tile { dt { (text.get("costs-messages")) } dd { (text.number(all.messages)) } }
                div.tile { dt { (text.get("costs-charged")) } dd { (text.number(all.charged)) } }
            }
            @if all.unpriced > 0 { p { (text.with("costs-unpriced", [("count", all.unpriced.into())])) } }
            @match &costs.card {
                Some(card) => p.soft { (text.with("costs-prices-of", [("day", card.date.to_string().into())])) },
                None => p.soft { (text.get("costs-no-card")) },
            }
            (grouped(&viewer, currency, &costs, "costs-by-channel", |row| channel(text, &labels, row.channel_id)))
            (grouped(&viewer, currency, &costs, "costs-by-category", |row| cost::category(text, row.billing.category)))
            (grouped(&viewer, currency, &costs, "costs-by-country", |row| cost::country(text, row.country)))
            p { a href=(format!("/console/costs/file?month={month}")) download { (text.get("costs-file")) } }
        }
    };
    Ok(Page::new(text.get("costs-title"), Menu::Costs, body))
}

/// Downloads the month as CSV.
pub(crate) async fn file(viewer: Viewer, state: Data<State>, query: Query) -> Result<HttpResponse> {
    let costs = state.engine.costs().month(viewer.company.id, asked(&query)).await?;
    // The file has the ids beside the names.
    let channels = channels(&state, &costs).await?.into_iter();
    let names: Names = channels.filter_map(|(id, channel)| Some((id, channel?.name.clone()))).collect();
    let csv = costs.to_csv(&names)?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/csv; charset=utf-8; header=present"))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"costs-{}.csv\"", costs.month)))
        .body(csv))
}

/// The month of the query, or this one.
fn asked(query: &Query) -> Month {
    query.parsed("month").unwrap_or_else(|| Month::of(Timestamp::now()))
}

/// The month's channels.
async fn channels(state: &State, costs: &MonthCosts) -> Result<Channels> {
    let ids: BTreeSet<Uuid> = costs.rows.iter().filter_map(|row| row.channel_id).collect();
    let mut channels = Channels::new();
    for id in ids.into_iter().take(MOST_NAMES) {
        channels.insert(id, state.engine.channel(id).await?);
    }
    Ok(channels)
}

/// A label of its own for each channel: its name, with its number where another one has that name, and with its id where
/// another one has both.
fn labels(text: Text, channels: &Channels) -> Names {
    let found = |id: &Uuid| channels.get(id).and_then(Option::as_deref);
    let named = |id: &Uuid| {
        found(id).map_or_else(|| text.get("costs-removed-channel"), |channel| channel.name.clone())
    };
    let numbered = |id: &Uuid| match found(id).and_then(|channel| channel.phone_number.as_deref()) {
        Some(typed) => format!("{} ({})", named(id), number::written(typed)),
        None => named(id),
    };
    let mut labels: Names = channels.keys().map(|id| (*id, named(id))).collect();
    tell_apart(&mut labels, numbered);
    tell_apart(&mut labels, |id| format!("{} ({id})", named(id)));
    labels
}

/// Gives channels that share their label another one.
fn tell_apart(labels: &mut Names, other: impl Fn(&Uuid) -> String) {
    let mut shared = BTreeMap::<String, u64>::new();
    for label in labels.values() {
        *shared.entry(label.clone()).or_default() += 1;
    }
    for (id, label) in labels {
        if shared.get(label.as_str()).is_some_and(|channels| *channels > 1) {
            *label = other(id);
        }
    }
}

fn channel(text: Text, labels: &Names, id: Option<Uuid>) -> String {
    match id {
        Some(id) => labels.get(&id).cloned().unwrap_or_else(|| id.to_string()),
        None => text.get("costs-all-channels"),
    }
}

/// The messages that have the same name, those that cost most first.
fn grouped(
    viewer: &Viewer,
    currency: &str,
    costs: &MonthCosts,
    title: &str,
    name: impl Fn(&MonthCost) -> String,
) -> Markup {
    let text = viewer.text;
    let mut groups: BTreeMap<String, Vec<&MonthCost>> = BTreeMap::new();
    for row in &costs.rows {
        groups.entry(name(row)).or_default().push(row);
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(name, rows)| (name, Added::of(rows))).collect();
    groups.sort_by_key(|(_, added)| std::cmp::Reverse((added.amount, added.messages)));
    let columns = [
        Column::words(text.get("costs-what")),
        Column::numbers(text.get("costs-messages")),
        Column::numbers(text.get("costs-charged")),
        Column::numbers(text.get("costs-amount")),
    ];
    let rows = groups.iter().map(|(name, added)| {
        vec![
            html! { bdi { (name) } },
            html! { (text.number(added.messages)) },
            html! { (text.number(added.charged)) },
            html! { (sum(viewer, currency, added)) },
        ]
    });
    let title = text.get(title);
    html! { section { h2 { (title) } (table(&title, &columns, rows)) } }
}

/// The amount of messages; that it is not known if no charged one among them has a price.
fn sum(viewer: &Viewer, currency: &str, added: &Added) -> String {
    match added.charged > 0 && added.unpriced >= added.charged {
        true => viewer.text.get("costs-no-price"),
        false => cost::amount(viewer.text, currency, added.amount),
    }
}
