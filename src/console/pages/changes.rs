//! The record of changes, with filters.

pub(in crate::console) mod words;

use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;

use crate::console::State;
use crate::console::component::browser::browser;
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::second;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::engine::records::changes::{Change, Filter, What};

/// The longest subject and the longest name of an author in a filter.
const SUBJECT: usize = 254;
const WHO: usize = 260;

pub(in crate::console) async fn show(
    person: Person,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let text = person.text;
    let what = query.text("what", 40).and_then(|word| What::ALL.iter().find(|what| what.as_str() == word));
    let (subject, who) = (query.text("subject", SUBJECT), query.text("who", WHO).map(name));
    let page = query.page(state.options.page_size);
    let moment = |name: &str| person.zone.moment(query.one(name));
    let filter = Filter {
        what: what.map_or(&[], std::slice::from_ref),
        subject,
        who: who.as_deref(),
        from: moment("from"),
        to: moment("to"),
    };
    let found = state.engine.operator().await?.changes().page(filter, page).await?;
    let chosen = what.map_or("", |what| what.as_str()).to_owned();
    let shown = |name: &str| query.one(name).chars().take(WHO).collect::<String>();
    let form = Form::filled(
        text,
        [
            ("what", chosen),
            ("subject", subject.unwrap_or_default().to_owned()),
            ("who", shown("who")),
            ("from", shown("from")),
            ("to", shown("to")),
        ],
    );
    let kinds = [(String::new(), text.get("changes-all"))].into_iter();
    let kinds =
        kinds.chain(What::ALL.iter().map(|what| (what.as_str().to_owned(), words::kind(text, *what))));
    let body = html! {
        form.row.bottom method="get" role="search" data-search="found" {
            (Field::new(&form, "what", &text.get("changes-what")).select(kinds))
            (Field::new(&form, "who", &text.get("changes-who")).most(WHO).input("search"))
            (Field::new(&form, "subject", &text.get("changes-subject")).most(SUBJECT).input("search"))
            (Field::new(&form, "from", &text.get("changes-from")).input("datetime-local"))
            (Field::new(&form, "to", &text.get("changes-to")).input("datetime-local"))
            button.plain type="submit" { (text.get("changes-filter")) }
        }
        p.hint { (text.get("changes-who-hint")) " " (text.get("changes-subject-hint")) }
        div id="found" {
            @if found.records.is_empty() { (empty(&text.get("changes-none"), &html! { a href="/console/operator/changes" { (text.get("changes-show-all")) } })) }
            @else {
                (list(&person, &query, &found.records))
                (pager(text, &query, page, found.total))
            }
        }
    };
    Ok(Page::new(text.get("changes-title"), Menu::Changes, body))
}

/// The author as the record names them. People are recorded by their e-mail, which the hint says.
fn name(typed: &str) -> String {
    match typed.contains('@') && !typed.contains(':') {
        true => format!("user:{}", typed.to_lowercase()),
        false => typed.to_owned(),
    }
}

fn list(person: &Person, query: &Query, changes: &[Change]) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("changes-when")),
        Column::words(text.get("changes-who")),
        Column::words(text.get("changes-what")),
        Column::words(text.get("changes-subject")),
        Column::words(text.get("changes-became")),
    ];
    let rows = changes.iter().map(|change| {
        vec![
            second(person, change.at),
            html! {
                a href=(query.narrowed("who", &change.who)) { bdi { (change.who) } }
                @if let Some(address) = &change.address { " " span.soft { (address) } }
            },
            html! { span title=(change.what.as_str()) { (words::kind(text, change.what)) } },
            html! { a href=(query.narrowed("subject", &change.subject)) { bdi { (change.subject) } } },
            html! {
                div.values {
                    @if let Some(before) = &change.before {
                        div { span.soft { (text.get("changes-before")) ":" } (value(text, before)) }
                        div { span.soft { (text.get("changes-after")) ":" } (value(text, &change.after)) }
                    } @else { (value(text, &change.after)) }
                }
            },
        ]
    });
    table(&text.get("changes-title"), &columns, rows)
}

/// A recorded value: a word unchanged, an object line by line.
pub(in crate::console) fn value(text: Text, value: &Value) -> Markup {
    match value {
        Value::Null => html! { span.soft { "—" } },
        Value::String(word) => html! { bdi { (word) } },
        Value::Object(fields) => html! {
            @for (name, value) in fields { div { span.soft title=(name) { (words::field(text, name).as_ref().unwrap_or(name)) ": " } (of_field(text, name, value)) } }
        },
        other => html! { bdi { (plain(other)) } },
    }
}

fn of_field(text: Text, name: &str, value: &Value) -> Markup {
    match (name, value) {
        ("browser", Value::String(raw)) => browser(text, raw),
        ("kind", Value::String(word)) if word == "business_account" => {
            html! { (text.get("channels-kind-business")) }
        }
        ("kind", Value::String(word)) if word == "web_session" => html! { (text.get("channels-kind-web")) },
        (_, Value::Bool(is_so)) => html! { (text.get(if *is_so { "changes-yes" } else { "changes-no" })) },
        _ => html! { bdi { (plain(value)) } },
    }
}

/// A value without the quotes and brackets of JSON.
pub(in crate::console) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::String(word) => word.clone(),
        Value::Array(entries) if entries.is_empty() => "—".to_owned(),
        Value::Array(entries) => entries.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
