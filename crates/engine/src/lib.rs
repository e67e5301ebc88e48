//! The engine: accepts sends, freezes their audience, and delivers them at the pace of their channel.
//!
//! [`Engine`] is the only way in: the HTTP surface holds one, and never an actor's address nor the store. It reads and
//! changes a company's records through [`records`], which is bound to that company. Inside are actors: one [`channel`]
//! actor for each channel in use, some [resolvers](accept::resolver) and one [`ledger`]; and tasks: the rounds of the
//! [upkeep], and one for each [web session](web_session). Nothing here knows HTTP or SQL.
//!
//! What reads or writes the database fails with [`Error::Unavailable`] while it is away or too many requests wait; an
//! item's `# Errors` names only what else it refuses.

mod accept;
mod access;
mod account;
pub mod activity;
mod alerts;
mod asking;
mod census;
mod channel;
mod connections;
mod contacts;
mod contents;
pub mod conversations;
pub mod costs;
mod error;
pub mod events;
mod fair_queue;
mod gathered;
pub mod graph;
mod handover;
mod health;
mod incoming;
mod last_seconds;
mod ledger;
mod mailbox;
mod media;
mod nodes;
mod notices;
mod pacer;
pub mod programs;
mod reader;
mod receipts;
mod recent;
pub mod records;
mod rounds;
mod sends;
mod shared;
mod start;
mod templates;
mod threads;
mod traces;
#[cfg(any(test, feature = "universe"))]
pub mod universe;
mod upkeep;
pub mod web_session;
mod webhooks;
mod window_gate;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::{Addr, ArbiterHandle};
use tokio::sync::watch;
use uuid::Uuid;

use self::accept::idempotency::Claims;
pub use self::accept::idempotency::{KEPT, KeyGuard, Turn};
use self::accept::resolver::Resolver;
pub use self::accept::retry::Retried;
pub use self::accept::web_send::WebSends;
pub use self::accept::web_send::{DryRunFile, NumbersChecked, WebDryRun};
pub use self::accept::{DryRun, DryRunInstead, plan};
use self::access::app_secrets::{AppSecrets, VerifyTokens};
use self::access::keys::Keys;
use self::access::requests::Requests;
pub use self::access::requests::{Allowance, Exhausted};
pub use self::access::{Caller, company_disabled};
use self::alerts::Mailing;
pub use self::alerts::{AlertFact, AlertLetter, AlertMails, AlertTopic, Composer};
pub use self::channel::Channels;
pub use self::channel::Sample;
pub use self::channel::addition::{Added, Addition, Check, NotAdded, Number};
pub use self::channel::checks::{Checked, CheckedField, Unfit};
use self::channel::directory::Directory;
pub use self::channel::load::Load;
pub use self::channel::retiering;
use self::connections::ThreadConnections;
pub use self::contacts::Contacts;
use self::contacts::change::Changes;
pub use self::contacts::change::{MOST_AT_ONCE, Whom, no_such_tag};
pub use self::contacts::imports::ContactImports;
use self::contacts::imports::Imports;
pub use self::contacts::imports::{
    ImportChange, ListedRecipients, MOST_RECIPIENT_BYTES, NewSeparator, NewUpload, RecipientColumns, Shown,
    ShownTag, Upload, WantedRows, no_such_import, settings as import_settings,
};
pub use self::contacts::opted_out::{Skip, skip_of};
pub use self::contacts::own_fields::no_such_field;
pub use self::conversations::Conversations;
pub use self::error::{Error, StartError};
use self::events::tail::Tail;
pub use self::handover::{Form, HandedOver};
pub use self::ledger::Claim;
use self::ledger::{Close, Condition};
pub use self::media::{MediaLibrary, MediaUpload, OpenedFile};
pub use self::nodes::ClusterNodes;
pub use self::nodes::ShownCluster;
pub use self::receipts::Webhooks;
pub use self::receipts::webhook::{Webhook, verify_token};
use self::records::RequestShare;
pub use self::rounds::panic_message;
pub use self::sends::Sends;
pub use self::sends::costs::SendCost;
use self::sends::costs::SendMessages;
pub use self::sends::days::{DayCounts, Days};
pub use self::sends::journey::Traced;
pub use self::sends::skipped_csv::skipped_csv;
pub use self::sends::steering::{Steered, SteeringStep, no_such_send};
pub use self::sends::tallies::Counted;
use self::sends::tallies::Tallies;
pub use self::sends::to_person::WithReference;
use self::sends::watching::Watches;
use self::shared::Shared;
pub use self::templates::{Declined, TemplateDesk, TemplateEdit};
use self::upkeep::wall_clock::Jump;
pub use self::web_session::Phones;
use self::web_session::WebSessions;
use self::webhooks::Deliverer;
pub use self::webhooks::{
    CheckedEndpoint, EndpointChange, EndpointRules, Resent, SentExample, ShownEndpoint, StoredEndpoints,
    WebhookEndpoints, checked_secret, example_event, former_until, no_such_webhook, unverified_receiver,
};
pub(crate) use ::machines::{self as machine, planted};
use clock::Timestamp;
use domain::channel::Channel;
pub use domain::request::{Skipped, SkippedEntry};
use domain::send::Schedule;
use store::Store;
pub use store::changes::Who;
pub use store::exports::Exported;

