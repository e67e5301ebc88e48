//! The list of contacts: search, filter by tags, pages, and actions on many contacts at once.

mod conditions;
mod filters;
pub(super) mod listed;
pub(super) mod selection;

use std::time::Duration;

use actix_web::web::Data;
use maud::{Markup, html};
use tokio::time::timeout;
use uuid::Uuid;

use self::listed::{Listed, OF_FORM, OF_QUERY};
use self::selection::Selected;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::assets;
use crate::console::component::empty::empty;
use crate::console::component::field::{faults, once};
use crate::console::component::icon::Icon;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::component::{notice, number, tag};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::segments;
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, Person, Tag};
use crate::domain::page::{Page as Records, PageRequest};
use crate::engine::records::contacts::Membership;
use crate::engine::records::segments::SavedSegment;
use crate::import;

/// The path of this page.
pub(super) const PLACE: &str = "/console/contacts";
/// Characters of a search.
const SEARCH: usize = 200;
/// The name of the sentence that the next page of the list shows: nobody was selected.
pub(super) const NONE_PICKED: &str = "none-picked";
/// The number of tags that are offered while a tag is typed.
const TAGS: u64 = 100;
/// How long a page waits for a change of many contacts. The change continues after that.
const PATIENCE: Duration = Duration::from_secs(5);

/// The data of the page.
struct Shown {
    listed: Listed,
    page: PageRequest,
    found: Records<Contact>,
    tags: Records<Tag>,
    /// The latest sends, by which the list can be narrowed.
    sends: Vec<(Uuid, String)>,
    segments: Vec<SavedSegment>,
}

pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let mut listed = Listed::read(&state, &viewer, &query, OF_QUERY).await?;
    let added = conditions::add(&viewer, &query, &mut listed);
    let shown = read(&viewer, &state, listed, query.page(state.options.page_size)).await?;
    let mut form = Form::new(viewer.text);
    if let Some(sentence) = state.flashes.take(viewer.session, NONE_PICKED) {
        form.fault("scope", sentence);
    }
    Ok(page(&viewer, Some(&query), (&form, &added), &shown))
}

/// Tags, untags or deletes the selected contacts, or leads to a new send to them.
pub(crate) async fn change(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let action = form.choice("action", &["tag", "untag", "send", "delete"]);
    let listed = of_form(&viewer, &state, &form).await?;
    let selected = Selected::read(&mut form);
    let tag = match action {
        Some("tag" | "untag") => tag(&viewer, &state, &mut form, action == Some("tag")).await?,
        _ => None,
    };
    if action == Some("send") && !form.has_faults() {
        match selected.new_send(&listed) {
            Some(address) => return Ok(Answer::to(address)),
            None => form.fault("scope", text.get("contacts-send-by-tag")),
        }
    }
    if form.has_faults() {
        return again(&viewer, &state, &form, listed).await;
    }
    if action == Some("delete") && form.words().one("sure") != "yes" {
        let count = match &selected {
            Selected::All => listed.page(&state, &viewer, PageRequest { page: 1, limit: 1 }).await?.total,
            Selected::These(ids) => ids.len() as u64,
        };
        return Ok(ask(&viewer, &form, &listed, count).into());
    }
    let whom = selected.whom(&listed);
    state
        .once
        .act(&viewer, &form, async || {
            let engine = &state.engine;
            let (company, who) = (viewer.company.id, viewer.who());
            let changing = async {
                match (action, tag) {
                    (Some("tag"), Some(tag)) => {
                        engine.contacts().change_members(&who, company, tag, whom, Membership::Add).await
                    }
                    (Some("untag"), Some(tag)) => {
                        engine.contacts().change_members(&who, company, tag, whom, Membership::Remove).await
                    }
                    _ => engine.contacts().delete(&who, company, whom).await,
                }
            };
            let sentence = match timeout(PATIENCE, changing).await {
                Ok(changed) => done(&viewer, action, changed?),
                Err(_) => text.get("contacts-goes-on"),
            };
            Ok(Answer::done(&state, &viewer, sentence, listed.place()))
        })
        .await
}

