//! The page for operators: health, slow channels, companies, and the channels of all companies.

pub(crate) mod company;
pub(crate) mod users;

use std::time::{Duration, Instant};

use actix_web::web::Data;
use maud::{Markup, html};

use crate::accounts::Membership;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::chart::Chart;
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::pager;
use crate::console::component::status::status;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment, second};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::tiers::options::said_own;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::domain::channel::Status;
use crate::domain::page;
use crate::engine;
use crate::engine::records::channels::{ChannelBacklog, Owned};

/// The path of this page.
const PLACE: &str = "/console/operator";
/// The tier that most companies begin with.
const USUAL_TIER: &str = "standard";
/// The longest search.
const SEARCH: usize = 200;
/// The number of slow channels that are shown, and how old their data may be.
const SLOW: u32 = 10;
const FRESH: Duration = Duration::from_secs(5);

/// The data that is read once for all operators.
struct OperatorHealth {
    /// How long the database took to answer.
    database: Duration,
    states: Vec<(Status, u64)>,
    slow: Vec<ChannelBacklog>,
}

pub(crate) async fn show(person: Person, state: Data<State>, query: Query) -> Result<Page> {
    let form = Form::filled(person.text, [("tier", USUAL_TIER.to_owned())]);
    page(&person, &state, &query, &form).await
}

pub(crate) async fn add_company(
    person: Person,
    state: Data<State>,
    query: Query,
    mut form: Form,
) -> Result<Answer> {
    let (name, tier) = (form.required("name", 200), form.required("tier", 40));
    if name.chars().any(char::is_control) {
        form.fault("name", person.text.get("fault-field-choice"));
    }
    let is_known = state.engine.operator().await?.tiers().find(&tier).await?.is_some();
    if !tier.is_empty() && !is_known {
        form.fault("tier", person.text.get("fault-field-choice"));
    }
    if !form.has_faults() {
        let added = state
            .once
            .attempt(&person, &form, async || {
                let added = state.engine.operator().await?.add_company(&person.who(), &name, &tier).await;
                match added {
                    Ok(company) => {
                        let name = company.name.as_str().into();
                        let done = person.text.with("operator-company-added", [("name", name)]);
                        Ok(Ok(Answer::done(&state, &person, done, company::place(company.id))))
                    }
                    Err(engine::Error::Refused(_)) => Ok(Err(person.text.get("operator-name-taken"))),
                    Err(error) => Err(error.into()),
                }
            })
            .await?;
        match added {
            Ok(answer) => return Ok(answer),
            Err(sentence) => form.fault("name", sentence),
        }
    }
    Ok(page(&person, &state, &query, &form).await?.unprocessable().into())
}

async fn page(person: &Person, state: &State, query: &Query, form: &Form) -> Result<Page> {
    let text = person.text;
    let health = state.shared.get("health".to_owned(), FRESH, async || read(state).await).await?;
    let search = query.text("search", SEARCH);
    let (of_companies, of_channels) = (query.page_of("companies", 20), query.page_of("channels", 20));
    let companies = state.accounts.companies_of(&person.signed_in.user, of_companies, search).await?;
    let records = state.engine.operator().await?;
    let channels = records.channels().page(of_channels, search).await?;
    let tiers = records.tiers().all().await?;
    drop(records);
    let searched = Form::filled(text, [("search", search.unwrap_or_default().to_owned())]);
    let body = html! {
        (figures(state, text, &health))
        (pace(person, state))
        (slow(person, &health.slow))
        form.row.bottom method="get" role="search" data-search="found" {
            (Field::new(&searched, "search", &text.get("operator-search")).most(SEARCH).input("search"))
            button.plain type="submit" { (text.get("companies-find")) }
        }
        div id="found" {
            (company_list(text, query, of_companies, &companies))
            (channel_list(person, query, of_channels, &channels))
        }
        section.panel aria-labelledby="add" {
            h2 id="add" { (text.get("operator-add")) }
            form method="post" action=(PLACE) {
                (faults(form)) (once(form))
                (Field::new(form, "name", &text.get("company-name")).required().most(200).text())
                (Field::new(form, "tier", &text.get("company-tier")).select(tiers.iter().map(|tier| (&tier.name, &tier.name))))
                button type="submit" { (text.get("operator-add")) }
            }
        }
    };
    Ok(Page::new(text.get("operator-title"), Menu::Operator, body))
}

async fn read(state: &State) -> Result<OperatorHealth> {
    let records = state.engine.operator().await?;
    let asked = Instant::now();
    records.ping().await?;
    let database = asked.elapsed();
    let states = records.channels().states(None).await?;
    Ok(OperatorHealth {
        database,
        states,
        slow: records.channels().longest_backlogs(Timestamp::now(), SLOW).await?,
    })
}

