//! The engine: accepts sends, freezes their audience, and delivers them at the pace of their channel.
//!
//! [`Engine`] is the only way in: the HTTP surface holds one and never an actor's address.
//! Inside are actors: one [`channel`] actor for each channel in use, some [`resolver`]s and one [`ledger`];
//! and tasks: the rounds of the [`sentinel`], and one for each [web session](web_session). Nothing here knows HTTP or SQL.

mod accept;
pub mod activity;
mod app_secrets;
mod channel;
mod contact_change;
mod directory;
mod fair_line;
mod idempotency;
mod imports;
mod indexing;
mod journey;
mod keys;
mod ledger;
mod messages_csv;
mod new_channel;
mod operation;
mod outlook;
mod pace;
pub mod plan;
mod planted;
mod quota;
mod reader;
mod receipts;
mod records;
mod requests;
mod resolver;
mod retention;
pub mod retiering;
mod retry;
mod rounds;
mod sentinel;
mod shared;
mod steering;
mod suppressions;
mod tallies;
mod template_sync;
mod threads;
mod throttle;
#[cfg(any(test, feature = "universe"))]
pub mod universe;
mod wall_clock;
mod web_send;
pub mod web_session;
mod webhook;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use actix::{Actor, Addr, ArbiterHandle, MailboxError};
use tokio::sync::watch;
use uuid::Uuid;

pub use self::accept::Rehearsal;
use self::app_secrets::{AppSecrets, VerifyTokens};
use self::channel::ClockWasSet;
pub use self::contact_change::{MOST_AT_ONCE, Whom, no_such_tag};
use self::directory::Directory;
use self::idempotency::Claims;
pub use self::idempotency::{Held, KEPT, Turn};
pub use self::imports::{
    ImportChange, NewUpload, Shown, Upload, no_such_import, settings as import_settings,
};
use self::imports::{Imports, Runner};
pub use self::journey::Traced;
use self::keys::Keys;
pub use self::ledger::Claim;
use self::ledger::{Close, Condition, Ledger};
pub use self::new_channel::{NewBusinessAccount, NotAdded, Unfit};
pub use self::operation::{Addition, Number};
use self::reader::Reader;
pub use self::records::Records;
use self::records::RequestShare;
use self::requests::Requests;
pub use self::requests::{Allowance, Exhausted};
use self::resolver::Resolver;
use self::retention::Retention;
pub use self::retry::Retried;
use self::sentinel::Sentinel;
use self::shared::{Common, Shared};
pub use self::steering::no_such_send;
pub use self::tallies::Counted;
use self::tallies::Tallies;
use self::template_sync::TemplateSync;
use self::wall_clock::Jump;
pub use self::web_send::{RehearsedFile, WebRehearsal};
pub use self::web_session::HandedOver;
use self::web_session::{Lines, WebSessions};
pub use self::webhook::{Webhook, verify_token};
use crate::clock::Timestamp;
use crate::config::{self, Config};
use crate::connector;
use crate::connector::cloud_api::Connections;
use crate::connector::media::Fetcher;
use crate::connector::web_session::Driver;
use crate::domain::channel::Channel;
use crate::domain::limit::Spent;
pub use crate::domain::request::{Skipped, SkippedEntry};
use crate::domain::scope::Scopes;
use crate::domain::send::Schedule;
use crate::error::Refusal;
use crate::fair_semaphore::FairSemaphore;
use crate::store::api_key::KeyRecord;
use crate::store::{self, Lease, Purpose, Store};
use crate::vault::Vault;

/// When a client should try again while the database cannot write.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The longest that a recipient is held: who is held for longer was held by a clock that was ahead.
const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3_600);
/// How often in a row suppressions are read again because others were heard meanwhile. What the last reading
/// missed is one that a person and a webhook changed in the same moment.
const MOST_LOADS: usize = 3;

