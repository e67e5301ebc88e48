//! The record of changes, with filters.

pub(crate) mod words;

use std::collections::HashMap;

use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::browser::browser;
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::second;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Person;
use crate::engine::records::changes::{Change, Filter, What};

/// The longest subject and the longest name of an author in a filter.
const SUBJECT: usize = 254;
const WHO: usize = 260;
/// The characters of an id.
const ID: usize = 36;
/// The most ids of a page whose names are shown.
const MOST_NAMED: usize = 1_000;

pub(crate) async fn show(person: Person, state: Data<State>, query: Query) -> Result<Page> {
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
    let records = state.engine.operator().await?;
    let found = records.changes().page(filter, page).await?;
    let names = records.changes().names(&ids(&found.records)).await?;
    drop(records);
    let recorded = Recorded { person: &person, names: &names };
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
                (list(&recorded, &query, &found.records))
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

fn list(recorded: &Recorded<'_>, query: &Query, changes: &[Change]) -> Markup {
    let (person, text) = (recorded.person, recorded.person.text);
    let columns = Column::all(
        text,
        ["changes-when", "changes-who", "changes-what", "changes-subject", "changes-became"],
    );
    let rows = changes.iter().map(|change| {
        vec![
            second(person, change.at),
            html! {
                a href=(query.narrowed("who", &change.who)) title=(change.who) { bdi { (words::author(text, &change.who)) } }
                @if let Some(address) = &change.address { " " span.soft { (address) } }
            },
            html! { span title=(change.what.as_str()) { (words::kind(text, change.what)) } },
            html! { a href=(query.narrowed("subject", &change.subject)) { (recorded.word(&change.subject)) } },
            html! {
                div.values {
                    @if let Some(before) = &change.before {
                        div { span.soft { (text.get("changes-before")) ":" } (recorded.value(before)) }
                        div { span.soft { (text.get("changes-after")) ":" } (recorded.value(&change.after)) }
                    } @else { (recorded.value(&change.after)) }
                }
            },
        ]
    });
    table(&text.get("changes-title"), &columns, rows)
}

/// Recorded values as a person reads them: times in the person's zone, and names beside ids.
pub(crate) struct Recorded<'a> {
    pub(crate) person: &'a Person,
    /// The names of the ids in the values, as far as they are known.
    pub(crate) names: &'a HashMap<Uuid, String>,
}

impl Recorded<'_> {
    /// A recorded value: a word, or an object line by line.
    pub(crate) fn value(&self, value: &Value) -> Markup {
        let text = self.person.text;
        match value {
            Value::Null => html! { span.soft { "—" } },
            Value::Object(fields) => html! {
                @for (name, value) in fields { div { span.soft title=(name) { (words::field(text, name).as_ref().unwrap_or(name)) ": " } (self.field(name, value)) } }
            },
            other => self.entry(other),
        }
    }

    fn field(&self, name: &str, value: &Value) -> Markup {
        let text = self.person.text;
        match (name, value) {
            ("browser", Value::String(raw)) => browser(text, raw),
            ("kind", Value::String(word)) if word == "business_account" => {
                html! { (text.get("channels-kind-business")) }
            }
            ("kind", Value::String(word)) if word == "web_session" => {
                html! { (text.get("channels-kind-web")) }
            }
            (_, Value::Bool(is_so)) => {
                html! { (text.get(if *is_so { "changes-yes" } else { "changes-no" })) }
            }
            _ => self.entry(value),
        }
    }

    fn entry(&self, value: &Value) -> Markup {
        match value {
            Value::String(word) => self.word(word),
            Value::Array(entries) if !entries.is_empty() => html! {
                @for (index, entry) in entries.iter().enumerate() {
                    @if index > 0 { ", " }
                    (self.entry(entry))
                }
            },
            other => html! { bdi { (plain(other)) } },
        }
    }

    /// A word, a time, or an id with the name of its record.
    fn word(&self, word: &str) -> Markup {
        if let Ok(at) = Timestamp::parse(word) {
            return second(self.person, at);
        }
        match id(word).and_then(|id| self.names.get(&id)) {
            Some(name) => html! { bdi { (name) } " " span.soft { (word) } },
            None => html! { bdi { (word) } },
        }
    }
}

/// The ids in the subjects and values of these changes.
fn ids(changes: &[Change]) -> Vec<Uuid> {
    fn within(value: &Value, found: &mut Vec<Uuid>) {
        match value {
            Value::String(word) => found.extend(id(word)),
            Value::Array(entries) => entries.iter().for_each(|entry| within(entry, found)),
            Value::Object(fields) => fields.values().for_each(|value| within(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for Change { subject, before, after, .. } in changes {
        found.extend(id(subject));
        before.iter().chain([after]).for_each(|value| within(value, &mut found));
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST_NAMED);
    found
}

/// An id as the record has it.
fn id(word: &str) -> Option<Uuid> {
    Some(word).filter(|word| word.len() == ID)?.parse().ok()
}

/// A value without the quotes and brackets of JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::String(word) => word.clone(),
        Value::Array(entries) if entries.is_empty() => "—".to_owned(),
        Value::Array(entries) => entries.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::accounts::Role;
    use crate::console::visitor::Viewer;

    #[test]
    fn times_are_local_and_ids_have_names() {
        let (id, viewer) = (Uuid::from_u128(7), Viewer::example(Role::Owner));
        let names = HashMap::from([(id, "Shop <1>".to_owned())]);
        let shown = |value: Value| Recorded { person: &viewer, names: &names }.value(&value).into_string();
        assert!(shown(json!({"expires_at": "2027-01-31T09:00:00.000Z"})).contains(">Jan 31, 2027 09:00:00<"));
        let named = shown(json!([id.to_string(), "other"]));
        assert!(named.starts_with("<bdi>Shop &lt;1&gt;</bdi> <span class=\"soft\">"), "{named}");
        assert!(named.ends_with(", <bdi>other</bdi>"), "{named}");
        assert_eq!(shown(json!("replaced")), "<bdi>replaced</bdi>");
    }
}