fn figures(state: &State, text: Text, health: &OperatorHealth) -> Markup {
    let obstacles = state.engine.ready().obstacles;
    html! {
        section aria-labelledby="health" {
            h2 id="health" { (text.get("operator-health")) }
            dl.tiles {
                div.tile {
                    dt { (text.get("operator-node")) }
                    dd {
                        @if obstacles.is_empty() { (badge(Tone::Good, &text.get("operator-ready"))) }
                        @else { (badge(Tone::Bad, &text.get("operator-not-ready"))) }
                        " " small { "Pombo " (env!("CARGO_PKG_VERSION")) }
                    }
                    @for obstacle in &obstacles { dd { small lang="en" { (obstacle) } } }
                }
                div.tile {
                    dt { (text.get("operator-database")) }
                    dd { (text.0.decimal(health.database.as_secs_f64() * 1_000.0, 1)) " " small { "ms" } }
                }
                div.tile {
                    dt { (text.get("operator-provider")) }
                    dd {
                        ul.states {
                            @for (state, count) in &health.states { li { (text.number(*count)) " " (status(text, *state)) } }
                        }
                        @if health.states.is_empty() { "—" }
                    }
                }
                div.tile {
                    dt { (text.get("operator-streams")) }
                    dd { (text.number(state.open_streams() as u64)) }
                }
            }
        }
    }
}

fn pace(person: &Person, state: &State) -> Markup {
    let text = person.text;
    let values = state.engine.activity().pace_of_all();
    let now = Timestamp::now();
    let span = (person.zone.clock(now.minus(Duration::from_secs(3_600))), person.zone.clock(now));
    let chart = Chart {
        name: &text.get("overview-hour"),
        unit: &text.get("overview-unit"),
        values: &values,
        limit: None,
        span: (&span.0, &span.1),
        is_over: false,
    };
    chart.show(text)
}

fn slow(person: &Person, slow: &[ChannelBacklog]) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("operator-channel")),
        Column::words(text.get("companies-name")),
        Column::numbers(text.get("overview-queue")),
        Column::words(text.get("overview-oldest")),
    ];
    let rows = slow.iter().map(|slow| {
        vec![
            html! { bdi { (slow.channel) } " " (copy::id(text, slow.channel_id)) },
            html! { bdi { (slow.company) } },
            html! { (text.number(slow.backlog.messages)) },
            maybe(person, slow.backlog.oldest),
        ]
    });
    html! {
        section aria-labelledby="slow" {
            h2 id="slow" { (text.get("operator-slow")) }
            @if slow.is_empty() { p { (text.get("operator-none-slow")) } }
            @else { (table(&text.get("operator-slow"), &columns, rows)) }
        }
    }
}

fn company_list(
    text: Text,
    query: &Query,
    page: page::PageRequest,
    found: &page::Page<Membership>,
) -> Markup {
    let columns = Column::all(text, ["companies-name", "shell-id", ""]);
    let rows = found.records.iter().map(|company| {
        let name = company.company_name.as_str();
        let label = text.with("companies-choose-this", [("name", name.into())]);
        vec![
            html! {
                a href=(company::place(company.company_id)) { bdi { (name) } }
                @if company.is_disabled { " " (badge(Tone::Bad, &text.get("companies-disabled"))) }
            },
            copy::id(text, company.company_id),
            html! {
                @if !company.is_disabled {
                    form method="post" action="/console/companies" {
                        input type="hidden" name="company" value=(company.company_id);
                        button.plain type="submit" aria-label=(label) { (text.get("companies-choose")) }
                    }
                }
            },
        ]
    });
    html! {
        h2 { (text.get("companies-title")) }
        @if found.records.is_empty() { (empty(&text.get("companies-none-found"), &html! {})) }
        @else {
            (table(&text.get("companies-title"), &columns, rows))
            (pager::named(text, query, "companies", page, found.total))
        }
    }
}

/// The channels that were found, each with its company.
pub(super) fn channel_list(
    person: &Person,
    query: &Query,
    page: page::PageRequest,
    found: &page::Page<Owned>,
) -> Markup {
    let text = person.text;
    let columns = Column::all(text, ["operator-channel", "companies-name", "keys-state", "channels-tier"]);
    let rows = found.records.iter().map(|Owned { channel, company, tier_end }| {
        vec![
            html! {
                a href=(format!("/console/operator/channels/{}", channel.id)) { bdi { (channel.name) } } " "
                (copy::id(text, channel.id))
            },
            html! { bdi { (company) } },
            html! {
                (status(text, channel.connection.status)) " " (moment(person, channel.connection.since))
                @if let Some(reason) = &channel.connection.reason { p.soft lang="en" { (reason.sentence) } }
            },
            html! {
                a href=(format!("/console/operator/tiers/{}", channel.tier)) { (channel.tier) }
                @if !channel.own_options.is_empty() { div.soft { (said_own(text, &channel.own_options)) } }
                @if let Some(end) = tier_end {
                    div.soft { (text.with("operator-tier-end", [("tier", end.tier.as_str().into())])) " " (second(person, end.at)) }
                }
            },
        ]
    });
    html! {
        h2 { (text.get("shell-channels")) }
        @if found.records.is_empty() { (empty(&text.get("operator-no-channels"), &html! {})) }
        @else {
            (table(&text.get("shell-channels"), &columns, rows))
            (pager::named(text, query, "channels", page, found.total))
        }
    }
}
