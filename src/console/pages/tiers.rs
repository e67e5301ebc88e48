//! The tiers, and the form to edit one. Before a change is applied, the page shows what would change in its
//! options and for active sends.

mod edit;
mod naming;
mod what_if;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::Value;

use self::edit::{options, read};
pub(crate) use self::naming::{delete, rename};
use super::changes::plain;
use super::changes::words::author;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults};
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
use crate::domain::plan::Estimate;
use crate::domain::tier::{OptionChange, Tier, UnknownOutcome, difference, from_record, is_name, to_toml};
use crate::engine::records::changes::{Change, Filter, What};
use crate::engine::records::tiers::{Earlier, Record};
use crate::engine::retiering::Effect;

/// The path of the list.
const PLACE: &str = "/console/operator/tiers";
/// Changes of a tier that are shown.
const HISTORY: PageRequest = PageRequest { page: 1, limit: 20 };

/// The effects of applying the change.
pub(super) struct Checked {
    pub(super) difference: Vec<OptionChange>,
    pub(super) effects: Vec<Effect>,
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
            html! { @if let Some(tier) = &tier { (tier.messages_per_second) } },
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
    let form = Form::filled(person.text, options(&document.to_string()));
    let checked = match from_record(&record.name, &document) {
        Ok(tier) => Some(check(&state, &record, &tier).await?),
        // The form's own check names the faults.
        Err(_) => None,
    };
    page(&person, &state, &record, &form, checked).await
}

/// The page of a tier with its own options in the form, and a fault above it if there is one.
async fn plain_page(person: &Person, state: &State, record: &Record, fault: Option<String>) -> Result<Page> {
    let mut form = Form::filled(person.text, options(&record.settings));
    if let Some(fault) = fault {
        form.general_fault(fault);
    }
    page(person, state, record, &form, None).await
}

/// What would change if `tier` replaced the stored one.
async fn check(state: &State, record: &Record, tier: &Tier) -> Result<Checked> {
    let before: Value = serde_json::from_str(&record.settings).unwrap_or(Value::Null);
    let after = serde_json::to_value(tier).map_err(|_| Error::Internal)?;
    let effects = state.engine.channels().effect_of(tier).await?;
    let difference = difference(&before, &after);
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
    let before: Value = serde_json::from_str(&record.settings).unwrap_or(Value::Null);
    let Some(tier) = read(&record.name, &before, &mut form) else {
        return Ok(page(&person, &state, &record, &form, None).await?.unprocessable().into());
    };
    // The shown change is applied only if the tier has not changed since.
    let was_shown = form.words().one("seen") == seen(&record);
    if form.words().one("step") != "apply" || !was_shown {
        let checked = check(&state, &record, &tier).await?;
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
    let stored = serde_json::from_str::<Tier>(&record.settings).ok();
    let is_web = form.value("kind") == Kind::WebSession.as_str();
    let body = html! {
        form method="post" action=(format!("{PLACE}/{}", record.name)) {
            (faults(form))
            input type="hidden" name="seen" value=(seen(record));
            @if let Some(checked) = &checked { (consequences(person, checked)) }
            div.panel {
                (fields(form, is_web))
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

/// An option in words, and as it stands in a file of tiers.
fn called(text: Text, option: &str) -> Markup {
    html! {
        @if let Some(label) = label(option) { (text.get(label)) " " }
        code { (option) }
    }
}

/// The text that names an option; `None` for what has none.
pub(super) fn label(option: &str) -> Option<&'static str> {
    Some(match option {
        "description" => "tiers-description",
        "messages_per_second" => "tiers-pace",
        "burst" => "tiers-burst",
        "pair_interval" => "tiers-pair-interval",
        "pair_burst" => "tiers-pair-burst",
        "template_quota" => "tiers-quota",
        "api_requests" => "tiers-requests",
        "unknown_outcome" => "tiers-unknown",
        "jitter" => "tiers-jitter",
        "daily_cap" => "tiers-daily-cap",
        "quiet_hours" => "tiers-quiet-hours",
        "warm_up" => "tiers-warm-up",
        "cold_contacts" => "tiers-cold",
        _ => return None,
    })
}

fn fields(form: &Form, is_web: bool) -> Markup {
    let text = form.text();
    let called = |option: &str| text.get(label(option).unwrap_or(option));
    let field = |option: &str| Field::new(form, option, &called(option)).text();
    let pace = Field::new(form, "messages_per_second", &called("messages_per_second"))
        .hint(&text.get("tiers-pace-hint"))
        .required()
        .text();
    let of_this_kind: &[_] = if is_web {
        &["daily_cap", "warm_up", "jitter", "cold_contacts"]
    } else {
        &["template_quota", "warm_up"]
    };
    let outcomes = UnknownOutcome::ALL.iter().map(|outcome| {
        let words = match outcome {
            UnknownOutcome::Resend => "tiers-unknown-resend",
            UnknownOutcome::Hold => "tiers-unknown-hold",
        };
        (outcome.as_str(), text.get(words))
    });
    html! {
        div.columns {
            (pace)
            @for option in ["burst", "pair_interval", "pair_burst"].iter().chain(of_this_kind) { (field(option)) }
            @if !is_web {
                (Field::new(form, "quiet_hours", &called("quiet_hours")).hint(&text.get("tiers-quiet-hours-hint")).text())
            }
            (field("api_requests"))
            (Field::new(form, "unknown_outcome", &called("unknown_outcome")).select(outcomes))
        }
        (field("description"))
        input type="hidden" name="kind" value=(form.value("kind"));
    }
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
                (effect_table(person, effects))
                button type="submit" name="step" value="apply" { (text.get("tiers-apply")) }
            }
        }
    }
}

fn changed_options(person: &Person, difference: &[OptionChange]) -> Markup {
    let text = person.text;
    let columns = Column::all(text, ["tiers-option", "changes-before", "changes-after"]);
    let rows = difference.iter().map(|change| {
        vec![called(text, &change.option), html! { (plain(&change.old)) }, html! { (plain(&change.new)) }]
    });
    table(&text.get("tiers-would-change"), &columns, rows)
}

fn effect_table(person: &Person, effects: &[Effect]) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("overview-send")),
        Column::words(text.get("companies-name")),
        Column::words(text.get("operator-channel")),
        Column::numbers(text.get("tiers-left")),
        Column::words(text.get("tiers-end-before")),
        Column::words(text.get("tiers-end-after")),
    ];
    let rows = effects.iter().map(|effect| {
        vec![
            html! { code { (effect.send.send_id) } },
            html! { bdi { (effect.send.company) } },
            html! { bdi { (effect.channel.name) } },
            html! { (text.number(effect.send.remaining)) },
            end(person, effect.before),
            end(person, effect.after),
        ]
    });
    html! {
        h3 { (text.get("tiers-effect")) }
        @if effects.is_empty() { p { (text.get("tiers-no-effect")) } }
        @else { (table(&text.get("tiers-effect"), &columns, rows)) }
    }
}

fn end(person: &Person, estimate: Estimate) -> Markup {
    match estimate.takes {
        Some(takes) => second(person, Timestamp::now().plus(takes)),
        None => html! { span.soft { "—" } },
    }
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
                    div { (called(text, &option)) ": " (plain(&old)) " → " (plain(&new)) }
                }
            },
            html! { @if change.after.is_object() { a href={ "?entry=" (change.id) } { (text.get("tiers-go-back")) } } },
        ]
    });
    table(&text.get("tiers-history"), &columns, rows)
}
