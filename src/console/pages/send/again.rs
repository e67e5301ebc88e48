//! Sending messages of a send again that did not arrive: what that would be, before it is done.

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::words;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::component::time::second;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::once::Turn;
use crate::console::page::{Answer, Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::message::{Selection, State as At};
use crate::domain::request::RetryRequest;
use crate::domain::send::Schedule;
use crate::engine::{self, Rehearsal};
use crate::error::Refusal;

/// Reasons for skipping that a page shows.
const SKIPPED_SHOWN: usize = 20;

/// Shows what would be sent.
pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    query: Query,
) -> Result<Page, Error> {
    let asked = request(&query);
    let values = chosen(&asked.selection);
    let form = Form::filled(viewer.text, values.iter().map(|(name, value)| (*name, value.clone())));
    page(&viewer, &state, id, &form, asked).await
}

/// Sends it.
pub(in crate::console) async fn send(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    mut form: Form,
) -> Result<Answer, Error> {
    let asked = request(form.words());
    let retried = state.engine.retried(viewer.company.id, id).await?;
    let fingerprint = form.words().digest(&id.to_string(), &["once"]);
    let acted = state.once.act(&viewer, &form, async || {
        let held = match Turn::of(&state, &viewer, &form, fingerprint).await? {
            Turn::First(held) => held,
            Turn::Done(send_id) => return Ok(Answer::to(format!("/console/sends/{send_id}"))),
        };
        let accepted = state.engine.retry(retried, asked.clone(), held).await?;
        let count = [("count", accepted.recipients.into())];
        state.flashes.put(viewer.session, "done", viewer.text.with("send-again-done", count));
        Ok(Answer::to(format!("/console/sends/{}", accepted.send_id)))
    });
    match acted.await {
        Err(Error::Refused(refusal)) => {
            form.general_fault(refusal.sentence);
            Ok(page(&viewer, &state, id, &form, asked).await?.unprocessable().into())
        }
        other => other,
    }
}

/// Which messages are meant: those that failed or expired, unless the words say otherwise.
fn request(words: &Words) -> RetryRequest {
    let states = At::RETRIED.into_iter().filter(|state| words.has("state", state.as_str()));
    let mut states: Vec<_> = states.collect();
    if states.is_empty() {
        states = vec![At::Failed, At::Expired];
    }
    let codes = words.one("code").parse().into_iter().collect();
    RetryRequest { selection: Selection { states, codes }, schedule: Schedule::default() }
}

fn chosen(selection: &Selection) -> Vec<(&'static str, String)> {
    let states = selection.states.iter().map(|state| ("state", state.as_str().to_owned()));
    states.chain(selection.codes.iter().map(|code| ("code", code.to_string()))).collect()
}

async fn page(
    viewer: &Viewer,
    state: &State,
    id: Uuid,
    form: &Form,
    asked: RetryRequest,
) -> Result<Page, Error> {
    let records = state.engine.records_of(viewer.company.id).await?;
    records.send_head(viewer.company.id, id, Timestamp::now()).await?.ok_or(Error::NotFound)?;
    drop(records);
    let values = chosen(&asked.selection);
    let retried = state.engine.retried(viewer.company.id, id).await?;
    let rehearsed = match state.engine.rehearse_retry(retried, asked).await {
        Ok(rehearsal) => Ok(rehearsal),
        Err(engine::Error::Refused(refusal)) => Err(refusal),
        Err(other) => return Err(other.into()),
    };
    let text = viewer.text;
    let states = At::RETRIED.map(|state| (state.as_str(), words::state_word(text, state)));
    let body = html! {
        p { a href=(format!("/console/sends/{id}")) { (text.get("send-again-back")) } }
        (faults(form))
        form.panel method="get" action=(format!("/console/sends/{id}/again")) {
            (Field::new(form, "state", &text.get("send-again-which")).boxes(states))
            (Field::new(form, "code", &text.get("send-code")).hint(&text.get("send-again-code")).input("number"))
            button.plain type="submit" { (text.get("send-again-check")) }
        }
        @match rehearsed {
            Err(refusal) => (refused(viewer, &refusal)),
            Ok(rehearsal) => {
                (outcome(viewer, &rehearsal))
                form method="post" action=(format!("/console/sends/{id}/again")) {
                    (once(form))
                    @for (name, value) in &values { input type="hidden" name=(name) value=(value); }
                    button type="submit" { (text.get("send-again-send")) }
                }
            }
        }
    };
    Ok(Page::new(text.get("send-again"), Menu::Sends, body))
}

/// Why nothing would be sent.
pub(in crate::console::pages) fn refused(viewer: &Viewer, refusal: &Refusal) -> Markup {
    notice::warning(&html! {
        p { (viewer.text.get("send-refused")) }
        p.said lang="en" { (refusal.sentence) " " code { (refusal.code.as_str()) } }
    })
}

/// What would be sent: to how many, who is skipped and why, how long it takes and what decides that.
pub(in crate::console::pages) fn outcome(viewer: &Viewer, rehearsal: &Rehearsal) -> Markup {
    let text = viewer.text;
    let Rehearsal { recipients, skipped, takes: _, left_out: _, ends, binding } = rehearsal;
    html! {
        section.panel id="check" aria-label=(text.get("send-check-title")) {
            p { strong { (text.with("send-check-count", [("count", (*recipients).into())])) } }
            @match ends {
                Some(end) => p { (text.get("send-check-end")) " " (second(viewer, *end)) },
                None => p { (text.get("send-check-no-end")) },
            }
            @if let Some(binding) = binding {
                p { (text.get("send-check-limit")) " " (words::binding(text, *binding)) }
            }
            @if skipped.count > 0 {
                details {
                    summary { (text.with("send-check-skipped", [("count", skipped.count.into())])) }
                    ul {
                        @for entry in skipped.first.iter().take(SKIPPED_SHOWN) {
                            li { bdi { code { (entry.input) } } " " span lang="en" { (entry.reason) } }
                        }
                    }
                }
            }
        }
    }
}
