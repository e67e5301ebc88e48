//! Makes a form that is sent twice act only once.
//!
//! A page gives each form an id (`component::form::once`). The first request with the id acts; a request that
//! comes meanwhile or later with the same values gets the same answer. A form that is shown again with its faults has
//! not acted, and keeps its id. A browser that goes back shows an id that has acted; with other values, the form acts
//! under it again.
//!
//! The ids are in memory, so a form that is sent before and after a restart acts twice. For most forms that
//! is acceptable: a second key can be revoked, and a second removal finds nothing. A form that sends messages
//! must not act twice, so it takes its [`Turn`] at the engine, which stores the form's id with the send.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::State;
use super::answer::Answer;
use super::error::Result;
use super::form::Form;
use super::visitor::{Person, Viewer};
use crate::engine::{self, Claim, KeyGuard};

/// The number of ids that are kept. The oldest are removed: nobody sends a form again after ten thousand
/// others.
const MOST: usize = 10_000;

/// The ids of the forms that have acted, each with its redirect.
#[derive(Debug, Default)]
pub(super) struct Once(Mutex<Acted>);

/// A person's session, the form's id, and the digest of its values.
type Key = (Uuid, Uuid, [u8; 32]);

#[derive(Debug, Default)]
struct Acted {
    places: HashMap<Key, Arc<OnceCell<String>>>,
    order: VecDeque<Key>,
}

impl Once {
    /// Calls `act`, unless the same form has acted before: then the answer is the same. A form has acted only
    /// if the answer redirects to another page.
    pub(super) async fn act(
        &self,
        person: &Person,
        form: &Form,
        act: impl AsyncFnOnce() -> Result<Answer>,
    ) -> Result<Answer> {
        let Ok(answer) = self.attempt::<Infallible>(person, form, async || act().await.map(Ok)).await?;
        Ok(answer)
    }

    /// Does the same for an `act` that may be refused. A refused form has not acted.
    pub(super) async fn attempt<R>(
        &self,
        person: &Person,
        form: &Form,
        act: impl AsyncFnOnce() -> Result<Result<Answer, R>>,
    ) -> Result<Result<Answer, R>> {
        let Some(id) = form.once() else { return act().await };
        let place = self.place((person.session, id, form.words().digest("a form", &["once"])));
        let done = place.get_or_try_init(async || match act().await {
            Ok(Ok(Answer::Redirect(place))) => Ok(place),
            other => Err(other),
        });
        match done.await {
            Ok(place) => Ok(Ok(Answer::Redirect(place.clone()))),
            Err(shown) => shown,
        }
    }

    fn place(&self, key: Key) -> Arc<OnceCell<String>> {
        let mut acted = self.0.lock();
        if let Some(place) = acted.places.get(&key) {
            return Arc::clone(place);
        }
        if acted.order.len() >= MOST
            && let Some(oldest) = acted.order.pop_front()
        {
            acted.places.remove(&oldest);
        }
        acted.order.push_back(key);
        Arc::clone(acted.places.entry(key).or_default())
    }
}

/// The idempotency key of a form that sends messages. Those of the company's programs do not begin like this by chance.
pub(super) fn form_key(once: Uuid) -> String {
    format!("console:{once}")
}

/// The turn of a form that sends messages.
pub(super) enum Turn {
    /// The form has to send. Its id is held meanwhile, and stored with the send.
    First(Option<KeyGuard>),
    /// The form has sent before, perhaps before a restart: this send.
    Done(Uuid),
}

impl Turn {
    /// Asks the engine whether the form has sent already. The `fingerprint` covers the content of the form.
    ///
    /// # Errors
    ///
    /// `idempotency_in_progress` while it is being sent, `idempotency_key_reused` when it was sent with other words.
    pub(super) async fn of(
        state: &State,
        viewer: &Viewer,
        form: &Form,
        fingerprint: [u8; 32],
    ) -> Result<Self, engine::Error> {
        let Some(id) = form.once() else { return Ok(Self::First(None)) };
        let claim = Claim { key: form_key(id), fingerprint };
        Ok(match state.engine.claim(viewer.company.id, claim).await? {
            engine::Turn::First(guard) => Self::First(Some(guard)),
            engine::Turn::Repeated(accepted) => Self::Done(accepted.send_id),
            // Sends of the console keep their own id as their answer.
            engine::Turn::Told(answer) => Self::Done(answer.parse().map_err(|_| engine::Error::Internal)?),
        })
    }
}
