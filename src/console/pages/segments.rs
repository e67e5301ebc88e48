//! Segments: the filters of the list of contacts that a company saved under names. They are above the list, saved beside it,
//! and each has a page.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::contacts::listed::Listed;
use super::contacts::selection::of_list;
use super::contacts::{again, of_form};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::{confirm, copy, notice, tag};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::page::PageRequest;
use crate::engine::records::contacts::Edited;
use crate::engine::records::segments::{
    Lack, MOST_SEGMENTS, NAME_CHARS, NewSegment, SavedSegment, segment_name,
};

/// The field with the name of a segment, beside the fields of the list's own forms.
const NAME: &str = "segment_name";
/// The page of the list of contacts, to learn how many there are.
const ONE: PageRequest = PageRequest { page: 1, limit: 1 };

/// Saves what the list shows as a new segment.
pub(crate) async fn save(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let listed = of_form(&viewer, &state, &form).await?;
    let name = read_name(&mut form);
    if listed.is_everybody() || listed.lack().is_some() {
        form.general_fault(text.get("segments-nothing"));
    }
    let filter = listed.filter();
    if let (Some(name), false) = (name, form.has_faults()) {
        let saved = state
            .once
            .attempt(&viewer, &form, async || {
                let records = state.engine.company(viewer.company.id).await?;
                Ok(match records.segments().add(&viewer.who(), &name, &filter, Timestamp::now()).await? {
                    NewSegment::Saved(id) => {
                        Ok(Answer::done(&state, &viewer, text.get("segments-saved"), list_place(id)))
                    }
                    NewSegment::Taken => Err(text.get("segments-name-taken")),
                    NewSegment::Full => Err(text.with("segments-full", [("most", MOST_SEGMENTS.into())])),
                })
            })
            .await?;
        match saved {
            Ok(answer) => return Ok(answer),
            Err(sentence) => form.fault(NAME, sentence),
        }
    }
    again(&viewer, &state, &form, listed).await
}

pub(crate) async fn show(viewer: Viewer, state: Data<State>, id: Id) -> Result<Page> {
    let segment = find(&viewer, &state, id).await?;
    let form = Form::filled(viewer.text, [(NAME, segment.name.clone())]);
    page(&viewer, &state, &form, &segment).await
}

/// Gives a segment another name, or replaces its filter by what the list shows.
pub(crate) async fn change(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    let segment = find(&viewer, &state, id).await?;
    let (name, filter) = if form.words().one("action") == "replace" {
        let listed = of_form(&viewer, &state, &form).await?;
        if listed.is_everybody() || listed.lack().is_some() {
            form.general_fault(text.get("segments-nothing"));
        }
        (None, Some(listed.filter()))
    } else {
        (read_name(&mut form), None)
    };
    if !form.has_faults() {
        let records = state.engine.company(viewer.company.id).await?;
        let (who, now) = (viewer.who(), Timestamp::now());
        match records.segments().change(&who, id.0, name.as_deref(), filter.as_ref(), now).await? {
            Edited::Done => {
                state.flashes.put(viewer.session, "done", text.get("segments-changed"));
                let is_replaced = filter.is_some();
                return Ok(Answer::to(if is_replaced { list_place(id.0) } else { place(id.0) }));
            }
            Edited::Taken => form.fault(NAME, text.get("segments-name-taken")),
            Edited::Missing | Edited::Nameless | Edited::Outdated => return Err(Error::NotFound),
        }
    }
    Ok(page(&viewer, &state, &form, &segment).await?.unprocessable().into())
}

pub(crate) async fn delete(viewer: Viewer, state: Data<State>, id: Id, _form: Form) -> Result<Answer> {
    let records = state.engine.company(viewer.company.id).await?;
    if !records.segments().delete(&viewer.who(), id.0).await? {
        return Err(Error::NotFound);
    }
    Ok(Answer::done(&state, &viewer, viewer.text.get("segments-deleted"), "/console/contacts"))
}

async fn find(viewer: &Viewer, state: &State, id: Id) -> Result<SavedSegment> {
    let records = state.engine.company(viewer.company.id).await?;
    records.segments().find(id.0).await?.ok_or(Error::NotFound)
}

/// The name in a form; without a valid one, the form has a fault.
fn read_name(form: &mut Form) -> Option<String> {
    let given = form.required(NAME, NAME_CHARS);
    let name = segment_name(&given);
    if name.is_none() {
        let sentence = form.text().get("segments-name-wrong");
        form.fault(NAME, sentence);
    }
    name
}

