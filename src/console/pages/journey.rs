//! One message's journey, as one timeline.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};

use super::send::figures::waits;
use super::send::messages::recipient;
use super::send::words;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::copy;
use crate::console::component::explain;
use crate::console::component::time::{second, until};
use crate::console::error::Result;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, segment};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::message::{Milestone, Step};
use crate::engine::Traced;

pub(crate) async fn show(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    request: HttpRequest,
) -> Result<Page> {
    let ordinal: u64 = segment(&request, "ordinal")?;
    let Traced { snapshot, message, reference: _, steps } =
        state.engine.sends().trace(viewer.company.id, id, ordinal).await?;
    let (text, outcome) = (viewer.text, &message.outcome);
    let body = html! {
        p { a href=(format!("/console/sends/{id}")) { (text.get("journey-back")) } }
        dl.tiles {
            div.tile { dt { (text.get("journey-recipient")) } dd.word { bdi { (recipient(&snapshot, outcome.position)) } } }
            div.tile { dt { (text.get("journey-state")) } dd.word { (words::state(text, outcome.state)) } }
            div.tile { dt { (text.get("journey-attempts")) } dd.word { (text.number(outcome.attempts.into())) } }
        }
        section.panel {
            h2 { (text.get("journey-timeline")) }
            ol.timeline { @for step in &steps { (shown(&viewer, step, outcome.state)) } }
            p.hint { (text.get("journey-kept")) }
        }
        @if let Some(provider) = &outcome.provider_message_id {
            p.soft { (text.get("journey-provider-id")) " " (copy::copy(text, &text.get("journey-provider-id"), provider)) }
        }
    };
    Ok(Page::new(text.get("journey-title"), Menu::Sends, body))
}

fn shown(viewer: &Viewer, step: &Step, state: crate::domain::message::State) -> Markup {
    let text = viewer.text;
    let Step { milestone, at, until: end, failure, waiting } = step;
    html! {
        li {
            p {
                strong { (word(text, *milestone)) } " "
                @match at {
                    Some(at) => (second(viewer, *at)),
                    None if *milestone == Milestone::Waiting => span.soft { (text.get("journey-now")) },
                    None => span.soft { (text.get("journey-no-time")) },
                }
                @if let Some(end) = end.filter(|end| waiting.is_none() && *end > Timestamp::now()) {
                    ", " (until(viewer, end))
                } @else if let Some(end) = end.filter(|_| waiting.is_none()) {
                    " " (text.get("journey-for")) " " (second(viewer, end))
                }
            }
            @if let Some(waiting) = waiting { (waits(viewer, waiting)) }
            @if let Some(failure) = failure {
                p { (words::cause(text, state, failure.code)) @if let Some(code) = failure.code { " " (explain::code(code)) } }
                p.said.soft lang="en" { bdi { (failure.sentence) } }
            }
        }
    }
}

fn word(text: Text, milestone: Milestone) -> String {
    text.get(match milestone {
        Milestone::Accepted => "journey-accepted",
        Milestone::Scheduled => "journey-scheduled",
        Milestone::Attempted => "journey-attempted",
        Milestone::Refused => "journey-refused",
        Milestone::Waiting => "journey-waiting",
        Milestone::Sent => "journey-sent",
        Milestone::Delivered => "journey-delivered",
        Milestone::Read => "journey-read",
        Milestone::Failed => "journey-failed",
        Milestone::Expired => "journey-expired",
        Milestone::Canceled => "journey-canceled",
        Milestone::Suppressed => "journey-suppressed",
        Milestone::Unknown => "journey-unknown",
    })
}
