//! The start of the engine: creates its parts, and handles what an earlier process left.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};

use actix::{Actor, ArbiterHandle};
use tokio::sync::watch;

use super::accept::idempotency::Claims;
use super::accept::resolver::{self, Resolver};
use super::access::app_secrets::{AppSecrets, VerifyTokens};
use super::access::keys::Keys;
use super::access::requests::Requests;
use super::activity::Activity;
use super::alerts::Mailing;
use super::census::Census;
use super::channel::directory::Directory;
use super::connections::ThreadConnections;
use super::contacts::change::Changes;
use super::contacts::imports::{Imports, Runner};
use super::contents::{Answers, ContentKeys};
use super::events::tail::Tail;
use super::graph::{KnownNumbers, PassBounds};
use super::handover::SessionHandles;
use super::health::Health;
use super::incoming::IncomingFiles;
use super::ledger::{Condition, Ledger, Listeners};
use super::mailbox::Door;
use super::media::Library;
use super::nodes::Nodes;
use super::reader::Reader;
use super::records::RequestShare;
use super::rounds;
use super::sends::tallies::Tallies;
use super::sends::watching::Watches;
use super::shared::{Common, Shared};
use super::upkeep::accounts;
use super::upkeep::retention::Retention;
use super::upkeep::sentinel::Sentinel;
use super::web_session::{self, WebSessions};
use super::webhooks::Deliverer;
use super::window_gate::SharedWindows;
use super::{Engine, Inner, LONGEST_HOLD, StartError, receipts, threads};
use clock::Timestamp;
use cluster::{Carrier, Cluster, Heartbeat, Nobody};
use config::Config;
use connectors::cloud_api::{Connections, FileHosts};
use connectors::fair_semaphore::FairSemaphore;
use driver::Driver;
use store::{Lease, Purpose, Store};
use vault::Vault;

impl Engine {
    /// Starts the actors, and continues the work of an earlier process. Needs a running actix system.
    ///
    /// `lease` gives the right to dispatch from `store`, and to open its web sessions through `driver`; without a
    /// driver there are none.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or no client for the provider can be created.
    pub async fn start(
        config: &Config,
        store: Store,
        vault: Arc<Vault>,
        lease: Lease,
        driver: Option<Arc<dyn Driver>>,
    ) -> Result<Self, StartError> {
        Box::pin(Self::start_carried(config, store, vault, lease, driver, Arc::new(Nobody))).await
    }

