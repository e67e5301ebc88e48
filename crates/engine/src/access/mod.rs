//! Access: API keys, the secrets that webhooks are checked with, and companies' allowances of requests.
//!
//! The state of companies is in memory, so that none of their requests waits for the database to be admitted or
//! refused.

pub(super) mod app_secrets;
pub(super) mod keys;
pub(super) mod requests;

use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use self::requests::{Allowance, Exhausted};
use super::records::CompanyRecords;
use super::{Engine, Error, Who};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::scope::Scopes;
use store::api_keys::KeyRecord;
use vault::api_key;

/// The caller of a request, by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The company that the key belongs to.
    pub company_id: Uuid,
    /// The key; for a session's token, the session.
    pub key_id: Uuid,
    /// The company's name for the key; empty for a session's token.
    pub key_name: Arc<str>,
    /// The name of the company's tier.
    pub tier: Arc<str>,
    /// The scopes of the key.
    pub scopes: Scopes,
    /// The channels that the key is bound to; `None` for all of the company.
    pub channels: Option<Arc<[Uuid]>>,
}

/// The refusal for a key of a disabled company, and for a session's token that reads one.
pub fn company_disabled() -> Refusal {
    Refusal::new(
        Code::CompanyDisabled,
        "this company is disabled: an operator of this service can enable it again",
    )
}

impl Engine {
    /// Authenticates a caller by its key; `None` when the key is unknown, revoked or expired.
    ///
    /// # Errors
    ///
    /// `company_disabled`; [`Error::Unavailable`] when the database is away.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Caller>, Error> {
        let Some(key) = self.0.keys.find(self.store(), key).await? else { return Ok(None) };
        let KeyRecord {
            id: key_id,
            company_id,
            name: key_name,
            tier,
            scopes,
            channels,
            is_company_disabled,
            ..
        } = key;
        if is_company_disabled {
            return Err(company_disabled().into());
        }
        Ok(Some(Caller { company_id, key_id, key_name, tier, scopes, channels }))
    }

    /// Revokes a key of a company: this service refuses it from here on, and other nodes of a cluster once they notice
    /// the change; see [`Engine::others_follow_within`]. `false` when the company has no such key or it was revoked before.
    pub async fn revoke_key(&self, who: &Who, of: &CompanyRecords, id: Uuid) -> Result<bool, Error> {
        let revoked = of.keys().revoke(who, id).await?;
        if let Some(revision) = revoked {
            self.0.keys.forget_before(revision);
        }
        Ok(revoked.is_some())
    }

    /// How long other nodes may accept a key after it was revoked here; `None` without other nodes.
    pub fn others_follow_within(&self) -> Option<Duration> {
        (!self.0.shared.cluster.is_alone()).then_some(self.0.shared.common.engine.watch_interval)
    }

    /// Counts a request of the caller's company. Returns the rest of its allowance, or `None` when its tier has no
    /// bound.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the company made as many requests as its tier allows.
    pub fn admit_request(&self, caller: &Caller) -> Result<Option<Allowance>, Exhausted> {
        let nodes = self.0.shared.cluster.size();
        self.0.requests.admit(caller.company_id, &caller.tier, &self.0.shared.tiers, nodes)
    }

    /// Authenticates an operator by a key and returns its name; `None` when the key is unknown, revoked, expired, or a
    /// company's. Operators are few and make few requests: each reads the store.
    pub async fn authenticate_operator(&self, key: &str) -> Result<Option<String>, Error> {
        let operator = self.store().operators().find(&api_key::hash(key)).await?;
        let valid = operator.filter(|operator| operator.is_valid(Timestamp::now()));
        Ok(valid.map(|operator| operator.name))
    }
}