/// When a client should retry while the database cannot write.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The longest hold of a recipient: a longer one was set by a clock that was ahead.
const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3_600);
/// How often in a row suppressions are read again because others arrived meanwhile. The last read misses only changes
/// by a person and a webhook at the same moment.
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
    /// Connections to the provider for questions outside of channels.
    connections: ThreadConnections,
    tallies: Tallies<Uuid, Counted>,
    days: Tallies<Days, DayCounts>,
    send_costs: Tallies<Uuid, SendMessages>,
    /// The sends that callers wait for.
    watches: Watches,
    /// The end of the log of events.
    tail: Arc<Tail>,
    /// Delivers events to the endpoints of companies.
    webhooks: Deliverer,
    /// Held while a mail is being sent.
    mailing: Mailing,
    imports: Imports,
    /// Companies whose contacts are being changed in bulk.
    contact_changes: Changes,
    nodes: nodes::Nodes,
    /// The channels behind the ids of the door that speaks Graph.
    known_numbers: graph::KnownNumbers,
    /// What bounds the requests that the same door passes on to the provider.
    pass_bounds: graph::PassBounds,
    /// The forms in which the surfaces render the answers of web sessions.
    forms: OnceLock<Vec<Form>>,
    /// The threads of ledger, and of resolvers, sentinel and supervisors of web sessions.
    threads: [ArbiterHandle; 2],
    /// The thread of a node's heartbeat.
    heart: Option<ArbiterHandle>,
}

/// A send that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub send_id: Uuid,
    /// Unique recipients, with those of [`Accepted::instead`].
    pub recipients: u64,
    /// The template that goes to those of them whose window is closed.
    pub instead: Option<SentInstead>,
    /// Entries that are not numbers, and recipients that are skipped.
    pub skipped: Skipped,
    /// When it may go, as the request asked.
    pub schedule: Schedule,
    /// The fields of the request that have no effect. They are not stored: an answer that is repeated has them from the
    /// repeated request.
    pub ignored: Vec<String>,
}

/// A template that goes in place of a message, to people whose window is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentInstead {
    /// Its send; the same one as that of the request when everybody gets the template.
    pub send_id: Uuid,
    /// Unique recipients.
    pub recipients: u64,
}

/// Whether the service can take requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// The obstacles, a sentence each; empty when ready.
    pub obstacles: Vec<String>,
    /// What a person should look at although the service takes requests, a sentence each.
    pub details: Vec<String>,
}

