//! The recipients: tags, numbers, and people who are found by a search. For a linked phone, which writes to one
//! recipient, there are the people who are found and the phone's limits.

use std::collections::{BTreeSet, HashSet};

use maud::{Markup, html};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::choice::Choice;
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::component::{number, tag};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::pages::contacts::number_of;
use crate::console::pages::segments;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::contact::{Contact, Tag};
use crate::domain::fold::fold;
use crate::domain::limit::Limit;
use crate::domain::page::PageRequest;
use crate::domain::phone::{Country, PhoneNumber};
use crate::engine::records::segments::SavedSegment;

/// The number of tags that are offered at once: the newest, or those that a search finds. Each is there twice, to choose it
/// and to leave it out.
const TAGS: u64 = 100;
/// The most chosen tags that are shown although they are not offered: as many as a send may have by default.
const MOST_CHOSEN: usize = 100;
/// The field with the tags whose people are left out.
const WITHOUT: &str = "without";
/// The shortest page, to learn how many records there are.
const ONE: PageRequest = PageRequest { page: 1, limit: 1 };
/// The number of people that a search shows.
const FOUND: u64 = 20;
/// The longest search for people, in characters.
pub(super) const SEARCH_CHARS: usize = 200;

/// The recipients to choose from, and the limits of a linked phone.
pub(super) struct Audience {
    /// The chosen tags, and those that are offered beside them.
    tags: Vec<Tag>,
    /// How many tags there are, if not all are offered.
    more_tags: Option<u64>,
    /// The search for tags.
    tag_search: String,
    /// The segments that are offered.
    segments: Vec<SavedSegment>,
    /// The people whom a search found.
    pub(super) found: Option<Vec<Contact>>,
    /// The limits of a linked phone; empty for business accounts.
    pub(super) limits: Vec<Limit>,
    /// The company's country, whose national numbers are pointed out.
    pub(super) country: Option<Country>,
}

impl Audience {
    pub(super) async fn read(
        state: &State,
        viewer: &Viewer,
        choice: &Choice,
        words: &Words,
    ) -> Result<Self, Error> {
        let company = viewer.company.id;
        let phone = choice.channel.as_ref().filter(|_| choice.is_web());
        let limits = match phone {
            Some(channel) => state.engine.channels().limits(channel).await?.limits,
            None => Vec::new(),
        };
        let records = state.engine.company(company).await?;
        let first = PageRequest { page: 1, limit: TAGS };
        let tag_search: String = words.one("find_tag").chars().take(SEARCH_CHARS).collect();
        let (mut tags, mut more_tags) = (Vec::new(), None);
        if phone.is_none() {
            let search = Some(tag_search.as_str()).filter(|search| !search.is_empty());
            let offered = records.tags().page(first, search).await?;
            let is_searched = search.is_some();
            let all = if is_searched { records.tags().page(ONE, None).await?.total } else { offered.total };
            more_tags = (all > TAGS).then_some(all);
            tags = offered.records;
            // A chosen tag stays, whatever is offered.
            let known: HashSet<Uuid> = tags.iter().map(|tag| tag.summary.id).collect();
            let named = words.all("tag").chain(words.all(WITHOUT));
            let chosen: BTreeSet<Uuid> = named.filter_map(|id| id.parse().ok()).collect();
            for id in chosen.into_iter().filter(|id| !known.contains(id)).take(2 * MOST_CHOSEN) {
                tags.extend(records.tags().find(id).await?);
            }
        }
        let segments = if phone.is_none() { records.segments().all().await? } else { Vec::new() };
        tags.sort_by_cached_key(|tag| fold(&tag.summary.name));
        let search: String = words.one("find").chars().take(SEARCH_CHARS).collect();
        let found = if !search.is_empty() {
            let page = PageRequest { page: 1, limit: FOUND };
            Some(records.contacts().page(page, Some(&search)).await?.records)
        } else {
            None
        };
        let country = records.country().await?.likely();
        Ok(Self { tags, more_tags, tag_search, segments, found, limits, country })
    }

    /// The names of the chosen tags and segments.
    pub(super) fn chosen_tags(&self, words: &Words) -> Vec<String> {
        let is_chosen = |segment: &&SavedSegment| words.has("segment", &segment.id.to_string());
        let segments = self.segments.iter().filter(is_chosen).map(|segment| segment.name.clone());
        self.names(words, "tag").into_iter().chain(segments).collect()
    }

    /// The names of the tags whose people are left out.
    pub(super) fn left_out_tags(&self, words: &Words) -> Vec<String> {
        self.names(words, WITHOUT)
    }

    fn names(&self, words: &Words, field: &str) -> Vec<String> {
        let chosen = ids(words, field);
        let tags = self.tags.iter().filter(|tag| chosen.contains(&tag.summary.id));
        tags.map(|tag| tag.summary.name.clone()).collect()
    }
}

/// The tags that a field names.
fn ids(words: &Words, field: &str) -> HashSet<Uuid> {
    words.all(field).filter_map(|id| id.parse().ok()).collect()
}

/// The numbers of an area: one on each line, or with commas or semicolons between them.
fn numbers(words: &Words) -> impl Iterator<Item = &str> {
    let numbers = words.raw("numbers").unwrap_or_default().split(['\n', '\r', ',', ';']);
    numbers.map(str::trim).filter(|number| !number.is_empty())
}

/// What the numbers are read as while they are typed.
pub(super) async fn reading(state: &State, viewer: &Viewer, words: &Words) -> Result<Markup, Error> {
    let country = state.engine.company(viewer.company.id).await?.country().await?.likely();
    // The one number of a linked phone has a field of its own.
    let one = words.all("number").map(str::trim).filter(|number| !number.is_empty());
    Ok(number::read_as(viewer.text, numbers(words).chain(one), country))
}