/// A handle to the engine; clones share it.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    directory: Directory,
    keys: Keys,
    requests: Requests,
    claims: Claims,
    app_secrets: AppSecrets,
    verify_tokens: VerifyTokens,
    web_sessions: WebSessions,
    resolvers: Vec<Addr<Resolver>>,
    next_resolver: AtomicUsize,
    /// Whether the database answered when it was last asked.
    reachable: AtomicBool,
    stopping: AtomicBool,
    ledger: watch::Receiver<Condition>,
    /// Whether another process was seen to have taken the lease.
    lease_lost: watch::Sender<bool>,
    request_share: RequestShare,
    intake: receipts::Intake,
    /// How the provider is reached, for questions outside of channels.
    network: config::Network,
    tallies: Tallies,
    imports: Imports,
    /// Companies whose contacts are being changed in bulk.
    contact_changes: contact_change::Changes,
    /// The threads of ledger, and of resolvers, sentinel and keepers of web sessions.
    threads: [ArbiterHandle; 2],
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The company that the key belongs to.
    pub company_id: Uuid,
    /// The key; of a session's token the session.
    pub key_id: Uuid,
    /// The name of the company's tier.
    pub tier: Arc<str>,
    /// What the key may be used for.
    pub scopes: Scopes,
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
    /// When it may go, as the request asked.
    pub schedule: Schedule,
}

/// Whether the service can take requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// What stands in the way, a sentence each; empty when ready.
    pub obstacles: Vec<String>,
}