/// The links to all segments, for the page of the list.
pub(super) fn list(text: Text, listed: &Listed, segments: &[SavedSegment]) -> Markup {
    let is_open = |segment: &SavedSegment| listed.segment.as_ref().is_some_and(|open| open.id == segment.id);
    html! {
        @if !segments.is_empty() {
            ul.tags aria-label=(text.get("segments-title")) {
                @for segment in segments {
                    li {
                        a class=(tag::by_name(&segment.name)) href=(list_place(segment.id))
                            aria-current=[is_open(segment).then_some("true")] { bdi { (segment.name) } }
                    }
                }
            }
        }
    }
}

/// The forms that save what the list shows: as a new segment, or in place of the one that was opened.
pub(super) fn saving(viewer: &Viewer, form: &Form, listed: &Listed) -> Markup {
    let text = viewer.text;
    let is_fit = viewer.may_work() && !listed.is_everybody() && listed.lack().is_none();
    let open = listed.segment.as_ref();
    html! {
        @if let Some(segment) = open {
            p { (text.get("segments-open")) " " a href=(place(segment.id)) { bdi { (segment.name) } } }
        }
        @if is_fit {
            details.more id="save-segment" open[form.fault_of(NAME).is_some()] {
                summary { (text.get("segments-save")) }
                form.row.bottom method="post" action="/console/contacts/segments" {
                    (once(form)) (of_list(listed))
                    (Field::new(form, NAME, &text.get("segments-name")).required().most(NAME_CHARS).text())
                    button.plain type="submit" { (text.get("segments-save-new")) }
                }
                @if let Some(segment) = open.filter(|segment| segment.lack.is_some() || segment.filter != listed.filter()) {
                    form method="post" action=(place(segment.id)) {
                        (of_list(listed))
                        button.plain type="submit" name="action" value="replace" {
                            (text.with("segments-replace", [("name", segment.name.as_str().into())]))
                        }
                    }
                }
            }
        }
    }
}

/// The segments to which a send can go, as a field of its form.
pub(super) fn choose(form: &Form, segments: &[SavedSegment]) -> Markup {
    let text = form.text();
    let whole = segments.iter().filter(|segment| segment.lack.is_none());
    let offered: Vec<_> = whole.map(|segment| (segment.id.to_string(), segment.name.as_str())).collect();
    html! {
        @if !offered.is_empty() {
            (Field::new(form, "segment", &text.get("segments-title")).hint(&text.get("segments-hint")).boxes(offered))
        }
    }
}

/// Says that a segment selects nobody, and why.
pub(super) fn outdated(text: Text, lack: Lack) -> Markup {
    let why = text.get(match lack {
        Lack::Tag => "segments-lacks-tag",
        Lack::Send => "segments-lacks-send",
        Lack::Field => "segments-lacks-field",
        Lack::Unreadable => "segments-unreadable",
    });
    notice::warning(&html! { p { (why) " " (text.get("segments-outdated")) } })
}

async fn page(viewer: &Viewer, state: &State, form: &Form, segment: &SavedSegment) -> Result<Page> {
    let (text, place) = (viewer.text, place(segment.id));
    let listed = Listed::of_segment(state, viewer, segment).await?;
    let count = listed.page(state, viewer, ONE).await?.total;
    let body = html! {
        (faults(form))
        @if let Some(lack) = segment.lack {
            (outdated(text, lack))
        } @else {
            p { a href=(list_place(segment.id)) { (text.with("segments-count", [("count", count.into())])) } }
        }
        @if viewer.may_work() && count > 0 {
            p { a.button href=(format!("/console/sends/new?segment={}", segment.id)) { (text.get("segments-send")) } }
        }
        form.panel method="post" action=(place) {
            fieldset.plain disabled[!viewer.may_work()] {
                (Field::new(form, NAME, &text.get("segments-name")).required().most(NAME_CHARS).text())
                @if viewer.may_work() { button.plain type="submit" { (text.get("segments-rename")) } }
            }
        }
        p { (copy::id(text, segment.id)) }
        @if viewer.may_work() {
            (confirm::confirm(text, &format!("{place}/delete"), &text.get("segments-delete"), &text.get("segments-delete-question")))
        }
        p { a href="/console/contacts" { (text.get("contacts-back")) } }
    };
    Ok(Page::new(segment.name.clone(), Menu::Contacts, body))
}

/// The address of a segment's page.
fn place(id: Uuid) -> String {
    format!("/console/contacts/segments/{id}")
}

/// The address of the list of a segment's contacts.
fn list_place(id: Uuid) -> String {
    format!("/console/contacts?segment={id}")
}
