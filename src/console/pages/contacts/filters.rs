//! The search, and the filters by tags, those that a contact has and those that it lacks, and by own fields.

use maud::{Markup, html};

use super::listed::{Listed, MOST};
use super::{PLACE, SEARCH, conditions};
use crate::console::component::icon::Icon;
use crate::console::component::tag;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::domain::contact::{Tag, TagSummary};

/// The number of tags that are shown above the list.
const SHOWN: usize = 20;

/// The form. What it finds is shown below it while a person types and chooses.
pub(super) fn form(text: Text, listed: &Listed, offered: &[Tag], added: &Form) -> Markup {
    let search = listed.search.as_deref().unwrap_or_default();
    html! {
        form.search method="get" action=(PLACE) role="search" data-search="found" {
            label for="search" { (text.get("contacts-search")) }
            input id="search" type="search" name="search" value=(search) maxlength=(SEARCH) autocomplete="off";
            button.plain type="submit" { (text.get("contacts-find")) }
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
            (conditions::form(text, listed, added))
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
                    (tag::tag(&known.name))
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
        @if !listed.tags.is_empty() || !listed.without.is_empty() || !listed.conditions.is_empty() {
            ul.tags.in-use aria-label=(text.get("contacts-in-use")) {
                @for known in &listed.tags {
                    (removable(&text.with("contacts-with", [("tag", known.name.as_str().into())]), listed, known))
                }
                @for known in &listed.without {
                    (removable(&text.with("contacts-without", [("tag", known.name.as_str().into())]), listed, known))
                }
                @for (place, condition) in listed.conditions.iter().enumerate() {
                    @let words = conditions::words(text, listed, condition);
                    (chip(&words, &words, &listed.without_condition(place)))
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
                        a class=(tag::class(&known.summary.name)) href=(listed.narrowed(&known.summary).place()) {
                            bdi { (known.summary.name) } " " (text.number(known.contacts))
                        }
                    }
                }
            }
        }
    }
}

fn removable(words: &str, listed: &Listed, known: &TagSummary) -> Markup {
    chip(words, &known.name, &listed.widened(known.id))
}

/// What narrows the list, in the colour of this name, with a link to the list without it.
fn chip(words: &str, name: &str, without: &Listed) -> Markup {
    html! {
        li {
            a class=(tag::class(name)) href=(without.place()) {
                bdi { (words) } " " span aria-hidden="true" { "×" }
            }
        }
    }
}
