//! Idempotency: a request with a key of its client is carried out once, however often it is repeated.
//!
//! While a request runs, a [`KeyGuard`] holds its key in memory and releases it on drop, however the request ends; a
//! request whose commit is in doubt runs until that is settled. The answer of an accepted request is stored with the
//! send itself. It is given to repeats for [`KEPT`], to any number at once: the store is asked for it before a repeat
//! is refused. A refused request had no effect: it may be corrected and repeated under its key.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ledger::Claim;
use crate::{Accepted, Engine, Error, SentInstead};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use store::Store;
use store::sends::idempotency::KeptAnswer;

/// How long an answer is kept for repeats.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Delay before a failed release of a key is retried.
const GIVE_BACK_PAUSE: Duration = Duration::from_secs(1);

/// The keys of requests in progress, each with its company.
#[derive(Default)]
pub(crate) struct Claims(Arc<RunningRequests>);

type RunningRequests = DashMap<(Uuid, String), Until>;

/// How long a request runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until it is accepted: the answer stored then is complete.
    Accepted,
    /// Until its message is handed over.
    HandedOver,
}

/// Holds a key for one request. Another request under the key is refused until this is dropped, unless the answer is
/// stored by then.
pub struct KeyGuard {
    running: Arc<RunningRequests>,
    company_id: Uuid,
    claim: Claim,
    /// The store, where other nodes see that the key is held, and this node.
    shared: Option<(Store, Uuid)>,
}

/// What to do with a request under a key.
pub enum Turn {
    /// Carry it out.
    First(KeyGuard),
    /// It was carried out before, with this answer.
    Repeated(Accepted),
    /// It was carried out before by a web session, with this complete answer.
    Told(String),
}

/// A key, moved to the node that carries out its request.
#[derive(Serialize, Deserialize)]
pub(crate) struct MovedKey {
    key: String,
    fingerprint: [u8; 32],
    /// The node that holds it until it is moved.
    node: Uuid,
}

impl MovedKey {
    /// Whether a client may give such a key.
    pub(crate) fn is_valid(&self) -> bool {
        Claim::is_key(&self.key)
    }
}

impl Claims {
    /// Holds the key, unless another request does: then returns how long that request runs.
    fn hold(&self, company_id: Uuid, claim: &Claim) -> Result<KeyGuard, Until> {
        match self.0.entry((company_id, claim.key.clone())) {
            Entry::Occupied(held) => Err(*held.get()),
            Entry::Vacant(place) => {
                drop(place.insert(Until::Accepted));
                Ok(KeyGuard { running: Arc::clone(&self.0), company_id, claim: claim.clone(), shared: None })
            }
        }
    }
}

impl KeyGuard {
    /// The claim.
    pub(crate) const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Releases the key before it returns, if the database answers: the next request finds it free.
    pub(super) async fn release(mut self) {
        if let Some((store, node)) = &self.shared
            && store.nodes().release_key(*node, self.company_id, &self.claim.key).await.is_ok()
        {
            self.shared = None;
        }
    }

    /// The key, to move to the node that carries out the request; `None` outside of a cluster.
    pub(crate) fn to_move(&self) -> Option<MovedKey> {
        let Claim { key, fingerprint } = self.claim.clone();
        self.shared.as_ref().map(|(_, node)| MovedKey { key, fingerprint, node: *node })
    }

    /// The request runs until its message is handed over: an answer stored before that is not complete.
    pub(crate) fn until_handed_over(&self) {
        if let Some(mut until) = self.running.get_mut(&(self.company_id, self.claim.key.clone())) {
            *until = Until::HandedOver;
        }
    }
}

impl Drop for KeyGuard {
    fn drop(&mut self) {
        let key = (self.company_id, std::mem::take(&mut self.claim.key));
        let Some(shared) = self.shared.take() else {
            drop(self.running.remove(&key));
            return;
        };
        // The answer is stored by now: a repeat finds it while the key is released.
        if let Some(mut until) = self.running.get_mut(&key) {
            *until = Until::Accepted;
        }
        give_back(shared, Arc::clone(&self.running), key);
    }
}

impl From<KeptAnswer> for Accepted {
    fn from(kept: KeptAnswer) -> Self {
        let KeptAnswer {
            fingerprint: _,
            send_id,
            channel_id: _,
            recipients,
            skipped,
            schedule,
            instead,
            result: _,
        } = kept;
        let instead = instead.map(|(send_id, recipients)| SentInstead { send_id, recipients });
        let others = instead.filter(|instead| instead.send_id != send_id);
        let recipients = recipients + others.map_or(0, |others| others.recipients);
        Self { send_id, recipients, instead, skipped, schedule, ignored: Vec::new() }
    }
}

