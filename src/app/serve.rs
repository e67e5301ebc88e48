//! The running service: the HTTP surface on the engine, until it is asked to end.

use std::io::Write as _;

use actix_web::dev::ServerHandle;
use actix_web::{App as Application, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use tokio::task::JoinHandle;

use super::{App, shutdown};
use crate::config::{self, Config};

/// A service that listens. Dropping it does not end it: call [`Service::stop`].
pub struct Service {
    base_url: String,
    handle: ServerHandle,
    ended: JoinHandle<std::io::Result<()>>,
}

/// Runs the service until Ctrl-C or the service manager's signal; says its address on standard output once
/// it listens, as a JSON object on one line when `json`.
///
/// # Errors
///
/// A sentence for the operator.
pub async fn run(config: Config, json: bool) -> anyhow::Result<()> {
    let service = start(App::open(config).await?).await?;
    let mut output = std::io::stdout().lock();
    let base_url = service.base_url();
    if json {
        writeln!(output, "{}", serde_json::json!({ "base_url": base_url }))?;
    } else {
        writeln!(output, "listening on {base_url}")?;
    }
    drop(output);
    shutdown::requested().await?;
    service.stop().await
}

/// Starts the service and returns once it listens.
///
/// # Errors
///
/// A sentence for the operator, above all when the address is taken.
pub async fn start(app: App) -> anyhow::Result<Service> {
    let server = app.config.server;
    let surface = || Application::new().default_service(web::to(HttpResponse::ServiceUnavailable));
    let bound = HttpServer::new(surface)
        .workers(config::per_core(server.workers))
        .disable_signals()
        .shutdown_timeout(server.shutdown_grace.as_secs())
        .bind(server.bind)
        .with_context(|| {
            format!("cannot listen on {}; end what listens there, or set another server.bind", server.bind)
        })?;
    let address = bound.addrs().first().copied().unwrap_or(server.bind);
    let running = bound.run();
    let handle = running.handle();
    Ok(Service { base_url: format!("http://{address}"), handle, ended: tokio::task::spawn_local(running) })
}

impl Service {
    /// Where it is reached, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Takes no more requests, finishes what is under way and returns then.
    ///
    /// # Errors
    ///
    /// When the service ended in a way that it should not.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.handle.stop(true).await;
        Ok(self.ended.await??)
    }
}
