//! The engine: accepts sends, freezes their audience, and delivers them at the pace of their channel.
//!
//! [`Engine`] is the only way in: the HTTP surface holds one and never an actor's address.
//! Inside are actors: one [`channel`] actor for each channel in use, some [`resolver`]s, one [`ledger`] and
//! one [`sentinel`]. Nothing here knows HTTP or SQL.

mod app_secrets;
mod channel;
mod directory;
mod keys;
mod ledger;
mod receipts;
mod resolver;
mod sentinel;
mod shared;
mod suppressions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use actix::{Actor, Addr, Arbiter, ArbiterHandle, MailboxError};
use tokio::sync::watch;
use uuid::Uuid;

use self::app_secrets::AppSecrets;
use self::directory::Directory;
use self::keys::Keys;
pub use self::ledger::Claim;
use self::ledger::{Accept, Close, Condition, Ledger, Listener, Order};
use self::resolver::{Resolve, Resolved, Resolver};
use self::sentinel::Sentinel;
use self::shared::{Shared, Tiers};
use self::suppressions::Suppressions;
use crate::clock::Timestamp;
use crate::config::{self, Config};
use crate::connector;
use crate::domain::channel::Channel;
use crate::domain::content::Content;
use crate::domain::request::{Audience, BusinessRequest, RequestedContent};
pub use crate::domain::request::{Skipped, SkippedEntry};
use crate::domain::send::{Recipients, Schedule, TemplateUse};
use crate::domain::template::{Template, TemplateRequest};
use crate::error::{Code, Refusal};
use crate::store::template::MARKETING;
use crate::store::{self, Lease, Store};
use crate::vault::Vault;

/// When a client should try again while the database cannot write.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A handle to the engine; clones share it.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    directory: Directory,
    keys: Keys,
    app_secrets: AppSecrets,
    resolvers: Vec<Addr<Resolver>>,
    next_resolver: AtomicUsize,
    /// Whether the database answered when it was last asked.
    reachable: AtomicBool,
    stopping: AtomicBool,
    ledger: watch::Receiver<Condition>,
    /// The threads of ledger, resolvers and sentinel.
    threads: [ArbiterHandle; 2],
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The company that the key belongs to.
    pub company_id: Uuid,
    /// The key.
    pub key_id: Uuid,
}

/// On which terms something is sent, besides what and to whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// When it may go.
    pub schedule: Schedule,
    /// The client's key, when the request must be carried out once.
    pub claim: Option<Claim>,
}

/// A send that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub send_id: Uuid,
    /// Unique recipients.
    pub recipients: u64,
    /// Entries that are not numbers, and recipients that are left out.
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

/// Why the engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store failed, or another process dispatches from it.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// No client for the provider could be made.
    #[error(transparent)]
    Connector(#[from] connector::Error),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the store failed");
        if error.is_passing() { Self::Unavailable { retry_after: RETRY_AFTER } } else { Self::Internal }
    }
}

impl From<ledger::Error> for Error {
    fn from(_: ledger::Error) -> Self {
        Self::Unavailable { retry_after: RETRY_AFTER }
    }
}

/// An actor that ended is started anew on the next call.
impl From<MailboxError> for Error {
    fn from(_: MailboxError) -> Self {
        Self::Unavailable { retry_after: RETRY_AFTER }
    }
}

impl Engine {
    /// Starts the actors, and goes on with whatever an earlier process left. Needs a running actix system.
    ///
    /// `lease` gives the right to dispatch from `store`.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or no client for the provider can be made.
    pub async fn start(
        config: &Config,
        store: Store,
        vault: Arc<Vault>,
        lease: Lease,
    ) -> Result<Self, StartError> {
        let removed = store.remove_unresolved().await?;
        if removed > 0 {
            tracing::info!(sends = removed, "removed sends whose audience was never complete");
        }
        // Read first: what changes from here on is seen by the sentinel.
        let seen = store.revisions().await?;
        let (report, condition) = watch::channel(Condition::Writing);
        let (own_store, lease) = (store.clone(), Arc::new(lease));
        let capacity = config.engine.accept_queue;
        let (writers, helpers) = (Arbiter::new().handle(), Arbiter::new().handle());
        let ledger =
            Ledger::start_in_arbiter(&writers, move |_| Ledger::new(own_store, lease, capacity, report));
        let shared = Arc::new(Shared {
            store: store.clone(),
            vault,
            ledger: ledger.clone(),
            tiers: Tiers::default(),
            suppressions: Suppressions::default(),
            engine: config.engine.clone(),
            retry: config.retry.clone(),
            cloud_api: config.cloud_api.clone(),
        });
        let resolvers: Vec<_> = (0..config.engine.resolvers.max(1))
            .map(|_| {
                let shared = Arc::clone(&shared);
                Resolver::start_in_arbiter(&helpers, move |_| Resolver::new(shared))
            })
            .collect();
        let engine = Self(Arc::new(Inner {
            directory: Directory::new(Arc::clone(&shared), config::per_core(config.engine.arbiters))?,
            shared,
            keys: Keys::default(),
            app_secrets: AppSecrets::default(),
            resolvers,
            next_resolver: AtomicUsize::new(0),
            reachable: AtomicBool::new(true),
            stopping: AtomicBool::new(false),
            ledger: condition,
            threads: [writers, helpers.clone()],
        }));
        engine.forget_keys(seen.api_key);
        engine.load_tiers().await?;
        engine.load_suppressions().await?;
        let (watched, interval) = (engine.clone(), config.engine.watch_interval);
        Sentinel::start_in_arbiter(&helpers, move |_| Sentinel::new(watched, interval, seen));
        engine.resume().await?;
        Ok(engine)
    }

