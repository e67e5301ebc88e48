//! The running service: the engine and the HTTP surface, until the process is asked to end.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::{Server, ServerHandle};
use actix_web::web;
use anyhow::{Context as _, bail};
use futures_util::future::{join_all, try_join_all};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::shutdown::{self, StopRequest};
use super::{App, doctor, key_proof, measures, open_files, store_options, surfaces, web_session};
use crate::accounts::Accounts;
use crate::api::{self, Listener};
use crate::clock::Timestamp;
use crate::cluster::{self, Carrier, NatsCarrier, Nobody};
use crate::config::{self, Config};
use crate::connector::mail::Mailer;
use crate::connector::nats::{Carries, Nats};
use crate::connector::otlp::Exporter;
use crate::connector::web_session::Driver;
use crate::console;
use crate::domain::address;
use crate::domain::channel::Kind;
use crate::engine::{Engine, Fenced};
use crate::store::event_log::Reader;
use crate::store::nodes::{NewNode, PROTOCOL};
use crate::store::sealing_keys::KeyProof;
use crate::store::{self, Lease, Store};
use crate::surface::Proxies;
use crate::surface::body::Budget;
use crate::vault::Vault;

/// How long to wait for the lease of a process that may have just ended, and how often to ask.
const LEASE_PATIENCE: Duration = Duration::from_secs(3);
const LEASE_PAUSE: Duration = Duration::from_millis(100);
/// The same for a node that joins: the lease of a node with its name lapses meanwhile if that node is gone.
const JOIN_PATIENCE: Duration = cluster::LEASE.saturating_add(Duration::from_secs(1));

/// How long a stop waits at most for the collector of traces, within its grace period.
const FLUSH: Duration = Duration::from_secs(5);

/// The sentence for a service that ended without being asked to.
pub(super) const fn unasked(fenced: Fenced) -> &'static str {
    match fenced {
        Fenced::TakenOver => {
            "another `pombo serve` took over dispatching from this database; this one has ended"
        }
        Fenced::Defect => {
            "writing to the ledger failed because of a defect, which the log shows; nothing is lost: start \
             the service again"
        }
    }
}

/// A listening service. Dropping it does not end it: call [`Service::stop`].
pub struct Service {
    base_url: String,
    operator_url: Option<String>,
    graph_url: Option<String>,
    engine: Engine,
    pages: web::Data<console::State>,
    handles: Vec<ServerHandle>,
    ended: JoinHandle<std::io::Result<()>>,
    /// The export of traces, if there is one.
    exporter: Option<Exporter>,
    /// The grace period of a stop.
    grace: Duration,
}

/// Runs the service until it is asked to end. Prints its address on standard output once it listens, with
/// `json` as a JSON object on one line.
///
/// # Errors
///
/// A sentence for the operator.
pub async fn run(config: Config, json: bool, by: StopRequest) -> anyhow::Result<()> {
    let app = App::open(config).await?;
    let examined = app.clone();
    let service = Box::pin(start(app)).await?;
    // Signals are handled from here on: a program that reads the address may ask for the end at once.
    let requested = shutdown::requested_by(by);
    let line = announced(&service, json);
    // The parent process may have closed the output, which is not a reason to end.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    // Only now, because it reads the database: nobody waits for it.
    let telling = actix_web::rt::spawn(doctor::tell_at_start(examined));
    let fenced = tokio::select! {
        requested = requested => {
            requested?;
            None
        }
        fenced = service.fenced() => Some(fenced),
    };
    // It may hold a connection, which can be given back only while the runtime is there.
    telling.abort();
    let _ = telling.await;
    if let Some(fenced) = fenced {
        service.stop().await?;
        bail!(unasked(fenced))
    }
    tracing::info!("stopping: finishing requests and messages in flight");
    service.stop().await
}

