//! The sends of the company, newest first, each with the outcome of its messages.

use std::collections::HashMap;
use std::time::Duration;

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::send::words;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::bar::{self, Shares};
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::fold::fold;
use crate::console::component::icon::Icon;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{moment, until};
use crate::console::component::waiting::{lasting, waiting};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::channel::Kind;
use crate::domain::outlook::{Outlook, Reason, Waiting};
use crate::domain::page::{self, PageRequest};
use crate::domain::send::{Counts, Source, Stage};
use crate::engine::records::CompanyRecords;
use crate::engine::records::sends::{Filter, Record};

/// The number of channels and tags that a filter offers; others are reached from the page of the channel or
/// the tag.
const OFFERED: u64 = 200;
const NAME_CHARS: usize = 100;
/// The filters beside the search for a name.
const FILTERS: [&str; 5] = ["state", "channel", "tag", "from", "to"];
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What the list shows beside the records.
struct Around {
    /// The names of the channels.
    channels: HashMap<Uuid, String>,
    outlooks: HashMap<Uuid, Outlook>,
    /// The messages by state, of those sends that are counted.
    counts: HashMap<Uuid, Counts>,
}

/// The choices of the filters.
struct Choices {
    channels: Vec<(Uuid, String)>,
    tags: Vec<String>,
}

pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let records = state.engine.company(viewer.company.id).await?;
    let choices = choices(&records).await?;
    let filter = filter(&records, &viewer, &query).await?;
    let page = query.page(state.options.page_size);
    let found = match filter {
        Some(filter) => records.sends().heads(page, &filter, Timestamp::now()).await?,
        // The tag does not exist.
        None => page::Page { records: Vec::new(), total: 0 },
    };
    drop(records);
    let channels = channel_names(&state, &found.records).await?;
    let outlooks = state.engine.sends().outlooks(&found.records).await?;
    let counts = state.engine.sends().counts(viewer.company.id, &found.records).await?;
    let around = Around { channels, outlooks, counts };
    let text = viewer.text;
    let is_narrowed = is_filtered(&query) || !query.one("search").is_empty();
    let is_empty = found.records.is_empty() && !is_narrowed;
    let new = html! { a.button href="/console/sends/new" { (Icon::Add) (text.get("send-list-new")) } };
    let shown = Page::new(
        text.get("send-list-title"),
        Menu::Sends,
        html! {
            @if viewer.may_work() { p { a href="/console/sends/drafts" { (text.get("drafts-title")) } } }
            @if !is_empty { (narrowing(&viewer, &query, &choices)) }
            @if is_empty {
                (empty(&text.get("send-list-none"), &html! { @if viewer.may_work() { (new) } }))
            } @else if found.records.is_empty() {
                (empty(&text.get("send-list-none-match"), &html! { a href="/console/sends" { (text.get("send-list-all")) } }))
            } @else {
                (rows(&viewer, &found.records, &around))
                (pager(text, &query, page, found.total))
            }
        },
    );
    // An empty list has the button in its middle.
    Ok(if viewer.may_work() && !is_empty { shown.action(new) } else { shown })
}

async fn choices(records: &CompanyRecords) -> Result<Choices> {
    let all = PageRequest { page: 1, limit: OFFERED };
    let mut channels = Vec::new();
    for kind in Kind::ALL {
        let found = records.channels().of_kind(*kind, all, None).await?.records;
        channels.extend(found.into_iter().map(|channel| (channel.id, channel.name)));
    }
    let tags = records.tags().page(all, None).await?.records;
    Ok(Choices { channels, tags: tags.into_iter().map(|tag| tag.summary.name).collect() })
}

/// The requested sends; `None` for a tag that does not exist.
async fn filter(records: &CompanyRecords, viewer: &Viewer, query: &Query) -> Result<Option<Filter>> {
    let source = match query.text("tag", NAME_CHARS) {
        None => None,
        Some(name) => {
            let few = PageRequest { page: 1, limit: OFFERED };
            let found = records.tags().page(few, Some(name)).await?.records;
            let lower = name.to_lowercase();
            let tag = found.into_iter().find(|tag| tag.summary.name.to_lowercase() == lower);
            let Some(tag) = tag else { return Ok(None) };
            Some(Source::Tag(tag.summary.id))
        }
    };
    let day = |name: &str| viewer.zone.moment(&format!("{}T00:00", query.one(name)));
    Ok(Some(Filter {
        stage: query.parsed("state"),
        channel_id: query.parsed("channel"),
        source,
        reference: None,
        search: query.text("search", NAME_CHARS).map(str::to_owned),
        from: day("from"),
        // The last day is included.
        to: day("to").map(|start| start.plus(DAY)),
    }))
}

