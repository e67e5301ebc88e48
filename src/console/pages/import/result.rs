//! The result of a file: its first contacts as they would be stored, the tags that it gives, and the rows with
//! problems.

use maud::{Markup, html};

use crate::console::component::badge::{Tone, badge};
use crate::console::component::formatting::beginning;
use crate::console::component::number::grouped;
use crate::console::component::table::{Column, table};
use crate::console::pages::rejected_rows::{reason, remedy};
use crate::console::text::Text;
use crate::domain::contact::Person;
use crate::engine::Shown;
use crate::engine::records::contacts::{ContactDraft, Upserted};
use crate::engine::records::imports::Rejected;
use crate::import::Settings;

/// The most contacts that are shown, rows with problems of each kind, and tags of the file and of one contact.
const CONTACTS: usize = 5;
const PROBLEMS: usize = 5;
const TAGS: usize = 30;
const TAGS_OF_ONE: usize = 10;
/// Characters that are shown of a field, and of a rejected row.
const CHARS: usize = 80;

/// What a contact has in one of its fields.
type FieldOf = fn(&Person) -> &str;

/// The contacts, the tags and the problems.
pub(super) fn result(text: Text, settings: &Settings, shown: &Shown) -> Markup {
    let step = &shown.preview.step;
    html! {
        div.import-result {
            section {
                h2 { (text.get("imports-contacts")) }
                @if step.drafts.is_empty() {
                    p { (text.get("imports-no-contacts")) }
                } @else {
                    (contacts(text, settings, shown))
                }
                @if !shown.tags.is_empty() { (tags(text, shown)) }
            }
            @if !step.rejected.is_empty() || !shown.preview.left_out.is_empty() {
                section.panel.problems {
                    h2 { (text.get("imports-problems")) }
                    (problems(text, settings, shown))
                }
            }
        }
    }
}

/// The first contacts, each with what happens to it.
fn contacts(text: Text, settings: &Settings, shown: &Shown) -> Markup {
    let drafts = &shown.preview.step.drafts;
    let first: Vec<(&ContactDraft, &Upserted)> = drafts.iter().zip(&shown.results).take(CONTACTS).collect();
    let has = |field: FieldOf| first.iter().any(|(draft, _)| !field(&draft.person).is_empty());
    let fields: [(&str, FieldOf); 3] = [
        ("imports-field-email", |person| &person.email),
        ("imports-field-lid", |person| person.phone_number_lid.as_deref().unwrap_or_default()),
        ("imports-field-picture", |person| &person.profile_picture),
    ];
    let fields: Vec<_> = fields.into_iter().filter(|(_, field)| has(*field)).collect();
    let mut heads =
        vec![Column::words(text.get("contacts-name")), Column::words(text.get("imports-field-number"))];
    heads.extend(fields.iter().map(|(key, _)| Column::words(text.get(key))));
    heads.push(Column::words(text.get("imports-field-tags")));
    let rows = first.iter().map(|(draft, happens)| {
        let person = &draft.person;
        let mut row = vec![html! { (name(person)) " " (happening(text, happens)) }, number(text, person)];
        row.extend(fields.iter().map(|(_, field)| html! { bdi { (beginning(field(person), CHARS)) } }));
        row.push(tags_of(text, draft, settings));
        row
    });
    table(&text.get("imports-contacts"), &heads, rows)
}

fn name(person: &Person) -> Markup {
    let name = format!("{} {}", person.first_name, person.last_name);
    let name = match name.trim() {
        "" => "—",
        name => beginning(name, CHARS),
    };
    html! { bdi { (name) } }
}

fn number(text: Text, person: &Person) -> Markup {
    match person.phone() {
        Some(number) => html! { bdi.figures { (grouped(number)) } },
        None => html! {
            @if !person.phone_number.is_empty() { bdi { (beginning(&person.phone_number, CHARS)) } " " }
            (badge(Tone::Warning, &text.get("imports-no-messages")))
        },
    }
}

fn tags_of(text: Text, draft: &ContactDraft, settings: &Settings) -> Markup {
    let count = draft.tags.len() + settings.tags.len();
    html! {
        @for name in draft.tags.iter().chain(&settings.tags).take(TAGS_OF_ONE) {
            (badge(Tone::Plain, beginning(name, CHARS))) " "
        }
        @if count > TAGS_OF_ONE { (text.with("imports-more", [("count", (count - TAGS_OF_ONE).into())])) }
    }
}

fn happening(text: Text, happens: &Upserted) -> Markup {
    let (tone, key) = match happens {
        Upserted::Created => (Tone::Good, "imports-is-new"),
        Upserted::Updated => (Tone::Busy, "imports-is-updated"),
        Upserted::Unchanged => (Tone::Plain, "imports-is-unchanged"),
    };
    badge(tone, &text.get(key))
}

/// The tags that the examined rows get.
fn tags(text: Text, shown: &Shown) -> Markup {
    html! {
        h2 { (text.get("imports-given-tags")) }
        ul.given-tags {
            @for tag in shown.tags.iter().take(TAGS) {
                li {
                    bdi { strong { (beginning(&tag.name, CHARS)) } } " "
                    span.soft { (text.with("imports-tag-contacts", [("count", tag.count.into())])) }
                    @if tag.is_new { " " (badge(Tone::Good, &text.get("imports-tag-new"))) }
                }
            }
            @if shown.tags.len() > TAGS {
                li.soft { (text.with("imports-more", [("count", (shown.tags.len() - TAGS).into())])) }
            }
        }
    }
}

/// The rows with problems: what is wrong, and what to do.
fn problems(text: Text, settings: &Settings, shown: &Shown) -> Markup {
    let place = |line: u64| match settings.sheet {
        Some(_) => text.with("imports-row", [("row", line.into())]),
        None => text.with("imports-line", [("line", line.into())]),
    };
    let (rejected, left_out) = (&shown.preview.step.rejected, &shown.preview.left_out);
    let more = rejected.len().saturating_sub(PROBLEMS) + left_out.len().saturating_sub(PROBLEMS);
    html! {
        ul {
            @for row in rejected.iter().take(PROBLEMS) {
                li {
                    p {
                        strong { (place(row.line)) } " " (badge(Tone::Bad, &text.get("imports-is-rejected")))
                        br;
                        (reason(text, row)) "."
                        @if let Some(remedy) = remedy(text, row) { " " (remedy) }
                    }
                    p.soft { bdi { (cells(row)) } }
                }
            }
            @for (line, address) in left_out.iter().take(PROBLEMS) {
                li {
                    p {
                        strong { (place(*line)) } " " (badge(Tone::Warning, &text.get("imports-is-without-email")))
                        br;
                        (text.with("imports-wrong-email", [("address", beginning(address, CHARS).into())]))
                    }
                }
            }
        }
        @if more > 0 { p { (text.with("imports-more-problems", [("count", more.into())])) } }
    }
}

/// The beginning of a rejected row.
fn cells(row: &Rejected) -> String {
    let cells: Vec<&str> =
        row.fields.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    beginning(&cells.join(" · "), CHARS).to_owned()
}