/// Why a process can no longer dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fenced {
    /// Another process has the lease.
    TakenOver,
    /// The ledger ended because of a defect, which was logged: nothing can be written any more.
    Defect,
}

impl Engine {
    /// The store, for the engine's own work. Requests list and change records through [`Engine::company`] and
    /// [`Engine::operator`].
    fn store(&self) -> &Store {
        &self.0.shared.store
    }

    /// The channel of this id, of any company.
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
        obstacles.extend(self.0.shared.cluster.obstacle().map(str::to_owned));
        let condition = if *self.0.lease_lost.borrow() { Condition::Fenced } else { *self.0.ledger.borrow() };
        match condition {
            Condition::Writing => {}
            Condition::Failing => obstacles.push("the database cannot be written".to_owned()),
            Condition::Fenced => obstacles.push("another process dispatches from this database".to_owned()),
        }
        let health = &self.0.shared.health;
        let mut details: Vec<_> = health.clock_sentence().into_iter().collect();
        // Other nodes take what needs the key; a process that serves alone does what it can without.
        let keys = if self.0.shared.cluster.is_alone() { &mut details } else { &mut obstacles };
        keys.extend(health.keys_sentence());
        Readiness { obstacles, details }
    }

    /// Returns when this process can no longer dispatch and must end, with the reason.
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

    /// Accepts no more sends, waits for the messages in flight, and writes their outcomes. Ends the web sessions; their
    /// phones stay linked.
    pub async fn stop(&self) {
        self.0.stopping.store(true, Ordering::Relaxed);
        // Channels wait for the acknowledgements of messages just handed over, which sessions bring.
        let (channels, mailing) = (self.directory().stop(), self.0.mailing.stop());
        futures_util::future::join3(channels, self.0.webhooks.stop(), mailing).await;
        self.0.shared.pending_replies.end(Timestamp::now());
        self.0.web_sessions.stop().await;
        // A closed ledger has nothing left to write.
        let _ = self.0.shared.ledger.send(Close).await;
        // The heartbeat's thread has the connections that the node needs to leave.
        self.0.shared.cluster.leave().await;
        if let Some(heart) = &self.0.heart {
            heart.stop();
        }
        self.0.shared.reader.stop();
        self.0.webhooks.end();
        for thread in &self.0.threads {
            thread.stop();
        }
    }

    fn directory(&self) -> &Directory {
        &self.0.directory
    }

    /// Loads the suppressions and the numbers of people, and reads the suppressions again when others arrived meanwhile.
    async fn load_suppressions(&self) -> store::Result<()> {
        self.0.shared.people.replace_waiting(self.store().persons().waiting_users().await?);
        for _ in 0..MOST_LOADS {
            let loading = self.0.shared.suppressions.load().await;
            let records = self.store().suppressions().current(Timestamp::now()).await?;
            // Read last: people get further numbers and lose none, so that every record finds its person.
            if loading.finish(records, self.store().persons().other_numbers(None).await?) {
                break;
            }
        }
        Ok(())
    }

    /// Another process has the lease: this one can no longer write, and ends.
    fn lose_lease(&self) {
        if !self.0.lease_lost.send_replace(true) {
            tracing::error!("another process dispatches from this database now");
        }
    }

    /// The wall clock was set: times that depend on it are computed again, and waits that the service set by a clock
    /// that was ahead are shortened.
    async fn clock_was_set(&self, jump: Jump) -> store::Result<()> {
        if let Jump::Back(_) = jump {
            let now = Timestamp::now();
            self.store().sends().clock_went_back(now, LONGEST_HOLD).await?;
            self.tell_accounts_of_clock();
            self.load_suppressions().await?;
        }
        self.directory().tell_all(|| channel::Input::ClockWasSet);
        Ok(())
    }

    fn set_reachable(&self, reachable: bool) {
        self.0.reachable.store(reachable, Ordering::Relaxed);
    }
}
