//! The company's webhook endpoints: the addresses at which Pombo tells programs what happens, and the state of each, live.

pub(in crate::console) mod actions;
mod deliveries;
mod faults;
mod fields;
pub(in crate::console) mod new;
pub(in crate::console) mod one;
pub(in crate::console) mod replay;
mod words;

use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

pub(super) use self::faults::words as fault_words;
use self::words::{Doing, gets};
use crate::clock::Timestamp;
use crate::console::component::empty::empty;
use crate::console::component::icon::Icon;
use crate::console::component::notice::{alarm, done};
use crate::console::component::table::{Column, table};
use crate::console::error::Error;
use crate::console::page::{Menu, Page};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::{State, live};
use crate::domain::webhook::{self, Cause, Endpoint};
use crate::engine::ShownEndpoint;

/// The path of these pages.
const PLACE: &str = "/console/webhooks";
/// The name under which a new secret is kept until it is shown, behind the id of its endpoint.
const SECRET: &str = "webhook secret";
/// The name under which a receiver's answer is kept until it is shown, behind the id of its endpoint.
const ANSWER: &str = "webhook answer";
/// How often the live parts are refreshed, and how old their data may be.
const EVERY: Duration = Duration::from_secs(2);

pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page, Error> {
    let text = viewer.text;
    let all = read_all(&state, viewer.company.id).await?;
    let body = html! {
        @if let Some(said) = state.flashes.take(viewer.session, "done") { (done(&said)) }
        p { (text.get("webhooks-lead")) }
        (listed(&viewer, &all))
    };
    let shown = Page::new(text.get("webhooks-title"), Menu::Webhooks, body).live(format!("{PLACE}/live"));
    // An empty list has the button in its middle.
    Ok(if viewer.is_owner() && !all.is_empty() { shown.action(add(text)) } else { shown })
}

/// Keeps the list up to date.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let company = viewer.company.id;
    let kept = (format!("webhooks {company}"), EVERY);
    let read = async move |state: &State| read_all(state, company).await;
    live::stream_shared(&request, &state, kept, read, move |all: &Vec<ShownEndpoint>| {
        vec![listed(&viewer, all)]
    })
}

async fn read_all(state: &State, company: Uuid) -> Result<Vec<ShownEndpoint>, Error> {
    Ok(state.engine.webhook_endpoints().list(company).await?)
}

/// The address of the page of an endpoint.
fn place(id: Uuid) -> String {
    format!("{PLACE}/{id}")
}

/// The value that was kept for the page of this endpoint. One for the page of another endpoint stays.
pub(super) fn kept_for(viewer: &Viewer, state: &State, name: &'static str, id: Uuid) -> Option<String> {
    let kept = state.flashes.take(viewer.session, name)?;
    if let Some((of, value)) = kept.split_once(' ')
        && of == id.to_string()
    {
        return Some(value.to_owned());
    }
    state.flashes.put_behind(viewer.session, name, kept);
    None
}

fn add(text: Text) -> Markup {
    html! { a.button href=(format!("{PLACE}/new")) { (Icon::Add) (text.get("webhooks-add")) } }
}

/// The endpoints that get nothing any more although no person disabled them; a live part.
pub(super) fn stopped<'a>(text: Text, endpoints: impl IntoIterator<Item = &'a Endpoint>) -> Markup {
    let stopped = endpoints.into_iter().filter_map(|endpoint| match endpoint.health.state {
        webhook::State::Disabled { cause: Cause::Gone, .. } => Some((endpoint, "webhooks-alarm-gone")),
        webhook::State::Disabled { cause: Cause::Failures, .. } => {
            Some((endpoint, "webhooks-alarm-failures"))
        }
        webhook::State::Disabled { cause: Cause::Person, .. } | webhook::State::Enabled => None,
    });
    html! {
        div #stopped-webhooks {
            @for (endpoint, key) in stopped {
                (alarm(&html! {
                    p {
                        (text.with(key, [("address", endpoint.settings.public_url().into())])) " "
                        a href=(place(endpoint.id)) { (text.get("webhooks-alarm-see")) }
                    }
                }))
            }
        }
    }
}

/// All endpoints; a live part.
fn listed(viewer: &Viewer, all: &[ShownEndpoint]) -> Markup {
    let (text, now) = (viewer.text, Timestamp::now());
    let columns = [
        Column::words(text.get("webhooks-address")),
        Column::words(text.get("webhooks-state")),
        Column::words(text.get("webhooks-gets")),
        Column::numbers(text.get("webhooks-retries")),
    ];
    let rows = all.iter().map(|shown| {
        let settings = &shown.endpoint.settings;
        vec![
            html! { a href=(place(shown.endpoint.id)) { bdi { (settings.public_url()) } } },
            html! {
                (words::state(viewer, Doing::of(shown, now)))
                @if !shown.unsealable.is_empty() { p.soft { (text.get("webhooks-sealed-do")) } }
            },
            html! {
                (gets(text, settings))
                @if !settings.channels.is_empty() {
                    p.soft { (text.with("webhooks-of-channels", [("count", settings.channels.len().into())])) }
                }
            },
            html! { (text.number(shown.retries)) },
        ]
    });
    html! {
        div #webhook-list {
            (stopped(text, all.iter().map(|shown| &shown.endpoint)))
            @if all.is_empty() {
                (empty(&text.get("webhooks-none"), &html! {
                    @if viewer.is_owner() { (add(text)) } @else { p.soft { (text.get("webhooks-ask-owner")) } }
                }))
            } @else { (table(&text.get("webhooks-title"), &columns, rows)) }
        }
    }
}