/// Whether a filter beside the search is in use.
fn is_filtered(query: &Query) -> bool {
    FILTERS.iter().any(|name| !query.one(name).is_empty())
}

/// The search for a name, and the other filters, which fold on a narrow screen.
fn narrowing(viewer: &Viewer, query: &Query, choices: &Choices) -> Markup {
    let text = viewer.text;
    let values = ["search"].into_iter().chain(FILTERS).map(|name| (name, query.one(name).to_owned()));
    let form = &Form::filled(text, values);
    let any = || (String::new(), text.get("send-list-any"));
    let stages = Stage::ALL.map(|stage| (stage.as_str().to_owned(), words::stage_word(text, stage)));
    let channels = choices.channels.iter().map(|(id, name)| (id.to_string(), name.clone()));
    html! {
        form method="get" action="/console/sends" role="search" aria-label=(text.get("send-list-narrow")) {
            div.row.bottom {
                (Field::new(form, "search", &text.get("send-list-search")).most(NAME_CHARS).input("search"))
                button.plain type="submit" { (text.get("send-list-show")) }
            }
            (fold(text, is_filtered(query), &html! {
                div.row.bottom {
                    (Field::new(form, "state", &text.get("send-list-state")).select(std::iter::once(any()).chain(stages)))
                    (Field::new(form, "channel", &text.get("send-list-channel")).select(std::iter::once(any()).chain(channels)))
                    div.field {
                        label for="field-tag" { (text.get("send-list-tag")) }
                        input id="field-tag" type="text" name="tag" value=(form.value("tag")) list="tags" maxlength=(NAME_CHARS);
                        datalist id="tags" { @for tag in &choices.tags { option value=(tag) {} } }
                    }
                    (Field::new(form, "from", &text.get("send-list-from")).input("date"))
                    (Field::new(form, "to", &text.get("send-list-to")).input("date"))
                    button.plain type="submit" { (text.get("send-list-apply")) }
                }
            }))
        }
    }
}

fn rows(viewer: &Viewer, sends: &[Record], around: &Around) -> Markup {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("send-list-send")),
        Column::words(text.get("send-list-state")),
        Column::numbers(text.get("send-list-recipients")),
        Column::words(text.get("send-list-outcome")),
    ];
    let rows = sends.iter().map(|send| {
        vec![
            html! {
                a href=(format!("/console/sends/{}", send.id)) { bdi { (words::name(text, send)) } }
                div.wait {
                    (moment(viewer, send.created_at)) " · "
                    bdi { (around.channels.get(&send.channel_id).map_or("—", String::as_str)) }
                }
            },
            html! {
                (words::stage(text, send.stage))
                @if let Some(what) = around.outlooks.get(&send.id).and_then(lasting) {
                    div.wait { (wait(viewer, what)) }
                }
            },
            html! { (text.number(send.recipients)) },
            html! {
                @match around.counts.get(&send.id).map(Shares::from) {
                    Some(shares) => { (bar::line(text, &shares)) (bar::bar(text, &shares)) }
                    None => span.soft { (text.get("send-list-counting")) },
                }
            },
        ]
    });
    table(&text.get("send-list-title"), &columns, rows)
}

/// Why a send waits, if its state does not say that, and until when.
fn wait(viewer: &Viewer, what: &Waiting) -> Markup {
    match (what.reason, what.until) {
        (Reason::Scheduled | Reason::Paused, end) => {
            html! { @if let Some(end) = end { (until(viewer, end)) } }
        }
        _ => waiting(viewer, what),
    }
}

async fn channel_names(state: &State, sends: &[Record]) -> Result<HashMap<Uuid, String>> {
    let mut names = HashMap::new();
    for send in sends {
        if !names.contains_key(&send.channel_id)
            && let Some(channel) = state.engine.channel(send.channel_id).await?
        {
            names.insert(send.channel_id, channel.name.clone());
        }
    }
    Ok(names)
}