impl Engine {
    /// Decides whether a company's request under a key has to be carried out, and holds the key if so.
    ///
    /// # Errors
    ///
    /// `idempotency_in_progress` while a request under this key is being carried out, `idempotency_key_reused` when
    /// another request was accepted under it. [`Error::Unavailable`] when that cannot be looked up.
    pub async fn claim(&self, company_id: Uuid, claim: Claim) -> Result<Turn, Error> {
        let held = hold(self, company_id, &claim).await?;
        if let Err(Until::HandedOver) = held {
            return Err(in_progress().into());
        }
        let since = Timestamp::now().minus(KEPT);
        let kept = self.store().of(company_id).answers().find(&claim.key, since).await?;
        let repeated = match kept {
            None => None,
            Some(kept) if kept.fingerprint == claim.fingerprint => self.web_sends().repeated(kept).await?,
            Some(_) => {
                let sentence =
                    "another request was accepted under this Idempotency-Key: give each request its own key";
                return Err(Refusal::new(Code::IdempotencyKeyReused, sentence).into());
            }
        };
        match (repeated, held) {
            (Some(turn), _) => Ok(turn),
            (None, Ok(held)) => Ok(Turn::First(held)),
            // The holder of the key may be looking it up too: an earlier answer is in the store.
            (None, Err(_)) => Err(in_progress().into()),
        }
    }

    /// Takes over the key of a request that another node passed to this one. From here on it is released here.
    ///
    /// # Errors
    ///
    /// `idempotency_in_progress` when the other node has given it back, or a repeat of the request is being looked up;
    /// [`Error::Unavailable`] when the key cannot be moved.
    pub(crate) async fn take_key(
        &self,
        company_id: Uuid,
        moved: Option<MovedKey>,
    ) -> Result<Option<KeyGuard>, Error> {
        let Some(MovedKey { key, fingerprint, node }) = moved else { return Ok(None) };
        let Some(here) = self.0.shared.cluster.node() else { return Err(Error::Internal) };
        let claim = Claim { key, fingerprint };
        let mut held = self.0.claims.hold(company_id, &claim).map_err(|_| in_progress())?;
        let store = self.store().clone();
        if !store.nodes().move_key(node, here, company_id, &claim.key).await? {
            return Err(in_progress().into());
        }
        held.shared = Some((store, here));
        Ok(Some(held))
    }
}

/// Holds the key in the whole cluster, unless another request does.
async fn hold(engine: &Engine, company_id: Uuid, claim: &Claim) -> Result<Result<KeyGuard, Until>, Error> {
    let mut held = engine.0.claims.hold(company_id, claim);
    if let (Ok(here), Some(node)) = (&mut held, engine.0.shared.cluster.node()) {
        let store = engine.store().clone();
        if store.nodes().claim_key(node, company_id, &claim.key).await? {
            here.shared = Some((store, node));
        } else {
            held = Err(Until::Accepted);
        }
    }
    Ok(held)
}

/// Holds the family of a send, so that one retry is accepted after the other. It is held as a key that no client can give,
/// because it has a space.
///
/// # Errors
///
/// `retry_in_progress` while another retry holds it; [`Error::Unavailable`] when that cannot be looked up.
pub(super) async fn hold_retries(engine: &Engine, company_id: Uuid, family: Uuid) -> Result<KeyGuard, Error> {
    let claim = Claim { key: format!("retry {family}"), fingerprint: [0; 32] };
    let held = hold(engine, company_id, &claim).await?;
    Ok(held.map_err(|_| {
        let sentence = "another retry of this send is being accepted: try again after the seconds of Retry-After, \
                        and the messages that it sends are skipped";
        Refusal::new(Code::RetryInProgress, sentence)
    })?)
}

/// Releases the key for other nodes, then for this one, with retries until that succeeds: otherwise clients would
/// forever be told that a request is in progress.
fn give_back((store, node): (Store, Uuid), running: Arc<RunningRequests>, key: (Uuid, String)) {
    // Without a runtime the process is ending, and its keys are free once its fence is closed.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        while let Err(error) = store.nodes().release_key(node, key.0, &key.1).await {
            tracing::debug!(%error, "cannot release an idempotency key yet");
            tokio::time::sleep(GIVE_BACK_PAUSE).await;
        }
        running.remove(&key);
    });
}

fn in_progress() -> Refusal {
    Refusal::new(
        Code::IdempotencyInProgress,
        "a request under this Idempotency-Key is still being carried out: repeat it in a second",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(key: &str) -> Claim {
        Claim { key: key.to_owned(), fingerprint: [0; 32] }
    }

    #[test]
    fn a_key_is_held_once_for_each_company_until_its_holder_is_gone() {
        let (claims, acme, globex) = (Claims::default(), Uuid::from_u128(1), Uuid::from_u128(2));
        let held = claims.hold(acme, &claim("a")).ok();
        assert!(held.is_some());
        assert_eq!(claims.hold(acme, &claim("a")).err(), Some(Until::Accepted));
        assert!(claims.hold(acme, &claim("b")).is_ok(), "and was given back at once");
        assert!(claims.hold(globex, &claim("a")).is_ok());
        held.as_ref().unwrap().until_handed_over();
        assert_eq!(claims.hold(acme, &claim("a")).err(), Some(Until::HandedOver));
        drop(held);
        assert!(claims.hold(acme, &claim("a")).is_ok());
        assert!(claims.0.is_empty());
    }

    #[test]
    fn a_panic_gives_the_key_back() {
        let claims = Claims::default();
        let held = claims.hold(Uuid::nil(), &claim("a"));
        let fell = std::thread::spawn(move || {
            let _held = held;
            panic!("the pigeon fell off its perch");
        });
        assert!(fell.join().is_err());
        assert!(claims.hold(Uuid::nil(), &claim("a")).is_ok());
    }
}
