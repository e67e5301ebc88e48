//! The messages of a send, one part of the list at a time. Counting all matches of a large send would take
//! too long, so each part continues where the one before ended.

use std::collections::HashMap;

use maud::{Markup, html};

use super::figures::View;
use super::{results, selection, words};
use crate::console::State;
use crate::console::component::explain;
use crate::console::component::field::Field;
use crate::console::component::number;
use crate::console::component::table::{Column, table};
use crate::console::component::time::maybe;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::contact::Person;
use crate::domain::message;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::GROUP_SUFFIX;
use crate::engine::records::messages::{Found, Message, SendSnapshot};

/// Messages on a page.
const SHOWN: u64 = 50;
/// Messages that are read for one page of a filtered list, which takes some milliseconds.
const SPAN: u64 = 20_000;

/// The list, with its filters.
pub(super) async fn list(viewer: &Viewer, state: &State, view: &View, query: &Query) -> Result<Markup> {
    let (send, selection, text) = (&view.send, selection(query), viewer.text);
    let rows = rows(viewer, state, view, query).await?;
    let values = ["state", "code"].map(|name| (name, query.one(name).to_owned()));
    let form = &Form::filled(text, values);
    let code = Field::new(form, "code", &text.get("send-code")).input("number");
    let any = (String::new(), text.get("send-any"));
    let states = message::State::ALL.map(|state| (state.as_str().to_owned(), words::state_word(text, state)));
    let csv = format!(
        "/console/sends/{}/messages.csv?state={}&code={}",
        send.id,
        selection.states.first().map_or("", |state| state.as_str()),
        selection.codes.first().map(i64::to_string).unwrap_or_default(),
    );
    let has_file = results::origin(&state.engine, viewer.company.id, send.id).await?.is_some();
    Ok(html! {
        section id="list" {
            h2 { (text.get("send-messages")) }
            form.row.bottom method="get" action=(format!("/console/sends/{}#list", send.id)) role="search"
                aria-label=(text.get("send-narrow")) {
                (Field::new(form, "state", &text.get("send-state")).select(std::iter::once(any).chain(states)))
                @if selection.codes.is_empty() {
                    details.more id="by-code" { summary { (text.get("send-by-code")) } (code) }
                } @else { (code) }
                button.plain type="submit" { (text.get("send-show")) }
                a.button.plain href=(csv) download { (text.get("send-csv")) }
                @if has_file {
                    a.button.plain href=(format!("/console/sends/{}/results.csv", send.id)) download { (text.get("send-results")) }
                }
            }
            (rows)
        }
    })
}

/// The messages that the query selects, with the links to its other parts, for the page, and for its stream if no filter
/// needs a scan: then the list says what the figures above it say.
pub(super) async fn rows(viewer: &Viewer, state: &State, view: &View, query: &Query) -> Result<Markup> {
    let selection = selection(query);
    let records = state.engine.company(viewer.company.id).await?;
    let snapshot = records.sends().snapshot(view.send.id).await?.ok_or(Error::NotFound)?;
    let from = query.parsed("from").unwrap_or(0_u64);
    let span = if selection.is_everything() { SHOWN } else { SPAN };
    let Found { messages, next } =
        records.messages().selected(&snapshot, &selection, from, SHOWN, span).await?;
    let numbers: Vec<_> = messages.iter().filter_map(|message| message.outcome.position.recipient).collect();
    let people = records.contacts().people(&numbers).await?;
    drop(records);
    let text = viewer.text;
    let looked = next.filter(|_| messages.is_empty());
    Ok(html! {
        div id="rows" {
            @if let Some(looked) = looked {
                p { (text.with("send-none-yet", [("from", from.into()), ("to", looked.into())])) }
            } @else if messages.is_empty() {
                p { (text.get("send-none")) }
            } @else {
                (listed(viewer, view, &snapshot, &messages, &people))
            }
            nav.pager aria-label=(text.get("send-messages")) {
                @if from > 0 { a rel="first" href=(format!("{}#list", query.with("from", "0"))) { (text.get("send-first")) } }
                @if let Some(next) = next {
                    a rel="next" href=(format!("{}#list", query.with("from", &next.to_string()))) { (text.get("send-further")) }
                }
            }
        }
    })
}

fn listed(
    viewer: &Viewer,
    view: &View,
    snapshot: &SendSnapshot,
    messages: &[Message],
    people: &HashMap<PhoneNumber, Person>,
) -> Markup {
    let text = viewer.text;
    let columns = Column::all(text, ["send-recipient", "send-state", "send-cause", "send-heard"]);
    let rows = messages.iter().map(|Message { outcome, updated_at }| {
        let ordinal = outcome.position.ordinal;
        let address = format!("/console/sends/{}/messages/{ordinal}", view.send.id);
        let number = recipient(snapshot, outcome.position);
        let person = outcome.position.recipient.and_then(|number| people.get(&number));
        vec![
            html! {
                @match person.and_then(name) {
                    Some(name) => { a href=(address) { bdi { (name) } } " " span.soft { bdi { (number) } } }
                    None => a href=(address) { bdi { (number) } },
                }
            },
            words::state(text, outcome.state),
            html! {
                @if let Some(error) = &outcome.error {
                    @let words = words::cause(text, outcome.state, error.code);
                    (words) " " (explain::mark(text, words::topic(outcome.state, error.code), &words))
                }
            },
            maybe(viewer, *updated_at),
        ]
    });
    table(&text.get("send-messages"), &columns, rows)
}

/// The name of a contact, if they have one.
pub(super) fn name(person: &Person) -> Option<String> {
    let name = format!("{} {}", person.first_name, person.last_name);
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The recipient of a message.
pub(in crate::console::pages) fn recipient(snapshot: &SendSnapshot, position: message::Position) -> String {
    position
        .recipient
        .map_or_else(|| format!("{}{GROUP_SUFFIX}", snapshot.group().unwrap_or_default()), number::grouped)
}