/// The addresses of the service, for a person or a program.
fn announced(service: &Service, json: bool) -> String {
    let base_url = service.base_url();
    match (service.operator_url.as_deref(), json) {
        (None, true) => serde_json::json!({ "base_url": base_url }).to_string(),
        (Some(operator_url), true) => {
            serde_json::json!({ "base_url": base_url, "operator_url": operator_url }).to_string()
        }
        (None, false) => format!("listening on {base_url}"),
        (Some(operator_url), false) => format!("listening on {base_url}, for operators on {operator_url}"),
    }
}

/// A socket that listens at the address of this option.
fn bind(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| {
        format!("cannot listen on {address}; stop the program that listens there, or set another {option}")
    })
}

/// Starts the service and returns once it listens. Needs a running actix system.
///
/// # Errors
///
/// A sentence for the operator, for example when the address is in use or another process serves the
/// database.
pub async fn start(app: App) -> anyhow::Result<Service> {
    let driver = web_session::driver(&app.config.web_session)?;
    start_with(app, driver).await
}

/// Starts the service as [`start`] does, with this driver for web sessions; without a driver there are no web sessions.
pub async fn start_with(app: App, driver: Option<Arc<dyn Driver>>) -> anyhow::Result<Service> {
    let App { mut config, store, vault } = app;
    if let Some(warning) = config.cloud_api.version_warning(Timestamp::now()) {
        tracing::warn!("{warning}");
    }
    let metrics = config.metrics.enabled.then(|| measures::install(config.metrics.detail)).transpose()?;
    let exporter = Exporter::start(&config.telemetry, &config.network)?;
    // The address is bound first: a second service on the same address must not touch the database.
    let socket = bind(config.server.bind, "server.bind")?;
    let address = socket.local_addr()?;
    config.server.bind = address;
    let operators =
        config.server.operator_bind.map(|address| bind(address, "server.operator_bind")).transpose()?;
    let graph_bind = config.graph.bind.filter(|_| config.graph.enabled);
    let programs = graph_bind.map(|address| bind(address, "graph.bind")).transpose()?;
    let graph_address = programs.as_ref().map(TcpListener::local_addr).transpose()?;
    let operator_address = operators.as_ref().map(TcpListener::local_addr).transpose()?;
    let sessions = store.channels().count(Kind::WebSession).await?;
    let connections = open_files::divide(&mut config, sessions)?;
    let holder = format!("process {} at {address}", std::process::id());
    let cluster = config.cluster.is_joined().then_some(config.cluster.name.as_str());
    let nats = Nats::connect(&config.nats, cluster).await?;
    // Events have a connection of their own when it is configured.
    let events = match config.events.own_nats(&config.nats).filter(|_| config.events.enabled) {
        Some(own) => Nats::connect_to_carry(Carries::Events, &own, cluster).await?,
        None => nats.clone(),
    };
    // Before the lease: a process with other keys must not end the one that dispatches.
    key_proof::require(&config, &store, &vault).await?;
    let own_key = key_proof::own(&vault);
    let lease = match config.cluster.is_joined() {
        true => join(&store, &config, (&vault, own_key.as_ref()), &address.to_string()).await?,
        false => {
            let lease = lease(&store, &store_options(&config), &holder).await?;
            if let Some(key) = &own_key {
                store.sealing_keys().add(key).await?;
            }
            lease
        }
    };
    let accounts = Accounts::new(store.clone(), Arc::clone(&vault));
    let carrier: Arc<dyn Carrier> = match &nats {
        Some(nats) => Arc::new(NatsCarrier::new(nats.clone(), Arc::clone(&vault))),
        None => Arc::new(Nobody),
    };
    // Before the engine writes the first event.
    if config.events.enabled {
        store.event_log().register(Reader::Nats, Timestamp::now()).await?;
    } else if !config.cluster.is_joined() {
        // In a cluster, another node may publish. If none does, the reader is forgotten after `events.keep`.
        store.event_log().forget(Reader::Nats).await?;
    }
    let mailer = Mailer::new(&config.mail)?;
    if mailer.is_some() {
        store.event_log().register(Reader::Alerts, Timestamp::now()).await?;
    } else if !config.cluster.is_joined() {
        store.event_log().forget(Reader::Alerts).await?;
    }
    let engine = Box::pin(Engine::start_carried(&config, store, vault, lease, driver, carrier)).await?;
    engine.web_sends().render_as(&[api::SENT, api::ANSWERED, console::SENT]);
    if let Some(events) = events.filter(|_| config.events.enabled) {
        engine.events().publish(events.events(&config.events));
    }
    if let (Some(mailer), Some(url)) = (&mailer, &config.server.public_url) {
        engine.alert_mails().send(mailer.clone(), Arc::new(console::MailWriter::new(url)));
    }
    let proxies = Proxies::new(&config.server.trusted_proxies);
    let options = api::Options {
        body_bytes: config.server.body_limit,
        values_body_bytes: api::VALUES_BODY_BYTES
            .min(config.server.body_memory / 2)
            .max(config.server.body_limit),
        upload_bytes: api::UPLOAD_BYTES,
        directory: config.data.dir.clone(),
        hook_body_bytes: config.server.hook_body_limit,
        body_timeout: config.server.body_timeout,
        client_rate: config.server.client_rate,
        bodies: Budget::new(config.server.body_memory),
        send: config.limits.of_requests(),
        page_size: config.limits.page_size,
        search_chars: config.limits.search_chars,
        docs: config.docs.enabled,
        proxies: proxies.clone(),
        metrics,
    };
    let (public_url, send) = (config.server.public_url.clone(), options.send.clone());
    let door = config.graph.enabled.then(|| web::Data::new(surfaces::door(&config, &engine, &options)));
    let door_on =
        if programs.is_some() { Listener::Graph } else { surfaces::listener_of(operators.is_some()) };
    let state = web::Data::new(api::State { engine: engine.clone(), accounts: accounts.clone(), options });
    let graph = console::GraphPlace::of(&config.graph);
    let options =
        console::Options { public_url, send, proxies, mailer, graph, ..console::Options::default() };
    let pages = web::Data::new(console::State::new(engine.clone(), accounts, options));
    let settings = api::Settings {
        workers: config::per_core(config.server.workers),
        connections,
        keep_alive: config.server.keep_alive,
        client_timeout: config.server.client_timeout,
        write_timeout: config.server.write_timeout,
        client_rate: config.server.client_rate,
        shutdown_grace: config.server.shutdown_grace,
    };
    let listener = surfaces::listener_of(operators.is_some());
    let beside = surfaces::beside(&pages, door.map(|door| (door_on, door)));
    let mut running =
        vec![api::listen(socket, listener, state.clone(), Some(Arc::clone(&beside)), settings)?];
    tracing::info!(%address, connections, "listening");
    if let (Some(socket), Some(address)) = (operators, operator_address) {
        // The operators' listener has its own connections, so that clients of the other address do not keep
        // operators out.
        let settings = api::Settings { workers: 1, connections: open_files::OPERATORS, ..settings };
        let beside = Some(Arc::clone(&beside));
        running.push(api::listen(socket, Listener::Operator, state.clone(), beside, settings)?);
        tracing::info!(%address, "listening for operators");
    }
    if let (Some(socket), Some(address)) = (programs, graph_address) {
        let settings = api::Settings { connections: open_files::GRAPH, ..settings };
        running.push(api::listen(socket, Listener::Graph, state, Some(beside), settings)?);
        tracing::info!(%address, "listening for programs that speak Graph");
    }
    let handles = running.iter().map(Server::handle).collect();
    let ended = tokio::task::spawn_local(async move { try_join_all(running).await.map(|_| ()) });
    Ok(Service {
        base_url: format!("http://{address}"),
        operator_url: operator_address.map(|address| format!("http://{address}")),
        graph_url: graph_address.map(|address| format!("http://{address}")),
        engine,
        pages,
        handles,
        ended,
        exporter,
        grace: config.server.shutdown_grace,
    })
}