    /// Starts the channels that have something left to do.
    async fn resume(&self) -> store::Result<()> {
        for id in self.store().channels_with_work().await? {
            if let Some(channel) = self.directory().find(id).await? {
                self.directory().wake(&channel);
            }
        }
        for channel in self.store().unconfirmed_channels().await? {
            let channel = Arc::new(channel);
            self.directory().update(Arc::clone(&channel));
            self.directory().wake(&channel);
        }
        Ok(())
    }

    /// The store, for lists.
    pub fn store(&self) -> &Store {
        &self.0.shared.store
    }

    /// Who presents this key; `None` when it is unknown, revoked or expired.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the key is not known yet and the database is away.
    pub async fn authenticate(&self, key: &str) -> Result<Option<Caller>, Error> {
        let key = self.0.keys.find(self.store(), key).await?;
        Ok(key.map(|key| Caller { company_id: key.company_id, key_id: key.id }))
    }

    /// The channel of this id, whoever's it is.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel is not known yet and the database is away.
    pub async fn channel(&self, id: Uuid) -> Result<Option<Arc<Channel>>, Error> {
        Ok(self.directory().find(id).await?)
    }

    /// Accepts a send through a business account: everything that it promises is durable when this returns.
    ///
    /// # Errors
    ///
    /// In this order: `template_not_found`, `template_not_approved`, `invalid_components`;
    /// `reconnect_waba`; `no_valid_recipients`. [`Error::Unavailable`] when it cannot be written now.
    pub async fn send(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        terms: Terms,
    ) -> Result<Accepted, Error> {
        if self.0.stopping.load(Ordering::Relaxed) {
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
        let (order, audience) = self.order(channel, request, terms).await?;
        let (listener, gate) = self.directory().actor(channel);
        gate.admit()?;
        let resolved = self.resolve(order, audience, Some(listener)).await?;
        let (Some(send_id), recipients) = (resolved.send_id, resolved.recipients) else {
            return Err(nobody().into());
        };
        metrics::counter!("pombo_sends_accepted_total").increment(1);
        metrics::counter!("pombo_recipients_accepted_total").increment(recipients);
        Ok(Accepted { send_id, recipients, skipped: resolved.skipped })
    }

    async fn order(
        &self,
        channel: &Channel,
        request: BusinessRequest,
        terms: Terms,
    ) -> Result<(Order, Audience), Error> {
        let BusinessRequest { content, audience } = request;
        let (content, template) = match content {
            RequestedContent::Ready(content) => (content, None),
            RequestedContent::Template(requested) => {
                let (content, template) = self.fit(channel, requested).await?;
                (content, Some(template))
            }
        };
        let order = Order {
            company_id: channel.company_id,
            channel_id: channel.id,
            content,
            template,
            schedule: terms.schedule,
            claim: terms.claim,
        };
        Ok((order, audience))
    }

    /// Finds out who is in the audience, and writes the send when there is a `listener` for it.
    async fn resolve(
        &self,
        order: Order,
        audience: Audience,
        listener: Option<Listener>,
    ) -> Result<Resolved, Error> {
        let Audience { mut numbers, tags, mut skipped } = audience;
        numbers.dedup();
        if !tags.is_empty() || numbers.len() > 1 {
            let resolve = Resolve { order: Arc::new(order), numbers, tags, skipped, channel: listener };
            return Ok(self.resolver().send(resolve).await??);
        }
        let is_marketing = order.template.is_some_and(|template| template.is_marketing);
        let suppressions = &self.0.shared.suppressions;
        suppressions.leave_out(order.company_id, is_marketing, &mut numbers, &mut skipped);
        let Some(number) = numbers.pop() else { return Ok(Resolved { skipped, ..Resolved::default() }) };
        let mut resolved = Resolved { send_id: None, recipients: 1, skipped };
        if let Some(channel) = listener {
            let accept = Accept {
                order: Arc::new(order),
                recipients: Recipients::One(number),
                skipped: resolved.skipped.clone(),
                blocks: Vec::new(),
                more: false,
                channel,
            };
            resolved.send_id = Some(self.0.shared.ledger.send(accept).await??);
        }
        Ok(resolved)
    }

    /// Whether the service can take requests.
    pub fn ready(&self) -> Readiness {
        let mut obstacles = Vec::new();
        if self.0.stopping.load(Ordering::Relaxed) {
            obstacles.push("the service is stopping".to_owned());
        }
        if !self.0.reachable.load(Ordering::Relaxed) {
            obstacles.push("the database does not answer".to_owned());
        }
        match *self.0.ledger.borrow() {
            Condition::Writing => {}
            Condition::Failing => obstacles.push("the database cannot be written".to_owned()),
            Condition::Fenced => obstacles.push("another process dispatches from this database".to_owned()),
        }
        Readiness { obstacles }
    }

    /// Returns when this process can dispatch no more, because another one took over or because the ledger
    /// ended by a defect: it must end.
    pub async fn fenced(&self) {
        let mut ledger = self.0.ledger.clone();
        let fenced = ledger.wait_for(|condition| *condition == Condition::Fenced).await;
        if fenced.is_err() && self.0.stopping.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    /// Takes no more sends, waits for the messages in flight, and writes what is known of them.
    pub async fn stop(&self) {
        self.0.stopping.store(true, Ordering::Relaxed);
        self.directory().stop().await;
        // A closed ledger has nothing left to write.
        let _ = self.0.shared.ledger.send(Close).await;
        for thread in &self.0.threads {
            thread.stop();
        }
    }

    /// The content of a template send: the template found, checked and filled in.
    async fn fit(
        &self,
        channel: &Channel,
        requested: TemplateRequest,
    ) -> Result<(Content, TemplateUse), Error> {
        let id = requested.template_id;
        let missing = |what: String| {
            Refusal::new(
                Code::TemplateNotFound,
                format!("{what}; `GET …/templates` lists those that can be sent"),
            )
        };
        let company = channel.company_id;
        let mut found = self
            .store()
            .find_template(company, id)
            .await?
            .ok_or_else(|| missing(format!("there is no template {id} in this company")))?;
        if Some(&found.waba_id) != channel.waba_id.as_ref() {
            return Err(missing(format!(
                "template {id} belongs to another business account than the channel"
            ))
            .into());
        }
        if let Some(language) = requested.language.as_ref().filter(|language| **language != found.language) {
            let (waba, name) = (found.waba_id.clone(), found.name.clone());
            found = self
                .store()
                .find_template_by_name(company, &waba, &name, language)
                .await?
                .ok_or_else(|| missing(format!("template {id} ({name}) does not exist in {language}")))?;
        }
        let template = TemplateUse { id: found.id, is_marketing: found.category == MARKETING };
        Ok((requested.fit(&Template::from(found))?, template))
    }

    fn resolver(&self) -> &Addr<Resolver> {
        let next = self.0.next_resolver.fetch_add(1, Ordering::Relaxed);
        &self.0.resolvers[next % self.0.resolvers.len()]
    }

    fn directory(&self) -> &Directory {
        &self.0.directory
    }

    fn forget_keys(&self, revision: i64) {
        self.0.keys.forget_before(revision);
    }

    async fn load_tiers(&self) -> store::Result<()> {
        let tiers = self.store().tiers().await?;
        self.0.shared.tiers.replace(tiers.into_iter().map(|tier| (tier.name, tier.settings)));
        Ok(())
    }

    async fn load_suppressions(&self) -> store::Result<()> {
        let records = self.store().suppressions(Timestamp::now()).await?;
        self.0.shared.suppressions.replace(records);
        Ok(())
    }

    fn set_reachable(&self, reachable: bool) {
        self.0.reachable.store(reachable, Ordering::Relaxed);
    }
}

fn nobody() -> Refusal {
    Refusal::new(
        Code::NoValidRecipients,
        "nobody is left to send to: give a number of 7 to 15 digits that begins with a country code, or a tag \
         with contacts that have one",
    )
}
