//! The tiers, and the form to edit one. Before a change is applied, the page shows what would change in its
//! options and for active sends.

mod effects;
mod naming;
pub(crate) mod options;
mod what_if;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;

pub(super) use self::effects::ShownEffects;
pub(crate) use self::naming::{delete, rename};
pub(super) use self::options::label;
use self::options::{controls, reading, said, values};
use super::changes::words::author;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::faults;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{moment, second};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Query, segment};
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::domain::channel::Kind;
use crate::domain::page::PageRequest;
use crate::domain::tier::{OptionChange, Tier, difference, from_record, is_name, to_toml};
use crate::engine::records::changes::{Change, Filter, What};
use crate::engine::records::tiers::{Earlier, Record};

/// The path of the list.
const PLACE: &str = "/console/operator/tiers";
/// Changes of a tier that are shown.
const HISTORY: PageRequest = PageRequest { page: 1, limit: 20 };

/// The effects of applying the change.
pub(super) struct Checked {
    pub(super) difference: Vec<OptionChange>,
    pub(super) effects: ShownEffects,
    /// Whether there is anything to apply.
    pub(super) is_change: bool,
}

pub(crate) async fn list(person: Person, state: Data<State>, query: Query) -> Result<Page> {
    let text = person.text;
    let tiers = state.engine.operator().await?.tiers().all().await?;
    let columns = [
        Column::words(text.get("tiers-name")),
        Column::brief(text.get("tiers-kind")),
        Column::words(text.get("tiers-pace")),
        Column::words(text.get("tiers-changed")),
    ];
    let rows = tiers.iter().map(|record| {
        let tier = serde_json::from_str::<Tier>(&record.settings).ok();
        vec![
            html! {
                a href=(format!("{PLACE}/{}", record.name)) { (record.name) }
                @if let Some(tier) = &tier { div.soft lang="en" { (tier.description) } }
            },
            html! { @if let Some(tier) = &tier { (kind(&person, tier.kind)) } },
            html! { @if let Some(tier) = &tier { (pace(text, tier)) } },
            moment(&person, record.updated_at),
        ]
    });
    let what_if = what_if::section(&person, &state, &query).await?;
    let body = html! {
        @if tiers.is_empty() { (empty(&text.get("tiers-none"), &html! { code { "pombo tier apply FILE" } })) }
        @else {
            (table(&text.get("tiers-title"), &columns, rows))
            (what_if)
        }
    };
    Ok(Page::new(text.get("tiers-title"), Menu::Tiers, body))
}

/// Shows one tier with the form to edit it. With an `entry` of its history, the form has the options of then, and the page
/// shows what going back would change.
pub(crate) async fn show(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    query: Query,
) -> Result<Page> {
    let record = find(&state, &request).await?;
    let Some(entry) = query.parsed("entry") else {
        return plain_page(&person, &state, &record, None).await;
    };
    let earlier = state.engine.operator().await?.tiers().earlier(&record.name, Some(entry)).await?;
    let Earlier::Options(document) = earlier else { return Err(Error::NotFound) };
    let form = filled(person.text, &document);
    let checked = match from_record(&record.name, &document) {
        Ok(tier) => Some(check(&person, &state, &record, &tier).await?),
        // The form's own check names the faults.
        Err(_) => None,
    };
    page(&person, &state, &record, &form, checked).await
}

/// A form with the options of a stored tier.
fn filled(text: Text, document: &Value) -> Form {
    let values = values(document);
    Form::filled(text, values.iter().map(|(name, value)| (name.as_str(), value.clone())))
}

/// A tier as it is stored.
fn stored(record: &Record) -> Value {
    serde_json::from_str(&record.settings).unwrap_or(Value::Null)
}

/// The pace of a tier in words.
fn pace(text: Text, tier: &Tier) -> String {
    said(text, "messages_per_second", &tier.messages_per_second.to_string().into())
}

/// The page of a tier with its own options in the form, and a fault above it if there is one.
async fn plain_page(person: &Person, state: &State, record: &Record, fault: Option<String>) -> Result<Page> {
    let mut form = filled(person.text, &stored(record));
    if let Some(fault) = fault {
        form.general_fault(fault);
    }
    page(person, state, record, &form, None).await
}

/// What would change if `tier` replaced the stored one.
async fn check(person: &Person, state: &State, record: &Record, tier: &Tier) -> Result<Checked> {
    let after = serde_json::to_value(tier).map_err(|_| Error::Internal)?;
    let effects = state.engine.channels().effect_of(tier).await?;
    let effects = ShownEffects::named(person.text, state, effects).await?;
    let difference = difference(&stored(record), &after);
    Ok(Checked { is_change: !difference.is_empty(), difference, effects })
}

