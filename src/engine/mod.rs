//! The engine's facade, in its simplest form: it answers from the store and keeps nothing.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::channel::Channel;
use crate::domain::request::{BusinessRequest, RequestedContent};
pub use crate::domain::request::{Skipped, SkippedEntry};
use crate::domain::template::Template;
use crate::error::{Code, Refusal};
use crate::store::{self, Store};

/// A handle to the engine; clones share it.
#[derive(Clone)]
pub struct Engine {
    store: Store,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The company that the key belongs to.
    pub company_id: Uuid,
    /// The key.
    pub key_id: Uuid,
}

/// A send that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub send_id: Uuid,
    /// Unique recipients.
    pub recipients: u64,
    /// Entries that are not numbers.
    pub skipped: Skipped,
}

/// Whether the service can take requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// What stands in the way, a sentence each; empty when ready.
    pub obstacles: Vec<String>,
}

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It may succeed later.
    #[error("unavailable")]
    Unavailable {
        /// When to try again.
        retry_after: Duration,
    },
    /// A defect of ours; it was logged.
    #[error("internal error")]
    Internal,
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the store failed");
        if error.is_passing() {
            Self::Unavailable { retry_after: Duration::from_secs(1) }
        } else {
            Self::Internal
        }
    }
}

impl Engine {
    /// An engine on this store.
    pub const fn new(store: Store) -> Self {
        Self { store }
    }

    /// The store, for lists.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Who presents this key; `None` when it is unknown, revoked or expired.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Caller>, Error> {
        let key = self.store.find_api_key(&Sha256::digest(key.as_bytes()).into()).await?;
        Ok(key
            .filter(|key| key.is_valid(Timestamp::now()))
            .map(|key| Caller { company_id: key.company_id, key_id: key.id }))
    }

    /// The channel of this id, whoever's it is.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn channel(&self, id: Uuid) -> Result<Option<Arc<Channel>>, Error> {
        Ok(self.store.find_channel(id).await?.map(Arc::new))
    }

    /// Accepts a send.
    ///
    /// # Errors
    ///
    /// Refusals that need the template, the channel's state or the resolved recipients.
    pub async fn send(&self, channel: &Channel, request: BusinessRequest) -> Result<Accepted, Error> {
        if let RequestedContent::Template(requested) = request.content {
            let found = self.store.find_template(channel.company_id, requested.template_id).await?;
            let template = found.ok_or_else(|| Refusal::new(Code::TemplateNotFound, "no such template"))?;
            requested.fit(&Template::from(template))?;
        }
        if !channel.connection.accepts() {
            return Err(Refusal::new(Code::ReconnectWaba, "the business account is disconnected").into());
        }
        let mut numbers = request.audience.numbers;
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Err(Refusal::new(Code::NoValidRecipients, "nobody is left to send to").into());
        }
        let skipped = request.audience.skipped;
        Ok(Accepted { send_id: Uuid::now_v7(), recipients: numbers.len() as u64, skipped })
    }

    /// Whether the service can take requests.
    pub fn ready(&self) -> Readiness {
        Readiness::default()
    }
}
