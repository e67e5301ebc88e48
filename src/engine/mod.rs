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
mod error;
mod fair_line;
mod idempotency;
mod imports;
mod indexing;
mod journey;
mod keys;
mod last_seconds;
mod ledger;
mod machine;
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
mod start;
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

use actix::{Addr, ArbiterHandle};
use tokio::sync::watch;
use uuid::Uuid;

pub use self::accept::Rehearsal;
use self::app_secrets::{AppSecrets, VerifyTokens};
use self::channel::ClockWasSet;
pub use self::contact_change::{MOST_AT_ONCE, Whom, no_such_tag};
use self::directory::Directory;
pub use self::error::{Error, StartError};
use self::idempotency::Claims;
pub use self::idempotency::{Held, KEPT, Turn};
use self::imports::Imports;
pub use self::imports::{
    ImportChange, NewUpload, Shown, Upload, no_such_import, settings as import_settings,
};
pub use self::journey::Traced;
use self::keys::Keys;
pub use self::ledger::Claim;
use self::ledger::{Close, Condition};
pub use self::new_channel::{Addition, Check, NotAdded, Number, Unfit};
pub use self::records::Records;
use self::records::RequestShare;
use self::requests::Requests;
pub use self::requests::{Allowance, Exhausted};
use self::resolver::Resolver;
pub use self::retry::Retried;
use self::shared::Shared;
pub use self::steering::no_such_send;
pub use self::tallies::Counted;
use self::tallies::Tallies;
use self::wall_clock::Jump;
pub use self::web_send::{RehearsedFile, WebRehearsal};
pub use self::web_session::HandedOver;
use self::web_session::WebSessions;
pub use self::webhook::{Webhook, verify_token};
use crate::clock::Timestamp;
use crate::config;
use crate::domain::channel::Channel;
pub use crate::domain::request::{Skipped, SkippedEntry};
use crate::domain::scope::Scopes;
use crate::domain::send::Schedule;
use crate::store::api_key::KeyRecord;
use crate::store::{self, Store};

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
    /// What the company calls the key; empty for a session's token.
    pub key_name: Arc<str>,
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

impl Engine {
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
            let KeyRecord { id: key_id, company_id, name: key_name, tier, scopes, .. } = key;
            Caller { company_id, key_id, key_name, tier, scopes }
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