/// The list that a form was sent from.
pub(super) async fn of_form(viewer: &Viewer, state: &State, form: &Form) -> Result<Listed> {
    Listed::read(state, viewer, form.words(), OF_FORM).await
}

/// The page that a form was on, with the form's faults: its boxes, and "all on this page", mean the same contacts again.
pub(super) async fn again(viewer: &Viewer, state: &State, form: &Form, listed: Listed) -> Result<Answer> {
    let number = form.words().one("page").parse().unwrap_or(1_u128).max(1);
    let same = PageRequest { page: number, limit: state.options.page_size };
    let shown = read(viewer, state, listed, same).await?;
    let added = Form::new(viewer.text);
    Ok(page(viewer, None, (form, &added), &shown).unprocessable().into())
}

fn done(viewer: &Viewer, action: Option<&str>, changed: u64) -> String {
    let count = [("count", changed.into())];
    match action {
        Some("tag") => viewer.text.with("contacts-tagged", count),
        Some("untag") => viewer.text.with("contacts-untagged", count),
        _ => viewer.text.with("contacts-deleted", count),
    }
}

/// The tag of this name. With `may_create`, a tag that does not exist is created.
async fn tag(viewer: &Viewer, state: &State, form: &mut Form, may_create: bool) -> Result<Option<Uuid>> {
    let name = form.required("tag", 100);
    if form.has_faults() {
        return Ok(None);
    }
    let Ok(name) = import::check_tag(&name) else {
        form.fault("tag", viewer.text.get("contacts-tag-name-wrong"));
        return Ok(None);
    };
    let records = state.engine.company(viewer.company.id).await?;
    if may_create {
        let written = records.tags().write(&viewer.who(), &[(name, None)], Timestamp::now()).await?;
        return Ok(written.first().map(|(id, _)| *id));
    }
    let found = records.tags().named(&name).await?;
    if found.is_none() {
        form.fault("tag", viewer.text.get("contacts-tag-unknown"));
    }
    Ok(found)
}

async fn read(viewer: &Viewer, state: &State, listed: Listed, page: PageRequest) -> Result<Shown> {
    let found = listed.page(state, viewer, page).await?;
    let records = state.engine.company(viewer.company.id).await?;
    let tags = records.tags().page(PageRequest { page: 1, limit: TAGS }, None).await?;
    let segments = records.segments().all().await?;
    drop(records);
    let sends = filters::latest(state, viewer).await?;
    Ok(Shown { listed, page, found, tags, sends, segments })
}

/// Asks for confirmation before so many contacts are deleted.
fn ask(viewer: &Viewer, form: &Form, listed: &Listed, count: u64) -> Page {
    let text = viewer.text;
    let is_kept = |name: &str| {
        let of_list = ["search", "send", "outcome", "segment"].iter().chain(&OF_FORM);
        matches!(name, "action" | "scope" | "contact" | "shown")
            || of_list.copied().any(|known| known == name)
    };
    let sent = form.words().iter().filter(|(name, _)| is_kept(name));
    let body = html! {
        (notice::warning(&html! { p { (text.with("contacts-delete-question", [("count", count.into())])) } }))
        form method="post" action="/console/contacts/change" {
            (once(form))
            @for (name, value) in sent { input type="hidden" name=(name) value=(value); }
            input type="hidden" name="sure" value="yes";
            button.danger type="submit" { (text.with("contacts-delete-sure", [("count", count.into())])) }
            " "
            a href=(listed.place()) { (text.get("contacts-back")) }
        }
    };
    Page::new(text.get("contacts-delete-title"), Menu::Contacts, body)
}