/// The first valid number that the form names.
pub(super) fn first_number(words: &Words) -> Option<PhoneNumber> {
    numbers(words).chain(words.all("person")).find_map(|number| PhoneNumber::parse(number).ok())
}

/// How many numbers and people the form names, beside its tags.
pub(super) fn count(words: &Words) -> u64 {
    numbers(words).chain(words.all("person")).count() as u64
}

/// The fields for the people whose contacts a link names by their ids: addresses have no numbers.
pub(super) async fn named(
    state: &State,
    viewer: &Viewer,
    words: &Words,
) -> Result<Vec<(&'static str, String)>, Error> {
    let ids: Vec<Uuid> = words.all("contact").filter_map(|id| id.parse().ok()).take(MOST_CHOSEN).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let records = state.engine.company(viewer.company.id).await?;
    let found = records.contacts().with_ids(&ids).await?;
    let numbered = found.into_iter().map(|contact| contact.person).filter(|person| person.phone().is_some());
    Ok(numbered.map(|person| ("person", person.phone_number)).collect())
}

/// Adds the recipients of the form to a request.
pub(super) fn add(body: &mut Map<String, Value>, words: &Words) {
    let people = numbers(words).chain(words.all("person"));
    let people: Vec<_> = people.map(Value::from).collect();
    let tags: Vec<_> = words.all("tag").map(Value::from).collect();
    body.insert("phone_number".to_owned(), people.into());
    body.insert("contact_tag_id".to_owned(), tags.into());
    let without: Vec<_> = words.all(WITHOUT).map(Value::from).collect();
    body.insert("without_contact_tag_id".to_owned(), without.into());
    let segments: Vec<_> = words.all("segment").map(Value::from).collect();
    body.insert("segment_id".to_owned(), segments.into());
}

/// The fields for recipients.
pub(super) fn fields(viewer: &Viewer, form: &Form, audience: &Audience) -> Markup {
    let text = viewer.text;
    let words = form.words();
    let (chosen, left_out) = (ids(words, "tag"), ids(words, WITHOUT));
    let is_known = |tag: &Tag| chosen.contains(&tag.summary.id) || left_out.contains(&tag.summary.id);
    html! {
        @if let Some(count) = audience.more_tags {
            p.soft { (text.with("compose-more-tags", [("count", count.into())])) }
            div.row.bottom {
                (Field::new(form, "find_tag", &text.get("compose-find-tag")).most(SEARCH_CHARS).input("search"))
                button.plain type="submit" name="action" value="find_tag" formnovalidate { (text.get("compose-find-tags-button")) }
            }
        }
        @if !audience.tag_search.is_empty() && audience.tags.iter().all(is_known) {
            p role="status" { (text.get("compose-no-tag")) }
        }
        @if !audience.tags.is_empty() {
            (boxes(form, "tag", &text.get("compose-tags"), Some(&text.get("compose-tags-hint")), &audience.tags, &chosen))
            details.more open[!left_out.is_empty()] {
                summary { (text.get("compose-leave-out")) }
                (boxes(form, WITHOUT, &text.get("compose-without"), None, &audience.tags, &left_out))
            }
        }
        (segments::choose(form, &audience.segments))
        (Field::new(form, "numbers", &text.get("compose-numbers")).hint(&text.get("compose-numbers-hint")).area(4))
        (number::read_as(text, numbers(words), audience.country))
        (people(viewer, form, audience))
    }
}

/// A box for each tag, with the number of its contacts.
fn boxes(
    form: &Form,
    name: &str,
    label: &str,
    hint: Option<&str>,
    offered: &[Tag],
    chosen: &HashSet<Uuid>,
) -> Markup {
    let text = form.text();
    html! {
        fieldset.field {
            legend { (label) }
            @if let Some(hint) = hint { p.hint { (hint) } }
            div.choices {
                @for tag in offered {
                    label.choice {
                        input type="checkbox" name=(name) value=(tag.summary.id) checked[chosen.contains(&tag.summary.id)];
                        span { (tag::tag(&tag.summary)) " " span.soft { "(" (text.number(tag.contacts)) ")" } }
                    }
                }
            }
            @if let Some(fault) = form.fault_of(name) { p.fault { (fault) } }
        }
    }
}

/// The search for people, those that it found, and those that were picked before.
fn people(viewer: &Viewer, form: &Form, audience: &Audience) -> Markup {
    let text = viewer.text;
    let picked: Vec<_> = form.words().all("person").collect();
    let found = audience.found.as_deref().unwrap_or_default();
    let is_new = |contact: &&Contact| !picked.contains(&contact.person.phone_number.as_str());
    html! {
        div.row.bottom {
            (Field::new(form, "find", &text.get("compose-find")).most(SEARCH_CHARS).input("search"))
            button.plain type="submit" name="action" value="find" formnovalidate { (text.get("compose-find-button")) }
        }
        @if audience.found.is_some() && found.is_empty() { p { (text.get("compose-found-none")) } }
        @if !picked.is_empty() || !found.is_empty() {
            fieldset.field {
                legend { (text.get("compose-people")) }
                @for number in &picked {
                    label.choice { input type="checkbox" name="person" value=(number) checked; span { bdi.digits { (number::written(number)) } } }
                }
                @for contact in found.iter().filter(|contact| contact.person.phone().is_some()).filter(is_new) {
                    @let person = &contact.person;
                    label.choice {
                        input type="checkbox" name="person" value=(person.phone_number);
                        span { bdi { (person.first_name) " " (person.last_name) } " " bdi.digits { (number_of(person)) } }
                    }
                }
            }
        }
    }
}
