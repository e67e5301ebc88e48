//! A send that is scheduled: moving its start, and making another one in its place. A copy of any send.

use std::time::Duration;

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, faults};
use crate::console::component::time::second;
use crate::console::drafts::{self, Keeping};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::compose::duplicate::{self, CopyKind, Lacking};
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::engine::records::sends::Record;
use crate::error::Code;

/// The precision of the field, which has no seconds.
const MINUTE: Duration = Duration::from_secs(60);

/// Whether the start of the send is ahead and a person with this role may move it.
fn may_move(viewer: &Viewer, send: &Record) -> bool {
    let is_ahead = send.schedule.waits_until(Timestamp::now()).is_some();
    viewer.may_work() && is_ahead && !send.stage.is_over() && send.progress.high_water == 0
}

/// The links to a copy of the send and to the page that moves it; a live part.
pub(super) fn links(viewer: &Viewer, send: &Record) -> Markup {
    let text = viewer.text;
    html! {
        p.row id="copies" {
            @if viewer.may_work() && duplicate::is_possible(send) {
                a.button.plain href=(duplicate::place(send.id)) { (text.get("send-duplicate")) }
            }
            @if may_move(viewer, send) {
                a.button.plain href=(format!("/console/sends/{}/start", send.id)) { (text.get("send-move")) }
            }
        }
    }
}

/// The button that cancels the send and opens its copy.
pub(super) fn edit_button(viewer: &Viewer, send: &Record) -> Markup {
    let text = viewer.text;
    html! {
        @if may_move(viewer, send) && duplicate::is_complete(send) {
            (confirm(text, &format!("/console/sends/{}/edit", send.id), &text.get("send-edit"), &text.get("send-edit-question")))
        }
    }
}

/// Shows the form with the start.
pub(crate) async fn show(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Page> {
    let send = find(&state, &viewer, id).await?;
    let start = send.schedule.send_at.map(|start| viewer.zone.field(start)).unwrap_or_default();
    Ok(page(&viewer, &send, &Form::filled(viewer.text, [("send_at", start)])))
}

/// Moves the start.
pub(crate) async fn change(viewer: Viewer, state: Data<State>, Id(id): Id, mut form: Form) -> Result<Answer> {
    let send = find(&state, &viewer, id).await?;
    let text = viewer.text;
    match viewer.zone.moment(form.words().one("send_at")) {
        Some(start) if start.plus(MINUTE) <= Timestamp::now() => {
            form.fault("send_at", text.get("compose-fault-past"));
        }
        Some(start) => {
            match state.engine.sends().reschedule(&viewer.who(), viewer.company.id, id, start).await {
                Ok(()) => {
                    let place = format!("/console/sends/{id}");
                    return Ok(Answer::done(&state, &viewer, text.get("send-is-moved"), place));
                }
                Err(error) => {
                    let key = match Error::from(error) {
                        Error::Refused(refusal) => match refusal.code {
                            Code::InvalidSchedule => "send-move-fault",
                            Code::SendHasBegun => "send-move-begun",
                            Code::SendIsOver => "send-move-over",
                            _ => return Err(Error::Refused(refusal)),
                        },
                        other => return Err(other),
                    };
                    form.fault("send_at", text.get(key));
                }
            }
        }
        None => form.fault("send_at", text.get("compose-fault-time")),
    }
    Ok(page(&viewer, &send, &form).unprocessable().into())
}

/// Cancels a send that has not begun, and opens a draft with its content, its audience and its times. A second click opens
/// the same draft. A send that was canceled before it began can be edited again: perhaps there was no time to make its draft.
pub(crate) async fn edit(viewer: Viewer, state: Data<State>, Id(id): Id) -> Result<Answer> {
    let mut words = Words::default();
    words.add("once", id.to_string());
    let act = async || {
        let copy = duplicate::of(&viewer, &state, id, CopyKind::Instead).await?;
        if copy.lacks == Some(Lacking::Numbers) {
            // Its recipients would be lost.
            return Err(Error::NotFound);
        }
        state.engine.sends().withdraw(&viewer.who(), viewer.company.id, id).await?;
        let keeper = (viewer.company.id, viewer.signed_in.user.id);
        Ok(Answer::to(match drafts::keep(&state, keeper, copy.form.words(), false).await? {
            Keeping::As(draft) if copy.lacks.is_some() => format!("{}&lacks=numbers", drafts::place(draft)),
            Keeping::As(draft) => drafts::place(draft),
            // It is longer than a draft may be: the canceled send is still there to be copied.
            Keeping::TooLong | Keeping::TooMany => duplicate::place(id),
        }))
    };
    state.once.act(&viewer, &Form::kept(viewer.text, words), act).await
}

async fn find(state: &State, viewer: &Viewer, id: Uuid) -> Result<Record> {
    let records = state.engine.company(viewer.company.id).await?;
    records.sends().head(id, Timestamp::now()).await?.ok_or(Error::NotFound)
}

fn page(viewer: &Viewer, send: &Record, form: &Form) -> Page {
    let text = viewer.text;
    let body = html! {
        p { a href=(format!("/console/sends/{}", send.id)) { (text.get("send-again-back")) } }
        form.panel method="post" action=(format!("/console/sends/{}/start", send.id)) {
            (faults(form))
            @if let Some(end) = send.schedule.expires_at { p { (text.get("send-expires")) ": " (second(viewer, end)) } }
            (Field::new(form, "send_at", &text.get("send-starts")).required().input("datetime-local"))
            p.soft { (text.get("compose-zone")) " " (viewer.zone.name()) }
            button type="submit" { (text.get("send-move-button")) }
        }
    };
    Page::new(text.get("send-move"), Menu::Sends, body)
}
