//! The running service: the HTTP surface on the engine, until it is asked to end.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use actix_web::web;
use anyhow::{Context as _, bail};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::shutdown::{self, Asked};
use super::{App, measures, store_options, web_session};
use crate::api;
use crate::clock::Timestamp;
use crate::config::{self, Config};
use crate::connector::web_session::Driver;
use crate::domain::request::Limits;
use crate::engine::{Engine, Fenced};
use crate::store::{self, Lease, Store};

/// How long to wait for the lease of a process that may just have ended, and how often to ask.
const LEASE_PATIENCE: Duration = Duration::from_secs(3);
const LEASE_PAUSE: Duration = Duration::from_millis(100);

/// Why a service ended that nobody asked to.
pub(super) const fn unasked(fenced: Fenced) -> &'static str {
    match fenced {
        Fenced::TakenOver => {
            "another `pombo serve` took over dispatching from this database; this one has ended"
        }
        Fenced::Defect => {
            "writing to the ledger broke down by a defect, which the log has; nothing is lost: start the service again"
        }
    }
}

/// A service that listens. Dropping it does not end it: call [`Service::stop`].
pub struct Service {
    base_url: String,
    engine: Engine,
    handle: ServerHandle,
    ended: JoinHandle<std::io::Result<()>>,
    /// How long a stop may take in all.
    grace: Duration,
}

/// Runs the service until it is asked to end; says its address on standard output once
/// it listens, as a JSON object on one line when `json`.
///
/// # Errors
///
/// A sentence for the operator.
pub async fn run(config: Config, json: bool, by: Asked) -> anyhow::Result<()> {
    let service = start(App::open(config).await?).await?;
    // Heard from here on: whoever reads the address may ask for the end at once.
    let requested = shutdown::requested_by(by);
    let base_url = service.base_url();
    let line = if json {
        serde_json::json!({ "base_url": base_url }).to_string()
    } else {
        format!("listening on {base_url}")
    };
    // Whoever started it may have closed the output: that is no reason to end.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
    tokio::select! {
        requested = requested => requested?,
        fenced = service.fenced() => {
            service.stop().await?;
            bail!(unasked(fenced))
        }
    }
    tracing::info!("stopping: finishing what is under way");
    service.stop().await
}

/// Starts the service and returns once it listens. Needs a running actix system.
///
/// # Errors
///
/// A sentence for the operator, above all when the address is taken or the database is served already.
pub async fn start(app: App) -> anyhow::Result<Service> {
    let driver = web_session::driver(&app.config.web_session)?;
    start_with(app, driver).await
}

/// The same, with web sessions on this driver; without one there are none.
///
/// # Errors
///
/// As [`start`].
pub async fn start_with(app: App, driver: Option<Arc<dyn Driver>>) -> anyhow::Result<Service> {
    let App { config, store, vault } = app;
    if let Some(warning) = config.cloud_api.version_warning(Timestamp::now()) {
        tracing::warn!("{warning}");
    }
    let metrics = if config.metrics.enabled { Some(measures::install()?) } else { None };
    // Bound first: a second service on the same address must not touch the database.
    let bind = config.server.bind;
    let listener = std::net::TcpListener::bind(bind).with_context(|| {
        format!("cannot listen on {bind}; end what listens there, or set another server.bind")
    })?;
    let address = listener.local_addr()?;
    let holder = format!("process {} at {address}", std::process::id());
    let lease = lease(&store, &store_options(&config), &holder).await?;
    let engine = Engine::start(&config, store, Arc::new(vault), lease, driver).await?;
    let options = api::Options {
        body_bytes: config.server.body_limit,
        body_timeout: config.server.body_timeout,
        send: Limits {
            text_chars: config.limits.text_chars,
            caption_chars: config.limits.caption_chars,
            link_chars: config.limits.link_chars,
            phone_numbers: config.limits.phone_numbers,
            tags: config.limits.tags,
        },
        page_size: config.limits.page_size,
        search_chars: config.limits.search_chars,
        docs: config.docs.enabled,
        metrics,
    };
    let state = web::Data::new(api::State { engine: engine.clone(), options });
    let settings = api::Settings {
        workers: config::per_core(config.server.workers),
        keep_alive: config.server.keep_alive,
        client_timeout: config.server.client_timeout,
        shutdown_grace: config.server.shutdown_grace,
    };
    let running = api::listen(listener, state, settings)?;
    let handle = running.handle();
    tracing::info!(%address, "listening");
    let ended = tokio::task::spawn_local(running);
    Ok(Service {
        base_url: format!("http://{address}"),
        engine,
        handle,
        ended,
        grace: config.server.shutdown_grace,
    })
}

/// The right to dispatch. A process that was killed may hold it a moment longer than it lived.
async fn lease(store: &Store, options: &store::Options, holder: &str) -> anyhow::Result<Lease> {
    let deadline = Instant::now() + LEASE_PATIENCE;
    loop {
        match store.acquire_lease(options, holder).await {
            Err(store::Error::Taken(_)) if Instant::now() < deadline => tokio::time::sleep(LEASE_PAUSE).await,
            Err(store::Error::Taken(sentence)) => return Err(anyhow::Error::msg(sentence)),
            result => return Ok(result?),
        }
    }
}

impl Service {
    /// Where it is reached, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns when this process can dispatch no more and must end, and says why.
    pub async fn fenced(&self) -> Fenced {
        self.engine.fenced().await
    }

    /// Takes no more requests, finishes what is under way, waits for the messages in flight and returns once
    /// their outcomes are written, or once `server.shutdown_grace` is over.
    ///
    /// # Errors
    ///
    /// When the service ended in a way that it should not.
    pub async fn stop(self) -> anyhow::Result<()> {
        let deadline = Instant::now() + self.grace;
        // Slow clients have half of the time, so that messages in flight have the other half.
        if timeout(self.grace / 2, self.handle.stop(true)).await.is_err() {
            tracing::warn!("requests are still being answered: messages in flight are waited for meanwhile");
        }
        if timeout_at(deadline.into(), self.engine.stop()).await.is_err() {
            tracing::warn!(
                "the database or the provider does not answer: ended without the last outcomes, which are unknown now"
            );
        }
        match timeout_at(deadline.into(), self.ended).await {
            Ok(ended) => Ok(ended??),
            Err(_) => {
                tracing::warn!("requests were cut off: their clients were too slow");
                Ok(())
            }
        }
    }
}
