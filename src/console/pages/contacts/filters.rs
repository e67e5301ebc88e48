//! The search, and the filters: by tags that a contact has and lacks, by the outcome of a send, and by own fields.

use maud::{Markup, html};

use uuid::Uuid;

use super::listed::{Listed, MOST};
use super::{PLACE, SEARCH, conditions};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::component::icon::Icon;
use crate::console::component::tag;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::pages::send::words as send_words;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Tag, TagSummary};
use crate::domain::message::Reception;
use crate::domain::page::PageRequest;
use crate::engine::records::sends::Filter;

/// The number of tags that are shown above the list.
const SHOWN: usize = 20;

/// The class of what narrows the list and is no tag.
const FACT: &str = "tag h-slate";

/// The number of sends that are offered, the latest ones.
const SENDS: u64 = 30;

/// The latest sends, each with its name and time.
pub(super) async fn latest(state: &State, viewer: &Viewer) -> Result<Vec<(Uuid, String)>> {
    let records = state.engine.company(viewer.company.id).await?;
    let page = PageRequest { page: 1, limit: SENDS };
    let sends = records.sends().heads(page, &Filter::default(), Timestamp::now()).await?.records;
    let named = sends.iter().map(|send| {
        let name = send_words::name(viewer.text, send);
        (send.id, format!("{name} ({})", viewer.minute(send.created_at)))
    });
    Ok(named.collect())
}

/// The form. What it finds is shown below it while a person types and chooses.
pub(super) fn form(
    text: Text,
    listed: &Listed,
    offered: &[Tag],
    sends: &[(Uuid, String)],
    added: &Form,
) -> Markup {
    let search = listed.search.as_deref().unwrap_or_default();
    html! {
        form.search method="get" action=(PLACE) role="search" data-search="found" {
            label for="search" { (text.get("contacts-search")) }
            input id="search" type="search" name="search" value=(search) maxlength=(SEARCH) autocomplete="off";
            button.plain type="submit" { (text.get("contacts-find")) }
            div.filters {
                @if !offered.is_empty() {
                    details.by-tags id="by-tags" {
                        summary { (Icon::Filter) (text.get("contacts-by-tags")) }
                        div.columns {
                            (choices("tag", &text.get("contacts-having"), &listed.tags, offered))
                            (choices("not", &text.get("contacts-lacking"), &listed.without, offered))
                        }
                        button.plain type="submit" { (text.get("contacts-show")) }
                    }
                }
                @if !sends.is_empty() || listed.reached.is_some() { (by_send(text, listed, sends)) }
                (conditions::form(text, listed, added))
            }
            @if let Some(segment) = &listed.segment { input type="hidden" name="segment" value=(segment.id); }
        }
    }
}

/// The choice of a send and of its outcome.
fn by_send(text: Text, listed: &Listed, sends: &[(Uuid, String)]) -> Markup {
    let chosen =
        listed.reached.as_ref().map(|(by_send, name)| (by_send.send, name.clone(), by_send.reception));
    let reception = chosen.as_ref().map_or(Reception::NotRead, |(.., reception)| *reception);
    let send = chosen.as_ref().map(|(send, ..)| send.to_string()).unwrap_or_default();
    let form = Form::filled(text, [("send", send), ("outcome", reception.to_string())]);
    let older = chosen.into_iter().map(|(send, name, _)| (send, name));
    let older = older.filter(|(send, _)| !sends.iter().any(|(known, _)| known == send));
    let offered = older.chain(sends.iter().cloned()).map(|(send, name)| (send.to_string(), name));
    let any = std::iter::once((String::new(), text.get("contacts-any-send")));
    let receptions = Reception::ALL.iter().map(|word| (word.as_str(), send_words::reception(text, *word)));
    html! {
        details.by-tags id="by-send" {
            summary { (Icon::Filter) (text.get("contacts-by-send")) }
            div.row.bottom {
                (Field::new(&form, "send", &text.get("contacts-send")).select(any.chain(offered)))
                (Field::new(&form, "outcome", &text.get("contacts-outcome")).select(receptions))
                button.plain type="submit" { (text.get("contacts-show")) }
            }
        }
    }
}

/// A box for each tag, the chosen ones first.
fn choices(name: &str, label: &str, chosen: &[TagSummary], offered: &[Tag]) -> Markup {
    let others = offered.iter().map(|tag| &tag.summary);
    let others = others.filter(|tag| !chosen.iter().any(|chosen| chosen.id == tag.id));
    let all = chosen.iter().map(|tag| (tag, true)).chain(others.map(|tag| (tag, false)));
    html! {
        fieldset.field.choices {
            legend { (label) }
            @for (known, is_chosen) in all {
                label.choice {
                    input type="checkbox" name=(name) value=(known.id) checked[is_chosen];
                    (tag::tag(known))
                }
            }
        }
    }
}

/// What narrows the list now, each with a link that takes it away, and the tags by which it can be narrowed further.
pub(super) fn chips(text: Text, listed: &Listed, offered: &[Tag]) -> Markup {
    let room = if listed.tags.len() < MOST { SHOWN } else { 0 };
    let more: Vec<&Tag> = offered.iter().filter(|tag| !listed.names(tag.summary.id)).take(room).collect();
    html! {
        @if listed.is_narrowed() {
            ul.tags.in-use aria-label=(text.get("contacts-in-use")) {
                @for known in &listed.tags {
                    (removable(&text.with("contacts-with", [("tag", known.name.as_str().into())]), listed, known))
                }
                @for known in &listed.without {
                    (removable(&text.with("contacts-without", [("tag", known.name.as_str().into())]), listed, known))
                }
                @if let Some((by_send, name)) = &listed.reached {
                    @let words = format!("{}: {name}", send_words::reception(text, by_send.reception));
                    (chip(&words, FACT, &listed.without_send()))
                }
                @for (place, condition) in listed.conditions.iter().enumerate() {
                    (chip(&conditions::words(text, listed, condition), FACT, &listed.without_condition(place)))
                }
                li { a.plain href=(PLACE) { (text.get("contacts-show-all")) } }
                @if let Some(only) = listed.only_tag() {
                    li { a.plain href=(format!("{PLACE}/tags/{}", only.id)) { (text.get("contacts-tag-open")) } }
                }
            }
        }
        @if !more.is_empty() {
            ul.tags aria-label=(text.get("contacts-tags")) {
                @for known in more {
                    li {
                        a class=(tag::class(&known.summary)) href=(listed.narrowed(&known.summary).place()) {
                            bdi { (known.summary.name) } " " (text.number(known.contacts))
                        }
                    }
                }
            }
        }
    }
}

fn removable(words: &str, listed: &Listed, known: &TagSummary) -> Markup {
    chip(words, tag::class(known), &listed.widened(known.id))
}

/// A link that takes a filter away and leads to the list without it.
fn chip(words: &str, class: &str, wider: &Listed) -> Markup {
    html! {
        li {
            a class=(class) href=(wider.place()) {
                bdi { (words) } " " span aria-hidden="true" { "×" }
            }
        }
    }
}