/// The page with the form of the selection, and that of a condition.
fn page(viewer: &Viewer, query: Option<&Query>, (form, added): (&Form, &Form), shown: &Shown) -> Page {
    let text = viewer.text;
    // A list without contacts has its button in the middle.
    let is_empty = shown.found.total == 0 && shown.listed.is_everybody();
    let action = html! {
        div.actions {
            a.button.plain href="/console/contacts/tags" { (text.get("contacts-tags")) }
            a.button.plain href="/console/contacts/fields" { (text.get("contacts-own-fields")) }
            @if viewer.may_work() {
                a.button.plain href="/console/contacts/import" { (Icon::Upload) (text.get("contacts-import")) }
                a.button.plain[is_empty] href="/console/contacts/new" { (Icon::Add) (text.get("contacts-new")) }
            }
        }
    };
    let body = html! {
        (faults(form))
        (segments::list(text, &shown.listed, &shown.segments))
        (filters::form(text, &shown.listed, &shown.tags.records, &shown.sends, added))
        div id="found" {
            (filters::chips(text, &shown.listed, &shown.tags.records))
            (segments::saving(viewer, form, &shown.listed))
            (found(viewer, query, form, shown))
        }
    };
    Page::new(text.get("contacts-title"), Menu::Contacts, body).action(action).script(&assets::CONTACTS)
}

fn found(viewer: &Viewer, query: Option<&Query>, form: &Form, shown: &Shown) -> Markup {
    let text = viewer.text;
    let total = shown.found.total;
    if let Some(lack) = shown.listed.lack() {
        return segments::outdated(text, lack);
    }
    if total == 0 {
        let import = html! { a.button href="/console/contacts/import" { (text.get("contacts-import")) } };
        return if shown.listed.is_everybody() {
            empty(&text.get("contacts-nobody"), &import)
        } else if shown.listed.only_tag().is_some() {
            empty(&text.get("contacts-none-tagged"), &html! {})
        } else {
            empty(
                &text.get("contacts-nothing-found"),
                &html! { a href=(PLACE) { (text.get("contacts-show-all")) } },
            )
        };
    }
    let columns = Column::all(
        text,
        ["contacts-name", "contacts-number", "contacts-email", "contacts-tags", "contacts-since"],
    );
    let rows = shown.found.records.iter().map(|contact| row(viewer, form, contact));
    let export = shown.listed.query();
    html! {
        p {
            span role="status" { (text.with("contacts-total", [("count", total.into())])) } " "
            a href=(format!("/console/contacts/export?{export}")) { (text.get("contacts-export")) }
        }
        form method="post" action="/console/contacts/change" data-selection=(total) {
            @if viewer.may_work() { (selection::bar(viewer, form, shown)) }
            (table(&text.get("contacts-title"), &columns, rows))
        }
        @if let Some(query) = query { (pager(text, query, shown.page, total)) }
    }
}

fn row(viewer: &Viewer, form: &Form, contact: &Contact) -> Vec<Markup> {
    let name = name(contact);
    let id = contact.id.to_string();
    vec![
        html! {
            @if viewer.may_work() {
                input type="checkbox" name="contact" value=(id) checked[form.is_ticked("contact", &id)]
                    aria-label=(viewer.text.with("contacts-pick", [("name", name.as_str().into())]));
                " "
            }
            a href=(format!("/console/contacts/{id}")) { bdi { (name) } }
        },
        html! { bdi.digits { (number_of(&contact.person)) } },
        html! { bdi { (contact.person.email) } },
        html! { @for known in &contact.tags { (tag::tag(known)) " " } },
        moment(viewer, contact.created_at),
    ]
}

/// The number of a person in groups of digits; what the company wrote, if that is no number.
pub(super) fn number_of(person: &Person) -> String {
    number::written(&person.phone_number)
}

/// The display name of a contact: its name, or else its number or e-mail address.
pub(crate) fn name(contact: &Contact) -> String {
    let person = &contact.person;
    let name = format!("{} {}", person.first_name, person.last_name);
    let name = name.trim();
    let known = [name, &person.phone_number, &person.email].into_iter().find(|text| !text.is_empty());
    known.unwrap_or("—").to_owned()
}