/// Shows what would change, or applies the shown change.
pub(crate) async fn change(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let record = find(&state, &request).await?;
    let Some(tier) = reading::tier(&record.name, &stored(&record), &mut form) else {
        return Ok(page(&person, &state, &record, &form, None).await?.unprocessable().into());
    };
    // The shown change is applied only if the tier has not changed since.
    let was_shown = form.words().one("seen") == seen(&record);
    if form.words().one("step") != "apply" || !was_shown {
        let checked = check(&person, &state, &record, &tier).await?;
        return Ok(page(&person, &state, &record, &form, Some(checked)).await?.into());
    }
    let document = serde_json::to_string(&tier).map_err(|_| Error::Internal)?;
    let documents = [(tier.name.clone(), document)];
    state.engine.operator().await?.apply_tiers(&person.who(), &documents).await?;
    let applied = person.text.with("tiers-applied", [("name", tier.name.as_str().into())]);
    Ok(Answer::done(&state, &person, applied, format!("{PLACE}/{}", record.name)))
}

async fn find(state: &State, request: &HttpRequest) -> Result<Record> {
    let name: String = segment(request, "name")?;
    let found = if is_name(&name) { state.engine.operator().await?.tiers().find(&name).await? } else { None };
    found.ok_or(Error::NotFound)
}

/// The digest of the tier that a page showed.
fn seen(record: &Record) -> String {
    record.updated_at.millis().to_string()
}

fn kind(person: &Person, kind: Kind) -> String {
    person.text.get(match kind {
        Kind::BusinessAccount => "tiers-business",
        Kind::WebSession => "tiers-web",
    })
}

async fn page(
    person: &Person,
    state: &State,
    record: &Record,
    form: &Form,
    checked: Option<Checked>,
) -> Result<Page> {
    let text = person.text;
    let filter = Filter { what: &[What::Tier], subject: Some(&record.name), ..Filter::default() };
    let records = state.engine.operator().await?;
    let history = records.changes().page(filter, HISTORY).await?.records;
    let usage = records.tiers().usage(&record.name).await?;
    drop(records);
    let document = stored(record);
    let kind = document["kind"].as_str().and_then(|kind| kind.parse::<Kind>().ok());
    let stored = serde_json::from_value::<Tier>(document).ok();
    let body = html! {
        form method="post" action=(format!("{PLACE}/{}", record.name)) {
            (faults(form))
            input type="hidden" name="seen" value=(seen(record));
            @if let Some(checked) = &checked { (consequences(person, checked)) }
            div.panel {
                div.columns { @for option in options::of_kind(kind) { (controls::control(form, option)) } }
                button.plain type="submit" name="step" value="check" { (text.get("tiers-check")) }
            }
        }
        section aria-labelledby="history" {
            h2 id="history" { (text.get("tiers-history")) }
            @if history.is_empty() { p { (text.get("tiers-no-history")) } }
            @else { (history_table(person, &history)) }
        }
        @if let Some(stored) = &stored {
            details { summary { (text.get("tiers-as-file")) } pre lang="en" { code { (to_toml(stored)) } } }
        }
        (naming::section(person, &record.name, &usage))
    };
    Ok(Page::new(text.with("tiers-one", [("name", record.name.as_str().into())]), Menu::Tiers, body))
}

/// An option in words.
fn called(text: Text, option: &str) -> String {
    label(option).map_or_else(|| option.to_owned(), |label| text.get(label))
}

/// The effects of applying the change, and the button for it.
pub(super) fn consequences(person: &Person, checked: &Checked) -> Markup {
    let Checked { difference, effects, is_change } = checked;
    let text = person.text;
    html! {
        section.panel aria-labelledby="check" {
            h2 id="check" { (text.get("tiers-would-change")) }
            @if !is_change { p { (text.get("tiers-nothing")) } }
            @else {
                @if !difference.is_empty() { (changed_options(person, difference)) }
                (effects.table(person))
                button type="submit" name="step" value="apply" { (text.get("tiers-apply")) }
            }
        }
    }
}

fn changed_options(person: &Person, difference: &[OptionChange]) -> Markup {
    let text = person.text;
    let columns = Column::all(text, ["tiers-option", "changes-before", "changes-after"]);
    let rows = difference.iter().map(|change| {
        let said = |value: &Value| html! { (said(text, &change.option, value)) };
        vec![html! { (called(text, &change.option)) }, said(&change.old), said(&change.new)]
    });
    table(&text.get("tiers-would-change"), &columns, rows)
}

fn history_table(person: &Person, history: &[Change]) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("changes-when")),
        Column::words(text.get("changes-who")),
        Column::words(text.get("tiers-options")),
        Column::words(String::new()),
    ];
    let rows = history.iter().map(|change| {
        let at = second(person, change.at);
        let before = change.before.clone().unwrap_or(Value::Null);
        vec![
            at,
            html! { bdi title=(change.who) { (author(text, &change.who)) } },
            html! {
                @for OptionChange { option, old, new } in difference(&before, &change.after) {
                    div { (called(text, &option)) ": " (said(text, &option, &old)) " → " (said(text, &option, &new)) }
                }
            },
            html! { @if change.after.is_object() { a href={ "?entry=" (change.id) } { (text.get("tiers-go-back")) } } },
        ]
    });
    table(&text.get("tiers-history"), &columns, rows)
}
