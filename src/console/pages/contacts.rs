//! The list of contacts: search, pages, tags, and actions on many contacts at once.

mod listed;

use std::time::Duration;

use actix_web::web::Data;
use maud::{Markup, html};
use tokio::time::timeout;
use uuid::Uuid;

use self::listed::Listed;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::icon::Icon;
use crate::console::component::notice;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::contact::{Contact, Tag, TagSummary};
use crate::domain::page::{Page as Records, PageRequest};
use crate::engine::Whom;
use crate::engine::records::contacts::Membership;
use crate::import;

/// The path of this page.
pub(super) const PLACE: &str = "/console/contacts";
/// Characters of a search.
const SEARCH: usize = 200;
/// The number of tags that are offered while a tag is typed.
const TAGS: u64 = 100;
/// The number of tags that are shown above the list.
const SHOWN_TAGS: usize = 20;
/// The maximum of contacts that are selected one by one.
const MOST_PICKED: usize = 1_000;
/// How long a page waits for a change of many contacts. The change continues after that.
const PATIENCE: Duration = Duration::from_secs(5);

/// The data of the page.
struct Shown {
    listed: Listed,
    page: PageRequest,
    found: Records<Contact>,
    tags: Records<Tag>,
    done: Option<String>,
}

pub(in crate::console) async fn list(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let listed = Listed::read(&state, &viewer, query.text("search", SEARCH), query.one("tag")).await?;
    let shown = read(&viewer, &state, listed, query.page(state.options.page_size)).await?;
    Ok(page(&viewer, Some(&query), &Form::new(viewer.text), &shown))
}

