//! The overview of a company: webhooks that were disabled, pace, waiting sends with their reasons, channels, failures.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::cause::cause;
use crate::console::component::chart::Chart;
use crate::console::component::empty::empty;
use crate::console::component::status::status;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::component::waiting::{lasting, waiting};
use crate::console::error::Error;
use crate::console::live;
use crate::console::page::{Menu, Page};
use crate::console::pages::send::words::kind;
use crate::console::pages::webhooks::stopped;
use crate::console::visitor::Viewer;
use crate::domain::channel::Status;
use crate::domain::outlook::Outlook;
use crate::domain::webhook::Endpoint;
use crate::engine::activity::{Lately, SLOT};
use crate::engine::records::sends::{Backlog, Record};

/// The path of its live parts.
const LIVE: &str = "/console/live";
/// How often the live parts are refreshed, and how old their data may be.
const EVERY: Duration = Duration::from_secs(2);
/// The number of sends that are shown with their reasons to wait.
const SENDS: u64 = 10;

/// The data of the page.
struct Overview {
    lately: Lately,
    backlog: Backlog,
    channels: Vec<(Status, u64)>,
    sends: Vec<(Record, Option<Outlook>)>,
    webhooks: Vec<Endpoint>,
}

pub(in crate::console) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page, Error> {
    let overview = read(&state, &viewer).await?;
    let body = html! { @for part in parts(&viewer, &overview) { (part) } };
    Ok(Page::new(viewer.text.get("overview-title"), Menu::Overview, body).live(LIVE))
}

/// Keeps the overview up to date.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let own = state.clone();
    live::stream(&request, &state, EVERY, async move || {
        let overview = read(&own, &viewer).await?;
        Ok(parts(&viewer, &overview))
    })
}

/// Reads the data, once for all readers of the same company.
async fn read(state: &State, viewer: &Viewer) -> Result<Arc<Overview>, Error> {
    let company = viewer.company.id;
    let today = viewer.zone.today(Timestamp::now());
    let key = format!("overview {company} {}", today.millis());
    state.shared.get(key, EVERY, async || read_overview(state, company, today).await).await
}

async fn read_overview(state: &State, company: Uuid, today: Timestamp) -> Result<Overview, Error> {
    let now = Timestamp::now();
    let (backlog, channels, sends) = {
        let records = state.engine.company(company).await?;
        let backlog = records.sends().backlog(now).await?;
        let channels = records.channels().states().await?;
        (backlog, channels, records.sends().under_way(SENDS, now).await?)
    };
    let mut outlooks = state.engine.sends().outlooks(&sends).await?;
    let sends = sends.into_iter().map(|send| {
        let outlook = outlooks.remove(&send.id);
        (send, outlook)
    });
    let sends = sends.collect();
    let webhooks = state.engine.webhook_endpoints().endpoints(company).await?;
    let lately = state.engine.activity().lately(company, today);
    Ok(Overview { lately, backlog, channels, sends, webhooks })
}

fn parts(viewer: &Viewer, overview: &Overview) -> Vec<Markup> {
    vec![
        stopped(viewer.text, &overview.webhooks),
        figures(viewer, overview),
        pace(viewer, &overview.lately),
        sends(viewer, overview),
        failures(viewer, &overview.lately),
    ]
}

fn figures(viewer: &Viewer, Overview { lately, backlog, channels, .. }: &Overview) -> Markup {
    let text = viewer.text;
    html! {
        dl.tiles id="figures" {
            div.tile {
                dt { (text.get("overview-pace")) }
                dd { (text.0.decimal(lately.per_second, 1)) " " small { (text.get("overview-unit")) } }
            }
            div.tile {
                dt { (text.get("overview-queue")) }
                dd { (text.number(backlog.messages)) " " small { (text.with("overview-queue-of", [("sends", backlog.sends.into())])) } }
            }
            div.tile {
                dt { (text.get("overview-oldest")) }
                dd { @match backlog.oldest { Some(oldest) => (moment(viewer, oldest)), None => "—" } }
            }
            div.tile {
                dt { (text.get("overview-channels")) }
                dd {
                    @if channels.is_empty() {
                        "0"
                    } @else {
                        ul.states {
                            @for (state, count) in channels { li { (text.number(*count)) " " (status(text, *state)) } }
                        }
                    }
                }
            }
        }
    }
}

fn pace(viewer: &Viewer, lately: &Lately) -> Markup {
    let text = viewer.text;
    let whole = lately.sent.iter().map(|sent| *sent as f64 / SLOT.as_secs_f64());
    let values: Vec<_> = whole.chain([lately.per_second]).collect();
    let (now, hour) = (Timestamp::now(), Duration::from_secs(3_600));
    let span = (viewer.zone.clock(now.minus(hour)), viewer.zone.clock(now));
    let chart = Chart {
        name: &text.get("overview-hour"),
        unit: &text.get("overview-unit"),
        values: &values,
        limit: None,
        span: (&span.0, &span.1),
        is_over: false,
    };
    html! { div id="pace" { (chart.show(text)) } }
}

fn sends(viewer: &Viewer, Overview { sends, channels, .. }: &Overview) -> Markup {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("overview-send")),
        Column::numbers(text.get("overview-recipients")),
        Column::words(text.get("overview-waits")),
    ];
    let rows = sends.iter().map(|(send, outlook)| {
        let kind = || kind(text, send.kind);
        let what = send.template.as_ref().map_or_else(kind, |template| template.name.clone());
        vec![
            html! {
                a href=(format!("/console/sends/{}", send.id)) { bdi { (what) } }
                " " (moment(viewer, send.created_at))
            },
            html! { (text.number(send.recipients)) },
            waits(viewer, outlook.as_ref()),
        ]
    });
    html! {
        section id="sends" aria-labelledby="sends-heading" {
            h2 id="sends-heading" { (text.get("overview-sends")) }
            @if sends.is_empty() && channels.is_empty() {
                (empty(&text.get("overview-no-channels"), &html! {
                    @if viewer.is_owner() { a.button href="/console/channels/new" { (text.get("overview-add-channel")) } }
                    @else { p.soft { (text.get("channels-ask-owner")) } }
                }))
            } @else if sends.is_empty() {
                (empty(&text.get("overview-no-sends"), &html! {
                    @if viewer.may_work() { a.button href="/console/sends/new" { (text.get("overview-new-send")) } }
                }))
            } @else { (table(&text.get("overview-sends"), &columns, rows)) }
        }
    }
}

fn waits(viewer: &Viewer, outlook: Option<&Outlook>) -> Markup {
    let text = viewer.text;
    match outlook.and_then(lasting) {
        Some(what) => waiting(viewer, what),
        None => html! { (text.get("overview-goes")) },
    }
}

fn failures(viewer: &Viewer, lately: &Lately) -> Markup {
    let text = viewer.text;
    let columns = [Column::words(text.get("overview-cause")), Column::numbers(text.get("overview-messages"))];
    let rows = lately
        .failures
        .iter()
        .take(10)
        .map(|(code, count)| vec![cause(text, *code), html! { (text.number(*count)) }]);
    let began_today = lately.since > viewer.zone.today(Timestamp::now());
    html! {
        section id="failures" aria-labelledby="failures-heading" {
            h2 id="failures-heading" { (text.get("overview-failures")) }
            @if began_today { p.soft { (text.get("overview-since")) " " (moment(viewer, lately.since)) } }
            @if lately.failures.is_empty() {
                p { (text.get("overview-no-failures")) }
            } @else { (table(&text.get("overview-failures"), &columns, rows)) }
        }
    }
}
