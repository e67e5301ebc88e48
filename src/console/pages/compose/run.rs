//! The check and the send of the message that the form describes.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use tokio::time::timeout;
use uuid::Uuid;

use super::attached::BulkRequest;
use super::proof::proof;
use super::refused::Refused;
use super::step::SendStep;
use super::{Around, Asked, Checked, Found, files};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::once::Turn;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::engine;

/// How long the result of a dry run is kept for a page that did not wait for it.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// The stored answer for a form that is sent again: its redirect.
pub const SENT: engine::Form = engine::Form { name: "console", render: |sent| sent.send_id.to_string() };

/// The value of this key, if it is not older than `age` or is ready within the patience of a page. Otherwise the work
/// continues, and a later request with the same key gets its result.
pub(super) async fn in_time<T: Any + Send + Sync>(
    state: &Data<State>,
    key: String,
    age: Duration,
    work: impl Future<Output = T> + 'static,
) -> Result<Option<Arc<T>>> {
    if let Some(found) = state.shared.ready::<T>(&key, age) {
        return Ok(Some(found));
    }
    let own = state.clone();
    let running =
        actix_web::rt::spawn(async move { own.shared.get(key, age, async || Ok(work.await)).await });
    match timeout(state.options.patience, running).await {
        Ok(found) => found.map_err(|_| Error::Internal)?.map(Some),
        Err(_) => Ok(None),
    }
}

/// Checks what the form describes, and moves to the step with a fault. `run` names the check: a later request with the same
/// form, template and name gets the same result.
pub(super) async fn check(
    state: &Data<State>,
    viewer: &Viewer,
    around: &mut Around,
    form: &mut Form,
    (channel, asked): (Arc<Channel>, Asked),
    run: Uuid,
) -> Result<Checked> {
    let (proof, company) = (proof(form, &around.choice), viewer.company.id);
    let key = format!("check {company} {proof} {run}");
    let mut checked = Checked::default();
    let found = if matches!(asked, Asked::Web(_)) {
        match state.shared.ready(&key, KEPT) {
            Some(found) => Some(found),
            None => {
                let found = try_out(state, &channel, asked).await;
                // A refusal may be over at the next look.
                let is_kept = found.is_ok();
                let found = Arc::new(found);
                if is_kept {
                    let found = Result::clone(&found);
                    state.shared.get(key, KEPT, async || Ok::<_, Error>(found)).await?;
                }
                Some(found)
            }
        }
    } else {
        let own = state.clone();
        in_time(state, key, KEPT, async move { try_out(&own, &channel, asked).await }).await?
    };
    match found.as_deref() {
        None => {
            checked.counting = Some(run);
            around.step = SendStep::Check;
        }
        Some(Ok(found @ Found::Nobody(_))) => {
            form.general_fault(form.text().get("compose-rows-nobody"));
            checked.found = Some(found.clone());
            around.step = SendStep::Check;
        }
        Some(Ok(found)) => {
            checked.found = Some(found.clone());
            checked.proof = Some(proof);
            checked.run = Some(run);
        }
        Some(Err(error)) => {
            checked.refused = Some(Refused::by(error.clone(), form)?);
            around.step = SendStep::Check.of_fault(form);
        }
    }
    Ok(checked)
}

/// Makes the dry run, and fetches the files of a message through a business account. A linked phone fetches its own.
async fn try_out(state: &State, channel: &Arc<Channel>, asked: Asked) -> Result<Found, engine::Error> {
    Ok(match asked {
        Asked::Bulk(bulk) => {
            let (BulkRequest { mut request, files, attached }, company) = (*bulk, channel.company_id);
            let looked = match attached {
                Some(attached) => Some(attached.attach(state, company, &mut request).await?),
                None => None,
            };
            let (dry_run, looked) = match (state.engine.dry_run(channel, request).await, looked) {
                (Err(engine::Error::Nobody { skipped, .. }), Some(looked)) => {
                    return Ok(Found::Nobody(Box::new((skipped, looked))));
                }
                (tried, looked) => (tried?, looked),
            };
            Found::Bulk(Box::new((dry_run, files::look(&state.engine, company, &files).await, looked)))
        }
        Asked::Web(request) => Found::Web(state.engine.web_sends().dry_run(channel, *request).await?),
    })
}

/// Sends the message once, and redirects to the page of the send; or the engine's refusal.
pub(super) async fn once(
    viewer: &Viewer,
    state: &Data<State>,
    form: &Form,
    channel: &Arc<Channel>,
    asked: Asked,
    fingerprint: [u8; 32],
) -> Result<Result<Answer, engine::Error>> {
    let mut acted = false;
    let sent = state.once.attempt(viewer, form, async || {
        acted = true;
        Ok(match Turn::of(state, viewer, form, fingerprint).await {
            Ok(turn) => send(viewer, state, channel, asked, turn).await,
            Err(error) => Err(error),
        })
    });
    let sent = sent.await?;
    if !acted {
        state.flashes.put_behind(viewer.session, "done", viewer.text.get("compose-sent-before"));
    }
    Ok(sent)
}

/// Sends the message, unless this form was sent before, and redirects to the page of the send.
async fn send(
    viewer: &Viewer,
    state: &State,
    channel: &Arc<Channel>,
    asked: Asked,
    turn: Turn,
) -> Result<Answer, engine::Error> {
    let text = viewer.text;
    let (send_id, said) = match (turn, asked) {
        (Turn::Done(send_id), _) => (send_id, text.get("compose-sent-before")),
        (Turn::First(held), Asked::Bulk(bulk)) => {
            let BulkRequest { mut request, files: _, attached } = *bulk;
            request.label.made_by = Some(viewer.who().to_string());
            if let Some(attached) = &attached {
                attached.attach(state, channel.company_id, &mut request).await?;
            }
            let accepted = state.engine.send(channel, request, held).await?;
            if let Some(attached) = attached {
                attached.used(viewer, state).await;
            }
            let count = [("count", accepted.recipients.into())];
            (accepted.send_id, text.with("compose-accepted", count))
        }
        (Turn::First(held), Asked::Web(mut request)) => {
            request.label.made_by = Some(viewer.who().to_string());
            let send_id = state.engine.web_sends().begin(channel, *request, held, SENT).await?;
            (send_id, text.get("compose-accepted-web"))
        }
    };
    Ok(Answer::done(state, viewer, said, format!("/console/sends/{send_id}")))
}
