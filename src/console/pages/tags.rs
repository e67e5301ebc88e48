//! Tags: their list with counts, and creating, changing and deleting them.

use actix_web::web::Data;
use maud::html;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::tag::class;
use crate::console::component::time::moment;
use crate::console::component::{confirm, copy};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::contact::Tag;
use crate::domain::page::{Page as Records, PageRequest};
use crate::engine::records::contacts::{Edited, Upserted};
use crate::import;

pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let request = query.page(state.options.page_size);
    let search = query.text("search", 200);
    let records = state.engine.company(viewer.company.id).await?;
    let tags = records.tags().page(request, search).await?;
    drop(records);
    let form = Form::filled(viewer.text, [("color", "#005f99".to_owned())]);
    Ok(list_page(&viewer, &form, Some((&query, request)), &tags))
}

pub(crate) async fn create(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let company = viewer.company.id;
    let name = read_name(&mut form);
    let color = read_color(&mut form);
    if !form.has_faults() {
        let created = state
            .once
            .attempt(&viewer, &form, async || {
                let records = state.engine.company(company).await?;
                let known = records.tags().page(PageRequest { page: 1, limit: 1_000 }, Some(&name)).await?;
                if known.records.iter().any(|tag| tag.summary.name == name) {
                    return Ok(Err(viewer.text.get("tags-name-taken")));
                }
                let written =
                    records.tags().write(&viewer.who(), &[(name.clone(), color)], Timestamp::now()).await?;
                if written.first().is_some_and(|(_, result)| *result == Upserted::Created) {
                    state.flashes.put(viewer.session, "done", viewer.text.get("tags-created"));
                }
                Ok(Ok(Answer::to("/console/contacts/tags")))
            })
            .await?;
        match created {
            Ok(answer) => return Ok(answer),
            Err(sentence) => form.fault("name", sentence),
        }
    }
    let first = PageRequest { page: 1, limit: state.options.page_size };
    let tags = state.engine.company(company).await?.tags().page(first, None).await?;
    Ok(list_page(&viewer, &form, None, &tags).unprocessable().into())
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let tag = find(&viewer, &state, id).await?;
    let form =
        Form::filled(viewer.text, [("name", tag.summary.name.clone()), ("color", tag.summary.color.clone())]);
    Ok(tag_page(&viewer, &form, &tag))
}

pub(crate) async fn change(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let tag = find(&viewer, &state, id).await?;
    let name = read_name(&mut form);
    let color = read_color(&mut form);
    if !form.has_faults() {
        let records = state.engine.company(viewer.company.id).await?;
        match records.tags().change(&viewer.who(), id.0, Some(&name), color.as_deref()).await? {
            Edited::Done => {
                let place = format!("/console/contacts/tags/{}", id.0);
                return Ok(Answer::done(&state, &viewer, viewer.text.get("tags-saved"), place));
            }
            Edited::Taken => form.fault("name", viewer.text.get("tags-name-taken")),
            Edited::Missing | Edited::Nameless | Edited::Outdated => return Err(Error::NotFound),
        }
    }
    Ok(tag_page(&viewer, &form, &tag).unprocessable().into())
}

pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    if !state.engine.contacts().delete_tag(&viewer.who(), viewer.company.id, id.0).await? {
        return Err(Error::NotFound);
    }
    Ok(Answer::done(&state, &viewer, viewer.text.get("tags-deleted"), "/console/contacts/tags"))
}

async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<Tag> {
    let records = state.engine.company(viewer.company.id).await?;
    records.tags().find(id.0).await?.ok_or(Error::NotFound)
}

fn read_name(form: &mut Form) -> String {
    let text = form.text();
    let name = form.required("name", 100);
    if form.has_faults() {
        return name;
    }
    import::check_tag(&name).unwrap_or_else(|_| {
        form.fault("name", text.get("tags-name-wrong"));
        name
    })
}

fn read_color(form: &mut Form) -> Option<String> {
    let text = form.text();
    let color = form.optional("color", 7)?.to_ascii_lowercase();
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
    if !digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
        form.fault("color", text.get("tags-color-wrong"));
    }
    Some(color)
}

fn list_page(
    viewer: &Viewer,
    form: &Form,
    query: Option<(&Query, PageRequest)>,
    tags: &Records<Tag>,
) -> Page {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("tags-name")),
        Column::numbers(text.get("tags-contacts")),
        Column::words(text.get("tags-since")),
    ];
    let rows = tags.records.iter().map(|tag| {
        vec![
            html! { a class=(class(&tag.summary)) href=(format!("/console/contacts/tags/{}", tag.summary.id)) { bdi { (tag.summary.name) } } },
            html! { (text.number(tag.contacts)) },
            moment(viewer, tag.created_at),
        ]
    });
    let search = query.and_then(|(query, _)| query.text("search", 200)).unwrap_or_default();
    let body = html! {
        (faults(form))
        form.search method="get" action="/console/contacts/tags" role="search" data-search="found" {
            label for="search" { (text.get("tags-search")) }
            input id="search" type="search" name="search" value=(search) maxlength="200" autocomplete="off";
            button.plain type="submit" { (text.get("tags-find")) }
        }
        div id="found" {
            @if tags.records.is_empty() && search.is_empty() {
                (empty(&text.get("tags-first"), &html! { p.soft { (text.get("tags-first-hint")) } }))
            } @else if tags.records.is_empty() {
                (empty(&text.get("tags-none"), &html! { a href="/console/contacts/tags" { (text.get("tags-show-all")) } }))
            } @else {
                (table(&text.get("tags-title"), &columns, rows))
            }
            @if let Some((query, request)) = query { (pager(text, query, request, tags.total)) }
        }
        @if viewer.may_work() {
            form.panel method="post" action="/console/contacts/tags" {
                h2 { (text.get("tags-new")) }
                (once(form))
                (fields(form))
                button type="submit" { (text.get("tags-create")) }
            }
        }
        p { a href="/console/contacts" { (text.get("tags-back")) } }
    };
    Page::new(text.get("tags-title"), Menu::Contacts, body)
}

fn fields(form: &Form) -> maud::Markup {
    let text = form.text();
    html! {
        (Field::new(form, "name", &text.get("tags-name")).required().most(100).text())
        (Field::new(form, "color", &text.get("tags-color")).hint(&text.get("tags-color-hint")).input("color"))
    }
}

fn tag_page(viewer: &Viewer, form: &Form, tag: &Tag) -> Page {
    let text = viewer.text;
    let place = format!("/console/contacts/tags/{}", tag.summary.id);
    let body = html! {
        (faults(form))
        p {
            a href=(format!("/console/contacts?tag={}", tag.summary.id)) { (text.with("tags-count", [("count", tag.contacts.into())])) }
        }
        p { (copy::id(text, tag.summary.id)) }
        @if viewer.may_work() && tag.contacts > 0 {
            p { a.button href=(format!("/console/sends/new?tag={}", tag.summary.id)) { (text.get("tags-send")) } }
        }
        form.panel method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (fields(form))
                @if viewer.may_work() { button type="submit" { (text.get("tags-save")) } }
            }
        }
        @if viewer.may_work() {
            (confirm::confirm(text, &format!("{place}/delete"), &text.get("tags-delete"), &text.get("tags-delete-question")))
        }
        p { a href="/console/contacts/tags" { (text.get("tags-all")) } }
    };
    Page::new(tag.summary.name.clone(), Menu::Contacts, body)
}