/// Tags, untags or deletes the selected contacts, or all that the list has.
pub(in crate::console) async fn change(
    viewer: Viewer,
    state: Data<State>,
    mut form: Form,
) -> Result<Answer, Error> {
    let text = viewer.text;
    let action = form.choice("action", &["tag", "untag", "delete"]);
    let search = Some(form.words().one("search")).filter(|search| !search.is_empty());
    let listed = Listed::read(&state, &viewer, search, form.words().one("of_tag")).await?;
    let is_all = form.words().one("scope") == "all";
    let picked = form.words().all("contact").filter_map(|id| Uuid::try_parse(id).ok());
    let ids: Vec<Uuid> = picked.take(MOST_PICKED).collect();
    if !is_all && ids.is_empty() {
        form.fault("scope", text.get("contacts-none-picked"));
    }
    let tag = match action {
        Some("tag" | "untag") => tag(&viewer, &state, &mut form, action == Some("tag")).await?,
        _ => None,
    };
    if form.has_faults() {
        let first = PageRequest { page: 1, limit: state.options.page_size };
        let shown = read(&viewer, &state, listed, first).await?;
        return Ok(page(&viewer, None, &form, &shown).unprocessable().into());
    }
    if action == Some("delete") && form.words().one("sure") != "yes" {
        let count = match is_all {
            true => listed.page(&state, &viewer, PageRequest { page: 1, limit: 1 }).await?.total,
            false => ids.len() as u64,
        };
        return Ok(ask(&viewer, &form, &listed, count).into());
    }
    let whom = if is_all { listed.whom() } else { Whom::Named { ids, numbers: Vec::new() } };
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
            state.flashes.put(viewer.session, "done", sentence);
            Ok(Answer::to(listed.place()))
        })
        .await
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
async fn tag(
    viewer: &Viewer,
    state: &State,
    form: &mut Form,
    may_create: bool,
) -> Result<Option<Uuid>, Error> {
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

async fn read(viewer: &Viewer, state: &State, listed: Listed, page: PageRequest) -> Result<Shown, Error> {
    let found = listed.page(state, viewer, page).await?;
    let records = state.engine.company(viewer.company.id).await?;
    let tags = records.tags().page(PageRequest { page: 1, limit: TAGS }, None).await?;
    let done = state.flashes.take(viewer.session, "done");
    Ok(Shown { listed, page, found, tags, done })
}

/// Asks for confirmation before so many contacts are deleted.
fn ask(viewer: &Viewer, form: &Form, listed: &Listed, count: u64) -> Page {
    let text = viewer.text;
    let is_kept = |name: &str| matches!(name, "action" | "scope" | "search" | "of_tag" | "contact");
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

fn page(viewer: &Viewer, query: Option<&Query>, form: &Form, shown: &Shown) -> Page {
    let text = viewer.text;
    let search = shown.listed.search.as_deref().unwrap_or_default();
    // A list without contacts has its button in the middle.
    let is_empty = shown.found.total == 0 && search.is_empty() && shown.listed.tag.is_none();
    let action = html! {
        div.actions {
            a.button.plain href="/console/contacts/tags" { (text.get("contacts-tags")) }
            @if viewer.may_work() {
                a.button.plain href="/console/contacts/import" { (Icon::Upload) (text.get("contacts-import")) }
                a.button.plain[is_empty] href="/console/contacts/new" { (Icon::Add) (text.get("contacts-new")) }
            }
        }
    };
    let body = html! {
        @if let Some(done) = &shown.done { (notice::done(done)) }
        (faults(form))
        form.search method="get" action="/console/contacts" role="search" data-search="found" {
            label for="search" { (text.get("contacts-search")) }
            input id="search" type="search" name="search" value=(search) maxlength=(SEARCH) autocomplete="off";
            @if let Some(tag) = &shown.listed.tag { input type="hidden" name="tag" value=(tag.id); }
            button.plain type="submit" { (text.get("contacts-find")) }
        }
        (tag_list(viewer, &shown.tags.records, shown.listed.tag.as_ref()))
        div id="found" { (found(viewer, query, form, shown)) }
    };
    Page::new(text.get("contacts-title"), Menu::Contacts, body).action(action)
}

/// The tags with their counts. Each links to the list of its contacts.
fn tag_list(viewer: &Viewer, tags: &[Tag], chosen: Option<&TagSummary>) -> Markup {
    let text = viewer.text;
    let is_chosen = |tag: &Tag| chosen.is_some_and(|chosen| chosen.id == tag.summary.id);
    let of = |tag: &TagSummary| Listed { search: None, tag: Some(tag.clone()) }.place();
    html! {
        @if let Some(tag) = chosen {
            p role="status" {
                (text.get("contacts-with-tag")) " "
                a href=(format!("/console/contacts/tags/{}", tag.id)) { bdi { (tag.name) } } " · "
                a href=(PLACE) { (text.get("contacts-show-all")) }
            }
        }
        @if !tags.is_empty() {
            ul.tags aria-label=(text.get("contacts-tags")) {
                @for tag in tags.iter().take(SHOWN_TAGS) {
                    li {
                        a href=(of(&tag.summary)) aria-current=[is_chosen(tag).then_some("true")] {
                            bdi { (tag.summary.name) } " " span.soft { (text.number(tag.contacts)) }
                        }
                    }
                }
            }
        }
    }
}

fn found(viewer: &Viewer, query: Option<&Query>, form: &Form, shown: &Shown) -> Markup {
    let text = viewer.text;
    let total = shown.found.total;
    if total == 0 {
        return match (&shown.listed.search, &shown.listed.tag) {
            (Some(_), _) => empty(
                &text.get("contacts-nothing-found"),
                &html! { a href=(PLACE) { (text.get("contacts-show-all")) } },
            ),
            (None, Some(_)) => empty(&text.get("contacts-none-tagged"), &html! {}),
            (None, None) => empty(
                &text.get("contacts-nobody"),
                &html! { a.button href="/console/contacts/import" { (text.get("contacts-import")) } },
            ),
        };
    }
    let columns = [
        Column::words(text.get("contacts-name")),
        Column::words(text.get("contacts-number")),
        Column::words(text.get("contacts-email")),
        Column::words(text.get("contacts-tags")),
        Column::words(text.get("contacts-since")),
    ];
    let rows = shown.found.records.iter().map(|contact| row(viewer, form, contact));
    let export = shown.listed.query();
    html! {
        p {
            span role="status" { (text.with("contacts-total", [("count", total.into())])) } " "
            a href=(format!("/console/contacts/export?{export}")) { (text.get("contacts-export")) }
        }
        form method="post" action="/console/contacts/change" {
            (table(&text.get("contacts-title"), &columns, rows))
            @if viewer.may_work() { (bulk(viewer, form, shown)) }
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
        html! { bdi { (contact.person.phone_number) } },
        html! { bdi { (contact.person.email) } },
        html! { @for tag in &contact.tags { (tag_badge(tag)) " " } },
        moment(viewer, contact.created_at),
    ]
}

/// The display name of a contact: its name, or else its number or e-mail address.
pub(in crate::console) fn name(contact: &Contact) -> String {
    let person = &contact.person;
    let name = format!("{} {}", person.first_name, person.last_name);
    let name = name.trim();
    let known = [name, &person.phone_number, &person.email].into_iter().find(|text| !text.is_empty());
    known.unwrap_or("—").to_owned()
}

/// A tag as a badge, with its name and colour.
pub(in crate::console) fn tag_badge(tag: &TagSummary) -> Markup {
    html! { span.badge.plain { bdi { (tag.name) } } }
}

/// The actions on the selected contacts, or on all.
fn bulk(viewer: &Viewer, form: &Form, shown: &Shown) -> Markup {
    let text = viewer.text;
    let count = [("count", shown.found.total.into())];
    let all = match &shown.listed {
        Listed { search: Some(_), .. } => text.with("contacts-scope-found", count),
        Listed { search: None, tag: Some(_) } => text.with("contacts-scope-tagged", count),
        Listed { search: None, tag: None } => text.with("contacts-scope-everybody", count),
    };
    let is_all = form.is_ticked("scope", "all");
    html! {
        fieldset.panel {
            legend { (text.get("contacts-do")) }
            (once(form))
            @if let Some(search) = &shown.listed.search { input type="hidden" name="search" value=(search); }
            @if let Some(tag) = &shown.listed.tag { input type="hidden" name="of_tag" value=(tag.id); }
            label.choice { input type="radio" name="scope" value="picked" checked[!is_all]; span { (text.get("contacts-scope-picked")) } }
            label.choice { input type="radio" name="scope" value="all" checked[is_all]; span { (all) } }
            @if let Some(fault) = form.fault_of("scope") { p.fault { (fault) } }
            (Field::new(form, "tag", &text.get("contacts-tag")).most(100).around(&html! {
                input id="field-tag" type="text" name="tag" value=(form.value("tag")) maxlength="100" list="known-tags" autocomplete="off";
            }))
            datalist id="known-tags" { @for tag in &shown.tags.records { option value=(tag.summary.name) {} } }
            p.actions {
                button.plain type="submit" name="action" value="tag" { (text.get("contacts-do-tag")) }
                button.plain type="submit" name="action" value="untag" { (text.get("contacts-do-untag")) }
                button.risky type="submit" name="action" value="delete" { (text.get("contacts-do-delete")) }
            }
        }
    }
}
