//! The overview of a company: what needs attention, the first steps of a new company, what happened today and in the last week,
//! the latest sends, pace, sends that wait with their reasons, and failures.

mod alerts;
mod figures;
mod first;
mod latest;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use self::alerts::Alerts;
use self::latest::Latest;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::icon::Icon;
use crate::console::error::Result;
use crate::console::live;
use crate::console::page::{Menu, Page};
use crate::console::visitor::Viewer;
use crate::domain::channel::Status;
use crate::domain::outlook::Outlook;
use crate::domain::page::PageRequest;
use crate::engine::activity::Lately;
use crate::engine::records::sends::{Backlog, Filter, Record};
use crate::engine::{DayCounts, Days};

/// The path of its live parts.
const LIVE: &str = "/console/live";
/// How often the live parts are refreshed, and how old their data may be.
const EVERY: Duration = Duration::from_secs(2);
/// How old the alerts may be: they change seldom, and take more queries than the rest.
const ALERTS_EVERY: Duration = Duration::from_secs(10);
/// The number of sends that are shown with their reasons to wait.
const ACTIVE: u64 = 10;
/// The number of sends that are shown with their outcome.
const LATEST: u64 = 5;
/// How long the page waits for figures that are counted. It shows them as soon as they are there.
const PATIENCE: Duration = Duration::from_millis(20);
/// From the noon of the first of seven days to the beginning of the last one.
const SIX_DAYS_AND_A_HALF: Duration = Duration::from_secs(6 * 24 * 3_600 - 12 * 3_600);

/// The data of the page.
struct Overview {
    alerts: Arc<Alerts>,
    has_contacts: bool,
    channels: Vec<(Status, u64)>,
    days: Option<Arc<DayCounts>>,
    lately: Lately,
    backlog: Backlog,
    latest: Vec<Latest>,
    active: Vec<(Record, Option<Outlook>)>,
}

impl Overview {
    /// Whether the company ever sent anything.
    const fn has_sent(&self) -> bool {
        !self.latest.is_empty()
    }

    /// Whether a number can send.
    fn is_connected(&self) -> bool {
        self.channels.iter().any(|(status, count)| *status == Status::Connected && *count > 0)
    }
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>) -> Result<Page> {
    let overview = read(&state, &viewer).await?;
    let text = viewer.text;
    let body = html! { @for part in parts(&viewer, &overview) { (part) } };
    let page = Page::new(text.get("overview-title"), Menu::Overview, body).live(LIVE);
    // Before that, the next of the first steps is the button to press.
    let may_send = viewer.may_work() && first::is_over(&overview);
    Ok(match may_send {
        true => page.action(html! {
            a.button href="/console/sends/new" { (Icon::Add) (text.get("overview-new-send")) }
        }),
        false => page,
    })
}

/// Keeps the overview up to date.
pub(crate) async fn follow(viewer: Viewer, state: Data<State>, request: HttpRequest) -> Result<HttpResponse> {
    let own = state.clone();
    live::stream(&request, &state, EVERY, async move || {
        let overview = read(&own, &viewer).await?;
        Ok(parts(&viewer, &overview))
    })
}

/// Reads the data, once for all readers of the same company.
async fn read(state: &Data<State>, viewer: &Viewer) -> Result<Arc<Overview>> {
    let company_id = viewer.company.id;
    let today = viewer.zone.today(Timestamp::now());
    // A day may have an hour more or less than others.
    let from = viewer.zone.today(today.minus(SIX_DAYS_AND_A_HALF));
    let days = Days { company_id, from, today };
    let key = format!("overview {company_id} {} {}", from.millis(), today.millis());
    state.shared.get(key, EVERY, async || read_overview(state, company_id, days).await).await
}

async fn read_overview(state: &Data<State>, company: Uuid, days: Days) -> Result<Overview> {
    let now = Timestamp::now();
    let newest = PageRequest { page: 1, limit: LATEST };
    let (backlog, channels, active, heads, has_contacts) = {
        let records = state.engine.company(company).await?;
        let backlog = records.sends().backlog(now).await?;
        let channels = records.channels().states().await?;
        let active = records.sends().under_way(ACTIVE, now).await?;
        let heads = records.sends().heads(newest, &Filter::default(), now).await?.records;
        (backlog, channels, active, heads, records.contacts().exist().await?)
    };
    let mut outlooks = state.engine.sends().outlooks(&active).await?;
    let active = active.into_iter().map(|send| {
        let outlook = outlooks.remove(&send.id);
        (send, outlook)
    });
    let active = active.collect();
    let key = format!("alerts {company}");
    let alerts =
        state.shared.get(key, ALERTS_EVERY, async || alerts::read(state, company, now).await).await?;
    let latest = latest::read(state, company, heads).await?;
    let lately = state.engine.activity().lately(company);
    let days = state.engine.sends().of_days(days, PATIENCE).await;
    Ok(Overview { alerts, has_contacts, channels, days, lately, backlog, latest, active })
}

fn parts(viewer: &Viewer, overview: &Overview) -> Vec<Markup> {
    vec![
        alerts::show(viewer, &overview.alerts),
        first::show(viewer, overview),
        figures::days(viewer, overview),
        figures::present(viewer, overview),
        latest::waiting_sends(viewer, &overview.active),
        latest::show(viewer, &overview.latest),
        figures::pace(viewer, overview),
        figures::failures(viewer, overview),
    ]
}