/// Takes the lease on dispatching. The lease of a process that was killed may last a moment longer than the
/// process.
async fn lease(store: &Store, options: &store::Options, holder: &str) -> anyhow::Result<Lease> {
    let deadline = Instant::now() + LEASE_PATIENCE;
    loop {
        match store.lease().acquire(options, holder).await {
            Err(store::Error::Taken(_)) if Instant::now() < deadline => tokio::time::sleep(LEASE_PAUSE).await,
            Err(store::Error::Taken(sentence)) => return Err(anyhow::Error::msg(sentence)),
            result => return Ok(result?),
        }
    }
}

/// Joins the cluster as a node. The lock of a process that was killed may last a moment longer, and so may the lease of
/// a node with the same name whose machine is gone.
async fn join(
    store: &Store,
    config: &Config,
    (vault, key): (&Vault, Option<&KeyProof>),
    address: &str,
) -> anyhow::Result<Lease> {
    let clock_ahead = store.nodes().read_clock().await?.map(|reading| reading.ahead());
    let key_ids: Vec<_> = vault.key_ids().iter().map(ToString::to_string).collect();
    let provider = address::shown(&config.cloud_api.base_url);
    let new = NewNode { address, key, clock_ahead, ..described(config, &key_ids, &provider) };
    let new = if new.is_named { new } else { NewNode { name: address, ..new } };
    let (options, deadline) = (store_options(config), Instant::now() + JOIN_PATIENCE);
    let lease = loop {
        match store.nodes().join(&options, &new, cluster::LEASE).await {
            Err(store::Error::Taken(_)) if Instant::now() < deadline => tokio::time::sleep(LEASE_PAUSE).await,
            Err(store::Error::Taken(sentence)) => return Err(anyhow::Error::msg(sentence)),
            result => break result?,
        }
    };
    tracing::info!(cluster = new.cluster, node = new.name, "joined the cluster");
    Ok(lease)
}

