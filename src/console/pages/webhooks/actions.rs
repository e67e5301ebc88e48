//! Actions on one webhook endpoint: other settings, a test, an event once more, another secret, disabling, enabling, and
//! deleting it.

use std::time::Duration;

use actix_web::web::Data;
use uuid::Uuid;

use super::deliveries::KeptAnswer;
use super::{ANSWER, PLACE, SECRET, fields, one, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::domain::event::Type;
use crate::domain::event::log::Sequence;
use crate::domain::webhook::{Resume, type_of};
use crate::engine::{self, Resent, SentExample};
use crate::error::Code;

/// How long a former secret signs, too, unless it must not.
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// Changes the settings.
pub(in crate::console) async fn change(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    mut form: Form,
) -> Result<Answer, Error> {
    let present = one::find(&viewer, &state, id.0).await?.endpoint.settings;
    let change = fields::read(&viewer, &state, &mut form, Some(&present)).await;
    if !form.has_faults() {
        let endpoints = state.engine.webhook_endpoints();
        match endpoints.change(&viewer.who(), viewer.company.id, id.0, change).await {
            Ok(_) => return Ok(done(&viewer, &state, id, "webhooks-saved")),
            Err(engine::Error::Refused(refusal)) if fields::is_of_form(&refusal) => {
                fields::refuse(&mut form, &refusal);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(one::page(&viewer, &state, id.0, &query, Some(&form)).await?.unprocessable().into())
}

/// Asks the receiver of Meta's webhooks, once, whether it expects them. A form that is sent twice asks once.
pub(in crate::console) async fn verify(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    mut form: Form,
) -> Result<Answer, Error> {
    one::find(&viewer, &state, id.0).await?;
    let Some(token) = fields::read_token(&mut form) else {
        state.flashes.put(viewer.session, "fault", viewer.text.get("webhooks-no-verify-token"));
        return Ok(Answer::to(place(id.0)));
    };
    let act = async || {
        let endpoints = state.engine.webhook_endpoints();
        match endpoints.verify_endpoint(viewer.company.id, id.0, &token).await {
            Ok(_) => Ok(done(&viewer, &state, id, "webhooks-verified")),
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::InvalidField => {
                let said = format!("{} [{}]", viewer.text.get("webhooks-unverified"), refusal.sentence);
                state.flashes.put(viewer.session, "fault", said);
                Ok(Answer::to(place(id.0)))
            }
            Err(error) => Err(error.into()),
        }
    };
    state.once.act(&viewer, &form, act).await
}

/// Sends an example. A form that is sent twice sends one.
pub(in crate::console) async fn test(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    one::find(&viewer, &state, id.0).await?;
    let r#type = type_of(form.words().one("type")).map_err(|_| Error::Unreadable)?;
    let sending = async || {
        let sent = state.engine.webhook_endpoints().test(viewer.company.id, id.0, r#type).await?;
        Ok(match sent {
            Some(SentExample { body, answer }) => (Resent::Answered(answer), Some((r#type, body))),
            None => (Resent::NoEndpoint, None),
        })
    };
    send(&viewer, &state, id.0, &form, sending).await
}

/// Sends an event of the log once more. A form that is sent twice sends it once.
pub(in crate::console) async fn resend(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    one::find(&viewer, &state, id.0).await?;
    let sequence: Sequence = form.words().one("sequence").parse().map_err(|_| Error::Unreadable)?;
    let sending = async || {
        let endpoints = state.engine.webhook_endpoints();
        Ok((endpoints.resend(viewer.company.id, id.0, sequence).await?, None))
    };
    send(&viewer, &state, id.0, &form, sending).await
}

/// Replaces the secret, and shows the new one once. A form that is sent twice replaces it once.
pub(in crate::console) async fn replace_secret(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    one::find(&viewer, &state, id.0).await?;
    let overlap = match form.words().one("overlap") {
        one::FOR_A_DAY => OVERLAP,
        one::NO_LONGER => Duration::ZERO,
        _ => return Err(Error::Unreadable),
    };
    let act = async || {
        let endpoints = state.engine.webhook_endpoints();
        let (secret, until) = endpoints.rotate(&viewer.who(), viewer.company.id, id.0, None, overlap).await?;
        let said = match until {
            Some(until) => {
                viewer.text.with("webhooks-replaced-until", [("time", viewer.minute(until).into())])
            }
            None => viewer.text.get("webhooks-replaced"),
        };
        state.flashes.put(viewer.session, "done", said);
        state.flashes.put(viewer.session, SECRET, format!("{} {}", id.0, secret.expose()));
        Ok(Answer::to(place(id.0)))
    };
    state.once.act(&viewer, &form, act).await
}

/// Disables the endpoint.
pub(in crate::console) async fn disable(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer, Error> {
    state.engine.webhook_endpoints().disable(&viewer.who(), viewer.company.id, id.0).await?;
    Ok(done(&viewer, &state, id, "webhooks-disabled"))
}

/// Enables the endpoint.
pub(in crate::console) async fn enable(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    form: Form,
) -> Result<Answer, Error> {
    one::find(&viewer, &state, id.0).await?;
    let resume: Resume = form.words().one("from").parse().map_err(|_| Error::Unreadable)?;
    state.engine.webhook_endpoints().enable(&viewer.who(), viewer.company.id, id.0, resume).await?;
    Ok(done(&viewer, &state, id, "webhooks-enabled"))
}

/// Deletes the endpoint with the log of its deliveries.
pub(in crate::console) async fn remove(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer, Error> {
    state.engine.webhook_endpoints().remove(&viewer.who(), viewer.company.id, id.0).await?;
    state.flashes.put(viewer.session, "done", viewer.text.get("webhooks-removed"));
    Ok(Answer::to(PLACE))
}

/// Sends what a person asked for, unless the form has done so before, and goes to the page of the endpoint, which shows the
/// receiver's answer or why nothing was sent. A test has its type and its body.
async fn send(
    viewer: &Viewer,
    state: &State,
    id: Uuid,
    form: &Form,
    sending: impl AsyncFnOnce() -> Result<(Resent, Option<(Type, String)>), engine::Error>,
) -> Result<Answer, Error> {
    let act = async || {
        let fault = match sending().await {
            Ok((Resent::Answered(answer), test)) => {
                keep(viewer, state, id, &KeptAnswer::new(&answer, test));
                None
            }
            Ok((Resent::NoEvent, _)) => Some("webhooks-no-event"),
            Ok((Resent::NoEndpoint, _)) => return Err(Error::NotFound),
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::InvalidField => {
                Some("webhooks-has-no-form")
            }
            Err(engine::Error::Refused(refusal)) if refusal.code == Code::WebhookUnsealable => {
                Some("webhooks-means-sealed")
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(key) = fault {
            state.flashes.put(viewer.session, "fault", viewer.text.get(key));
        }
        Ok(Answer::to(place(id)))
    };
    state.once.act(viewer, form, act).await
}

/// Keeps the receiver's answer for the page of the endpoint.
fn keep(viewer: &Viewer, state: &State, id: Uuid, answer: &KeptAnswer) {
    // Texts and numbers can always be written as JSON.
    let kept = serde_json::to_string(answer).unwrap_or_default();
    state.flashes.put(viewer.session, ANSWER, format!("{id} {kept}"));
}

/// Back to the page of the endpoint.
fn done(viewer: &Viewer, state: &State, id: Id, key: &str) -> Answer {
    state.flashes.put(viewer.session, "done", viewer.text.get(key));
    Answer::to(place(id.0))
}