/// Why a process can dispatch no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fenced {
    /// Another process has the lease.
    TakenOver,
    /// The ledger ended by a defect of ours, which was logged: nothing can be written any more.
    Defect,
}

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It comes too soon for what a channel may do.
    #[error("{sentence}")]
    TooSoon {
        /// When to try again.
        retry_after: Duration,
        /// For a person: which limit holds, and what sets it.
        sentence: String,
        /// Which allowance is used up.
        spent: Spent,
    },
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
    fn from(error: ledger::Error) -> Self {
        match error {
            ledger::Error::Unavailable | ledger::Error::Closed => {
                Self::Unavailable { retry_after: RETRY_AFTER }
            }
            ledger::Error::Refused => Self::Internal,
        }
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
    /// `lease` gives the right to dispatch from `store`, and to open its web sessions through `driver`; without one
    /// there are none.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or no client for the provider can be made.
    pub async fn start(
        config: &Config,
        store: Store,
        vault: Arc<Vault>,
        lease: Lease,
        driver: Option<Arc<dyn Driver>>,
    ) -> Result<Self, StartError> {
        let requests = RequestShare::new(store.clone(), config.database.acquire_timeout);
        let store = store.reserved_for(Purpose::Engine);
        store.clock_went_back(Timestamp::now(), LONGEST_HOLD).await?;
        let removed = store.remove_unresolved(&lease).await?;
        if removed > 0 {
            tracing::info!(sends = removed, "removed sends whose audience was never complete");
        }
        // While no process ran, receipts found nobody: what waits for them waits anew.
        let grace_ends = Timestamp::now().plus(config.retry.unknown_grace);
        let in_doubt = store.put_off_doubts(grace_ends).await?;
        if in_doubt > 0 {
            tracing::info!(messages = in_doubt, until = %grace_ends, "waiting for receipts of what was perhaps sent");
        }
        let left = store.end_left_messages(Timestamp::now()).await?;
        if left > 0 {
            tracing::info!(sends = left, "ended what waited in sends that are over");
        }
        // Read first: what changes from here on is seen by the sentinel.
        let seen = store.revisions().await?;
        let (report, condition) = watch::channel(Condition::Writing);
        let (own_store, lease) = (store.reserved_for(Purpose::Ledger), Arc::new(lease));
        let (patience, capacity) = (config.database.commit_timeout, config.engine.accept_queue);
        let dispatching = Arc::clone(&lease);
        let (writers, helpers) = (threads::start(), threads::start());
        let ledger = Ledger::start_in_arbiter(&writers, move |_| {
            Ledger::new(own_store, lease, patience, capacity, report)
        });
        let (lines, (tell, told)) = (Arc::new(Lines::default()), web_session::told());
        let keeping = web_session::Keeping {
            store: store.clone(),
            vault: Arc::clone(&vault),
            lines: Arc::clone(&lines),
            tell,
        };
        let web_sessions = WebSessions::new(keeping, driver, &config.web_session, helpers.clone());
        let probe_interval = config.cloud_api.probe_interval;
        let shared = Arc::new(Shared {
            common: Arc::new(Common::new(config.engine.clone(), config.retry.clone(), probe_interval)),
            store: store.clone(),
            vault,
            ledger: ledger.clone(),
            template_sync: TemplateSync::new(config.cloud_api.template_sync_interval),
            reader: Reader::new(store.reserved_for(Purpose::Dispatch)),
            audiences: FairSemaphore::new(config.engine.resolvers.max(1).saturating_mul(resolver::AT_ONCE)),
            cloud_api: config.cloud_api.clone(),
            lines,
            fetcher: Arc::new(Fetcher::new(&config.media)?),
            activity: activity::Activity::default(),
        });
        let resolvers: Vec<_> = (0..config.engine.resolvers.max(1))
            .map(|_| {
                let shared = Arc::clone(&shared);
                Resolver::start_in_arbiter(&helpers, move |_| Resolver::new(shared))
            })
            .collect();
        let engine = Self(Arc::new(Inner {
            directory: Directory::new(
                Arc::clone(&shared),
                config::per_core(config.engine.arbiters),
                &config.network,
            )?,
            shared,
            keys: Keys::default(),
            claims: Claims::default(),
            app_secrets: AppSecrets::default(),
            verify_tokens: VerifyTokens::default(),
            web_sessions,
            resolvers,
            requests: Requests::default(),
            next_resolver: AtomicUsize::new(0),
            reachable: AtomicBool::new(true),
            stopping: AtomicBool::new(false),
            ledger: condition,
            lease_lost: watch::Sender::new(false),
            request_share: requests,
            intake: receipts::Intake::default(),
            network: config.network.clone(),
            tallies: Tallies::default(),
            imports: Imports::new(config.imports.max_bytes),
            contact_changes: contact_change::Changes::default(),
            threads: [writers, helpers.clone()],
        }));
        engine.forget_keys(seen.api_key);
        engine.load_tiers().await?;
        engine.load_suppressions().await?;
        let ages = config.retention.clone();
        let retention = Retention::new(Arc::clone(&engine.0.shared), Arc::clone(&dispatching), ages);
        let interval = config.engine.watch_interval;
        let discarded = engine.store().discard_uploads().await?;
        if discarded > 0 {
            tracing::info!(uploads = discarded, "discarded files that did not arrive whole");
        }
        let mut runner = Runner::new(engine.clone(), Arc::clone(&dispatching));
        rounds::repeat(&helpers, "imports", async move || runner.round().await);
        Sentinel { engine: engine.clone(), interval, seen, lease: dispatching, retention }.start(&helpers);
        helpers.spawn(engine.clone().take_in(told));
        let connections = Connections::new(&config.cloud_api, &config.network)?;
        helpers.spawn(template_sync::keep(Arc::clone(&engine.0.shared), connections));
        engine.go_on().await?;
        engine.0.web_sessions.resume().await?;
        Ok(engine)
    }

    /// Starts the channels that have something left to do.
    async fn go_on(&self) -> store::Result<()> {
        let with_work = self.store().working_channels().await?;
        for channel in with_work.into_iter().chain(self.store().unconfirmed_channels().await?) {
            let channel = Arc::new(channel);
            self.directory().update(Arc::clone(&channel));
            self.directory().wake(&channel);
        }
        Ok(())
    }

    /// The store, for the engine's own work. What requests list or change goes through [`Engine::records_of`].
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
        Ok(key.map(|key| {
            let KeyRecord { id: key_id, company_id, tier, scopes, .. } = key;
            Caller { company_id, key_id, tier, scopes }
        }))
    }

    /// Counts a request of the caller's company; what is left of its allowance, or `None` when its tier knows no
    /// bound.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the company made as many requests as its tier allows.
    pub fn admit_request(&self, caller: &Caller) -> Result<Option<Allowance>, Exhausted> {
        self.0.requests.admit(caller.company_id, &caller.tier, &self.0.shared.tiers)
    }

    /// The channel of this id, whoever's it is.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel is not known yet and the database is away.
    pub async fn channel(&self, id: Uuid) -> Result<Option<Arc<Channel>>, Error> {
        Ok(self.directory().find(id).await?)
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
        let condition = if *self.0.lease_lost.borrow() { Condition::Fenced } else { *self.0.ledger.borrow() };
        match condition {
            Condition::Writing => {}
            Condition::Failing => obstacles.push("the database cannot be written".to_owned()),
            Condition::Fenced => obstacles.push("another process dispatches from this database".to_owned()),
        }
        Readiness { obstacles }
    }

    /// Returns when this process can dispatch no more and must end, and says why.
    pub async fn fenced(&self) -> Fenced {
        let (mut ledger, mut lost) = (self.0.ledger.clone(), self.0.lease_lost.subscribe());
        let fenced = tokio::select! {
            fenced = ledger.wait_for(|condition| *condition == Condition::Fenced) => fenced.map(drop),
            lost = lost.wait_for(|lost| *lost) => lost.map(drop),
        };
        match fenced {
            Ok(()) => Fenced::TakenOver,
            Err(_) if self.0.stopping.load(Ordering::Relaxed) => std::future::pending().await,
            Err(_) => Fenced::Defect,
        }
    }

    /// Takes no more sends, waits for the messages in flight, and writes what is known of them. Ends the web sessions;
    /// their phones stay linked.
    pub async fn stop(&self) {
        self.0.stopping.store(true, Ordering::Relaxed);
        // Channels wait for the word of what was just handed over, which sessions bring.
        self.directory().stop().await;
        self.0.shared.errands.end(Timestamp::now());
        self.0.web_sessions.stop().await;
        // A closed ledger has nothing left to write.
        let _ = self.0.shared.ledger.send(Close).await;
        self.0.shared.reader.stop();
        for thread in &self.0.threads {
            thread.stop();
        }
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

    /// Takes over who is left out, and reads again when something was heard meanwhile.
    async fn load_suppressions(&self) -> store::Result<()> {
        for _ in 0..MOST_LOADS {
            let loading = self.0.shared.suppressions.load();
            if loading.finish(self.store().suppressions(Timestamp::now()).await?) {
                break;
            }
        }
        Ok(())
    }

    /// Another process has the lease: this one can write no more, and ends.
    fn lose_lease(&self) {
        if !self.0.lease_lost.send_replace(true) {
            tracing::error!("another process dispatches from this database now");
        }
    }

    /// The wall clock was set: whatever waits for a moment of it is looked at again, and what the service decided by
    /// a clock that was ahead waits no longer for that.
    async fn clock_was_set(&self, jump: Jump) -> store::Result<()> {
        if let Jump::Back(_) = jump {
            let now = Timestamp::now();
            self.store().clock_went_back(now, LONGEST_HOLD).await?;
            self.0.shared.quotas.clock_went_back(now);
            self.load_suppressions().await?;
        }
        self.directory().tell_all(|| ClockWasSet);
        Ok(())
    }

    fn set_reachable(&self, reachable: bool) {
        self.0.reachable.store(reachable, Ordering::Relaxed);
    }
}
