//! Drafts: new sends that people are writing.

use actix_web::web::Data;
use maud::{Markup, html};

use super::compose::draft;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::empty::empty;
use crate::console::component::icon::Icon;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::drafts::{PLACE, place};
use crate::console::error::{Error, Result};
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::engine::records::drafts::Draft;

/// The drafts that the company's people saved, and those of this person that were kept by themselves.
pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let text = viewer.text;
    let page = query.page(state.options.page_size);
    let records = state.engine.company(viewer.company.id).await?;
    let found = records.drafts().page(viewer.signed_in.user.id, page, Timestamp::now()).await?;
    drop(records);
    let new = html! { a.button href=(PLACE) { (Icon::Add) (text.get("send-list-new")) } };
    let is_empty = found.records.is_empty();
    let body = html! {
        p { a href="/console/sends" { (text.get("drafts-to-sends")) } }
        @if is_empty {
            (empty(&text.get("drafts-none"), &new))
        } @else {
            p.hint { (text.get("drafts-hint")) }
            (rows(&viewer, &found.records))
            (pager(text, &query, page, found.total))
        }
    };
    let shown = Page::new(text.get("drafts-title"), Menu::Sends, body);
    // An empty list has the button in its middle.
    Ok(if is_empty { shown } else { shown.action(new) })
}

/// Deletes a draft.
pub(crate) async fn delete(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Answer> {
    let records = state.engine.company(viewer.company.id).await?;
    if !records.drafts().remove(viewer.signed_in.user.id, id).await? {
        return Err(Error::NotFound);
    }
    Ok(Answer::done(&state, &viewer, viewer.text.get("drafts-deleted"), "/console/sends/drafts"))
}

fn rows(viewer: &Viewer, drafts: &[Draft]) -> Markup {
    let text = viewer.text;
    let columns = Column::all(text, ["drafts-name", "drafts-channel", "drafts-by", ""]);
    let rows = drafts.iter().map(|Draft { id, name, channel, kind, by, is_saved, kept_at }| {
        let kind = draft::kind(text, kind);
        vec![
            html! {
                a href=(place(*id)) {
                    @if name.is_empty() { (text.get("drafts-unnamed")) } @else { bdi { (name) } }
                }
                @if !is_saved { " " span.soft { (text.get("drafts-own")) } }
            },
            html! {
                bdi { (channel.as_deref().unwrap_or("—")) }
                @if !kind.is_empty() { div.soft { (kind) } }
            },
            html! { (moment(viewer, *kept_at)) ", " bdi { (by) } },
            html! {
                (confirm(text, &format!("/console/sends/drafts/{id}/delete"), &text.get("drafts-delete"), &text.get("drafts-delete-question")))
            },
        ]
    });
    table(&text.get("drafts-title"), &columns, rows)
}