    /// The same for a node of a cluster, with the carrier between its nodes.
    ///
    /// # Errors
    ///
    /// As for [`Engine::start`].
    pub async fn start_carried(
        config: &Config,
        store: Store,
        vault: Arc<Vault>,
        lease: Lease,
        driver: Option<Arc<dyn Driver>>,
        carrier: Arc<dyn Carrier>,
    ) -> Result<Self, StartError> {
        let lease = Arc::new(lease);
        let (cluster, node) = Cluster::of(&store, &lease, carrier);
        // The heartbeat first: the following steps may take longer than a lease lasts.
        let (heart, events) = node.map(|(shell, events)| (beat(shell), events)).unzip();
        let requests = RequestShare::new(store.clone(), config.database.acquire_timeout);
        let store = store.reserved_for(Purpose::Engine);
        store.sends().clock_went_back(Timestamp::now(), LONGEST_HOLD).await?;
        let is_first = match cluster.node() {
            Some(node) => {
                store.nodes().all().await?.iter().all(|other| other.id == node || !other.is_alive())
            }
            None => true,
        };
        Self::end_what_was_left(config, &store, &lease, is_first).await?;
        // Read first: the sentinel sees changes from here on.
        let seen = store.revisions().await?;
        let (report, condition) = watch::channel(Condition::Writing);
        let own_store = store.reserved_for(Purpose::Ledger);
        let (patience, capacity) = (config.database.commit_timeout, config.engine.accept_queue);
        let (dispatching, listeners) = (Arc::clone(&lease), Arc::new(Listeners::default()));
        let told_by_ledger = Arc::clone(&listeners);
        let (writers, helpers) = (threads::start(), threads::start());
        let ledger = Door::to(Ledger::start_in_arbiter(&writers, move |_| {
            Ledger::new(own_store, lease, (patience, capacity), told_by_ledger, report)
        }));
        let handles = Arc::new(SessionHandles::default());
        let (updates, session_updates) = web_session::session_updates();
        let supervision = web_session::Supervision {
            store: store.clone(),
            vault: Arc::clone(&vault),
            handles: Arc::clone(&handles),
            updates,
        };
        let web_sessions = WebSessions::new(supervision, driver, &config.web_session, helpers.clone());
        let probe_interval = config.cloud_api.probe_interval;
        let media = Arc::new(Library::new(config, store.clone(), Arc::clone(&vault))?);
        let contents = Arc::new(ContentKeys::new(store.clone(), Arc::clone(&vault), Arc::clone(&media)));
        let shared = Arc::new(Shared {
            common: Arc::new(
                Common::new(config.engine.clone(), config.retry.clone(), probe_interval)
                    .listing_templates_each(config.cloud_api.template_sync_interval),
            ),
            store: store.clone(),
            media,
            vault,
            ledger,
            reader: Reader::new(store.reserved_for(Purpose::Dispatch)),
            windows: SharedWindows::default(),
            audiences: FairSemaphore::new(config.engine.resolvers.max(1).saturating_mul(resolver::AT_ONCE)),
            cloud_api: config.cloud_api.clone(),
            handles,
            activity: Activity::default(),
            cluster,
            health: Health::default(),
            census: Census::default(),
            contents: Arc::clone(&contents),
            keeps_inbox: !config.inbox.keep.is_zero(),
            answers: Answers::default(),
            directory: config.data.dir.clone(),
        });
        let resolvers: Vec<_> = (0..config.engine.resolvers.max(1))
            .map(|_| {
                let shared = Arc::clone(&shared);
                Resolver::start_in_arbiter(&helpers, move |_| Resolver::new(shared))
            })
            .collect();
        let tail = Arc::<Tail>::default();
        let (webhooks, deliveries) =
            Deliverer::new(config, store, contents, Arc::clone(&shared.vault), Arc::clone(&tail))?;
        let engine = Self(Arc::new(Inner {
            directory: Directory::new(
                Arc::clone(&shared),
                listeners,
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
            connections: ThreadConnections::new(config.network.clone()),
            tallies: Tallies::default(),
            send_costs: Tallies::default(),
            days: Tallies::default(),
            watches: Watches::default(),
            tail,
            webhooks,
            mailing: Mailing::default(),
            imports: Imports::new(config.imports.max_bytes),
            contact_changes: Changes::default(),
            nodes: Nodes::new(&config.limits),
            forms: OnceLock::new(),
            known_numbers: KnownNumbers::default(),
            pass_bounds: PassBounds::default(),
            threads: [writers, helpers.clone()],
            heart,
        }));
        engine.0.keys.forget_before(seen.api_key);
        engine.0.shared.load_tiers().await?;
        engine.load_suppressions().await?;
        let ages = config.retention.clone();
        let retention = Retention::new(Arc::clone(&engine.0.shared), Arc::clone(&dispatching), ages, config);
        let interval = config.engine.watch_interval;
        // Another node may be receiving an upload.
        let discarded = if is_first { engine.store().imports().discard_uploads().await? } else { 0 };
        if discarded > 0 {
            tracing::info!(uploads = discarded, "discarded incomplete uploads");
        }
        super::events::follow(&engine, &config.events);
        super::webhooks::deliver(&engine, deliveries);
        let mut runner = Runner::new(engine.clone(), Arc::clone(&dispatching));
        rounds::repeat(&helpers, "imports", async move || runner.round().await);
        let mut files = IncomingFiles::new(
            Arc::clone(&engine.0.shared),
            Arc::clone(&dispatching),
            Connections::new(&config.cloud_api, &config.network)?,
            FileHosts::new(&config.media, &config.network)?,
            &config.media,
        );
        rounds::repeat(&helpers, "incoming files", async move || files.round().await);
        let (watching, is_measured) = (engine.clone(), config.metrics.enabled);
        Sentinel { engine: watching, interval, seen, lease: dispatching, retention, is_measured }
            .start(&helpers);
        helpers.spawn(engine.clone().take_in(session_updates));
        let connections = Connections::new(&config.cloud_api, &config.network)?;
        helpers.spawn(accounts::keep(engine.clone(), connections));
        match events {
            Some(events) => engine.join(&helpers, events),
            None => {
                engine.go_on().await?;
                engine.0.web_sessions.resume().await?;
            }
        }
        Ok(engine)
    }

    /// Ends the unfinished work of an earlier process; in a cluster, `is_first` says that no other node serves.
    async fn end_what_was_left(
        config: &Config,
        store: &Store,
        lease: &Lease,
        is_first: bool,
    ) -> Result<(), StartError> {
        let removed = match lease.node() {
            Some(_) => store.nodes().remove_abandoned(lease).await?,
            None => store.sends().remove_unresolved(lease).await?,
        };
        if removed > 0 {
            tracing::info!(sends = removed, "removed sends with an incomplete audience");
        }
        if !is_first {
            return Ok(());
        }
        // While no process ran, no receipts arrived: messages that wait for one wait again.
        let grace_ends = Timestamp::now().plus(config.retry.unknown_grace);
        let in_doubt = store.sends().put_off_unknown(grace_ends).await?;
        if in_doubt > 0 {
            tracing::info!(messages = in_doubt, until = %grace_ends, "waiting for receipts of messages with an unknown outcome");
        }
        let left = store.sends().end_left_messages(Timestamp::now()).await?;
        if left > 0 {
            tracing::info!(sends = left, "ended the waiting messages of ended sends");
        }
        Ok(())
    }

    /// Starts the channels that have work.
    async fn go_on(&self) -> store::Result<()> {
        let with_work = self.store().channels().working().await?;
        for channel in with_work.into_iter().chain(self.store().channels().unconfirmed().await?) {
            let channel = Arc::new(channel);
            self.directory().update(Arc::clone(&channel));
            self.directory().wake(&channel);
        }
        Ok(())
    }
}

/// Keeps a node in its cluster, on a thread of its own.
fn beat(shell: Heartbeat) -> ArbiterHandle {
    let thread = threads::start();
    thread.spawn_fn(move || {
        actix::spawn(shell.run());
    });
    thread
}