/// What the configuration says of a node.
pub(super) fn described<'a>(config: &'a Config, key_ids: &'a [String], provider: &'a str) -> NewNode<'a> {
    let config::Cluster { name, node } = &config.cluster;
    NewNode {
        cluster: name,
        name: node,
        is_named: !node.is_empty(),
        version: env!("CARGO_PKG_VERSION"),
        protocol: PROTOCOL,
        cores: u32::try_from(config::per_core(0)).unwrap_or(1),
        provider,
        key_ids,
        ..NewNode::default()
    }
}

impl Service {
    /// The address of the service, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The address of the door that speaks Graph, without a slash at the end, when it has one of its own.
    pub fn graph_url(&self) -> Option<&str> {
        self.graph_url.as_deref()
    }

    /// Waits until this process may not dispatch any more and must end. Returns the reason.
    pub async fn fenced(&self) -> Fenced {
        self.engine.fenced().await
    }

    /// Stops the service: it takes no more requests, finishes requests in progress, waits for the messages in
    /// flight, and returns once their outcomes are written or `server.shutdown_grace` is over.
    ///
    /// # Errors
    ///
    /// When the service did not end gracefully.
    pub async fn stop(self) -> anyhow::Result<()> {
        let deadline = Instant::now() + self.grace;
        self.pages.close();
        self.engine.sends().release_callers();
        self.engine.events().release_callers();
        // Slow clients have half of the time; messages in flight have the other half.
        if timeout(self.grace / 2, join_all(self.handles.iter().map(|handle| handle.stop(true))))
            .await
            .is_err()
        {
            tracing::warn!("still answering requests, waiting for messages in flight meanwhile");
        }
        if timeout_at(deadline.into(), self.engine.stop()).await.is_err() {
            tracing::warn!(
                "the database or the provider does not answer: stopped without the last outcomes, which are \
                 now unknown"
            );
        }
        if let Some(exporter) = &self.exporter {
            let until = deadline.min(Instant::now() + FLUSH);
            if timeout_at(until.into(), exporter.flush()).await.is_err() {
                tracing::warn!("the collector of traces is too slow: the last spans are lost");
            }
        }
        match timeout_at(deadline.into(), self.ended).await {
            Ok(ended) => Ok(ended??),
            Err(_) => {
                tracing::warn!("aborted requests whose clients were too slow");
                Ok(())
            }
        }
    }
}
