//! Sending events to a webhook endpoint once more: those that failed, or all of some time.

use std::time::Duration;

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::place;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, once};
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::error::Code;
use crate::domain::webhook::{Replay, ReplayOf, ReplayRequest};
use crate::engine::{self, ShownEndpoint};

const HOUR: u64 = 60 * 60;
/// The times that the form offers: a word, its text, and the seconds until now; `None` is everything that the service keeps.
const TIMES: [(&str, &str, Option<u64>); 4] = [
    ("hour", "webhooks-replay-hour", Some(HOUR)),
    ("day", "webhooks-replay-day", Some(24 * HOUR)),
    ("days", "webhooks-replay-days", Some(3 * 24 * HOUR)),
    ("all", "webhooks-replay-kept", None),
];

/// Begins to send events once more. A form that is sent twice does it once.
pub(in crate::console) async fn begin(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    let of: ReplayOf = form.words().one("state").parse().map_err(|_| Error::Unreadable)?;
    let time = TIMES.iter().find(|(word, ..)| *word == form.words().one("time"));
    let (_, _, seconds) = time.ok_or(Error::Unreadable)?;
    let since = seconds.map(|seconds| Timestamp::now().minus(Duration::from_secs(seconds)));
    let act = async || {
        let request = ReplayRequest { of, since, ..ReplayRequest::default() };
        let endpoints = state.engine.webhook_endpoints();
        let (name, key) = match endpoints.replay(&viewer.who(), viewer.company.id, id.0, request).await {
            Ok(_) => ("done", "webhooks-replay-begun"),
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::ReplayRunning => {
                ("fault", "webhooks-replay-busy")
            }
            Err(error) => return Err(error.into()),
        };
        state.flashes.put(viewer.session, name, viewer.text.get(key));
        Ok(Answer::to(place(id.0)))
    };
    state.once.act(&viewer, &form, act).await
}

/// Ends it.
pub(in crate::console) async fn end(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer, Error> {
    state.engine.webhook_endpoints().end_replay(&viewer.who(), viewer.company.id, id.0).await?;
    state.flashes.put(viewer.session, "done", viewer.text.get("webhooks-replay-ended"));
    Ok(Answer::to(place(id.0)))
}

/// What is sent once more, or when the last of it was on its way; a live part, without the form that begins it.
pub(super) fn progress(viewer: &Viewer, shown: &ShownEndpoint) -> Markup {
    let (text, place) = (viewer.text, place(shown.endpoint.id));
    html! {
        div #webhook-replay hidden[!viewer.is_owner()] {
            @if let Some(replay) = shown.replay.as_ref().filter(|_| viewer.is_owner()) {
                @if let Some(at) = replay.finished_at {
                    p.soft { (began(text, replay)) " " (moment(viewer, replay.started_at)) " " (text.get("webhooks-replay-finished")) " " (moment(viewer, at)) }
                } @else {
                    p { (began(text, replay)) " " (moment(viewer, replay.started_at)) }
                    (confirm(text, &format!("{place}/replay/end"), &text.get("webhooks-replay-end"), &text.get("webhooks-replay-end-question")))
                }
            }
        }
    }
}

/// The form that begins it, below its progress. It is no live part: a person's choices stay while the page is open.
pub(super) fn section(text: Text, id: Uuid, progress: &Markup) -> Markup {
    html! {
        section.panel aria-labelledby="replay" {
            h2 id="replay" { (text.get("webhooks-replay-title")) }
            p { (text.get("webhooks-replay-hint")) }
            (progress)
            (choice(text, &place(id)))
        }
    }
}

fn began(text: Text, replay: &Replay) -> String {
    text.get(match replay.request.of {
        ReplayOf::All => "webhooks-replay-all-since",
        ReplayOf::Failed => "webhooks-replay-failed-since",
    })
}

fn choice(text: Text, place: &str) -> Markup {
    let chosen = [("state", ReplayOf::Failed.as_str().to_owned()), ("time", "day".to_owned())];
    let form = Form::filled(text, chosen);
    let states = [
        (ReplayOf::Failed.as_str(), text.get("webhooks-replay-failed")),
        (ReplayOf::All.as_str(), text.get("webhooks-replay-all")),
    ];
    let times = TIMES.map(|(word, key, _)| (word, text.get(key)));
    html! {
        form method="post" action=(format!("{place}/replay")) {
            (once(&form))
            (Field::new(&form, "state", &text.get("webhooks-replay-which")).radios(states))
            (Field::new(&form, "time", &text.get("webhooks-replay-time")).within("replay").select(times))
            button.plain type="submit" { (text.get("webhooks-replay")) }
        }
    }
}
