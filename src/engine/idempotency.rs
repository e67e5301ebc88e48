//! Requests that must be carried out once, however often they are repeated: each has a key of its client's.
//!
//! While one runs its key is held here, in memory, and given back when whoever holds it is gone, whatever
//! ended them; one of which nobody knows whether it was accepted runs until that is known. Once it is accepted its answer is in the store, written with the send itself, and is given
//! again for [`KEPT`]. A request that was refused did nothing: it may be mended and repeated under its key.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use uuid::Uuid;

use super::ledger::Claim;
use super::{Accepted, Engine, Error};
use crate::clock::Timestamp;
use crate::error::{Code, Refusal};
use crate::store::idempotency::KeptAnswer;

/// How long an answer is given again.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The keys of requests that are being carried out, each with its company.
#[derive(Default)]
pub(super) struct Claims(Arc<DashMap<(Uuid, String), ()>>);

/// A key that is held for one request; another one under it is refused until this is dropped.
pub struct Held {
    running: Arc<DashMap<(Uuid, String), ()>>,
    company_id: Uuid,
    claim: Claim,
}

/// What becomes of a request under a key.
pub enum Turn {
    /// It is to be carried out.
    First(Held),
    /// It was carried out before, and this was the answer.
    Repeated(Accepted),
    /// It was carried out before by a web session, and this was the whole answer.
    Told(String),
}

impl Claims {
    fn hold(&self, company_id: Uuid, claim: Claim) -> Option<Held> {
        match self.0.entry((company_id, claim.key.clone())) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                drop(place.insert(()));
                Some(Held { running: Arc::clone(&self.0), company_id, claim })
            }
        }
    }
}

impl Held {
    /// What is claimed.
    pub(super) const fn claim(&self) -> &Claim {
        &self.claim
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.running.remove(&(self.company_id, std::mem::take(&mut self.claim.key)));
    }
}

impl From<KeptAnswer> for Accepted {
    fn from(kept: KeptAnswer) -> Self {
        let KeptAnswer { fingerprint: _, send_id, channel_id: _, recipients, skipped, schedule, result: _ } =
            kept;
        Self { send_id, recipients, skipped, schedule }
    }
}

impl Engine {
    /// Finds out whether a company's request under a key is to be carried out, and holds the key if so.
    ///
    /// # Errors
    ///
    /// `idempotency_in_progress` while a request under this key is being carried out,
    /// `idempotency_key_reused` when another one was. [`Error::Unavailable`] when that cannot be looked up.
    pub async fn claim(&self, company_id: Uuid, claim: Claim) -> Result<Turn, Error> {
        let held = self.0.claims.hold(company_id, claim).ok_or_else(|| {
            Refusal::new(
                Code::IdempotencyInProgress,
                "a request under this Idempotency-Key is still being carried out: repeat it in a second",
            )
        })?;
        let since = Timestamp::now().minus(KEPT);
        let kept = self.store().kept_answer(company_id, &held.claim.key, since).await?;
        match kept {
            None => Ok(Turn::First(held)),
            Some(kept) if kept.fingerprint == held.claim.fingerprint => self.repeated(held, kept).await,
            Some(_) => Err(Refusal::new(
                Code::IdempotencyKeyReused,
                "another request was accepted under this Idempotency-Key: give each request its own key",
            )
            .into()),
        }
    }
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
        let held = claims.hold(acme, claim("a"));
        assert!(held.is_some());
        assert!(claims.hold(acme, claim("a")).is_none());
        assert!(claims.hold(acme, claim("b")).is_some(), "and was given back at once");
        assert!(claims.hold(globex, claim("a")).is_some());
        drop(held);
        assert!(claims.hold(acme, claim("a")).is_some());
        assert!(claims.0.is_empty());
    }

    #[test]
    fn a_panic_gives_the_key_back() {
        let claims = Claims::default();
        let held = claims.hold(Uuid::nil(), claim("a"));
        let fell = std::thread::spawn(move || {
            let _held = held;
            panic!("the pigeon fell off its perch");
        });
        assert!(fell.join().is_err());
        assert!(claims.hold(Uuid::nil(), claim("a")).is_some());
    }
}
