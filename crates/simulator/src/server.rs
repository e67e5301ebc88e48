//! The simulator as a running server, on threads of its own.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use actix_web::dev::{ServerHandle, Service as _};
use actix_web::middleware::NormalizePath;
use actix_web::rt::{self, System};
use actix_web::web::{self, Data};
use actix_web::{App, HttpServer};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::delivery::deliver;
use super::figures::NumberFigures;
use super::log::{Filter, LoggedMessage};
use super::options::Options;
use super::routes;
use super::seed::Seed;
use super::signs::ShownSign;
use super::switch;
use super::timeline::Timeline;
use super::timers;
use super::unversioned;
use super::web_session::FakeWhatsApp;
use super::world::World;

/// How long idle connections are kept: long, so that clients rarely meet a connection that was just closed.
const KEEP_ALIVE: Duration = Duration::from_secs(120);
/// How long a graceful stop waits for requests in progress, in seconds.
const STOP_SECONDS: u64 = 1;
/// The largest request body, for accounts with many numbers; messages are far below.
const LARGEST_BODY: usize = 16 << 20;

/// Why a simulator did not start, or refused its input.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The options, the seed or the script are wrong; the sentence says how.
    #[error("{0}")]
    Invalid(String),
    /// The simulator cannot listen on the address, or its thread cannot be started.
    #[error("the simulator cannot listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

/// A running simulator. It stops when it is dropped; [`Simulator::stop`] also waits for its end.
#[derive(Debug)]
pub struct Simulator {
    address: SocketAddr,
    handle: ServerHandle,
    /// The runtime of the server's thread.
    thread: Handle,
    world: Data<World>,
    ended: Option<oneshot::Receiver<()>>,
}

/// Starts a simulator on threads of its own; the caller may be on any runtime.
///
/// # Errors
/// When the seed or the options are wrong, or the address is taken.
pub async fn start(options: Options, seed: Seed) -> Result<Simulator, Error> {
    let bind = options.bind;
    let failed = |source| Error::Listen { address: bind, source };
    let world = Data::new(World::new(options, seed).map_err(Error::Invalid)?);
    let (ready, started) = oneshot::channel();
    let (ending, ended) = oneshot::channel();
    let served = Data::clone(&world);
    let serve = move || System::new().block_on(serve(served, ready, ending));
    thread::Builder::new().name("pombo-simulator".to_owned()).spawn(serve).map_err(failed)?;
    let (address, handle, thread) = match started.await {
        Ok(result) => result.map_err(failed)?,
        Err(_) => return Err(failed(io::Error::other("its thread ended early"))),
    };
    Ok(Simulator { address, handle, thread, world, ended: Some(ended) })
}

type Started = io::Result<(SocketAddr, ServerHandle, Handle)>;

async fn serve(world: Data<World>, ready: oneshot::Sender<Started>, ending: oneshot::Sender<()>) {
    let delivery = rt::spawn(deliver(world.outbox.clone()));
    let timers = rt::spawn(timers::keep(Data::clone(&world)));
    let (bind, workers) = (world.options.bind, world.options.workers.max(1));
    let app = move || {
        App::new()
            .wrap_fn(|mut request, service| {
                unversioned::to_newest(&mut request);
                service.call(request)
            })
            // Some clients end their paths with a slash.
            .wrap(NormalizePath::trim())
            .app_data(Data::clone(&world))
            .app_data(web::PayloadConfig::new(LARGEST_BODY))
            .configure(routes)
    };
    let server = HttpServer::new(app).workers(workers).keep_alive(KEEP_ALIVE).disable_signals();
    let bound = server.shutdown_timeout(STOP_SECONDS).bind(bind);
    let server = bound.map(|server| {
        let address = server.addrs().first().copied().unwrap_or(bind);
        (address, server.run())
    });
    match server {
        // If the caller is gone, the error is dropped.
        Err(error) => drop(ready.send(Err(error))),
        Ok((address, server)) => {
            drop(ready.send(Ok((address, server.handle(), Handle::current()))));
            if let Err(error) = server.await {
                tracing::error!(%error, "simulator ended");
            }
        }
    }
    delivery.abort();
    timers.abort();
    // An error means that the caller is gone.
    let _ = ending.send(());
}

impl Simulator {
    /// The base URL for a connector, instead of the provider's, such as `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The driver of linked devices, in place of the connector's driver. The devices end with the simulator,
    /// so stop them first.
    pub fn web_sessions(&self) -> FakeWhatsApp {
        let page = format!("{}/phone", self.base_url());
        FakeWhatsApp::new(Arc::clone(&self.world.web_sessions), self.thread.clone(), page)
    }

    /// The figures of a number; `None` when there is no such number.
    pub fn number(&self, phone_number_id: &str) -> Option<NumberFigures> {
        self.world.directory.read().number(phone_number_id).map(|number| number.figures())
    }

    /// The figures of all numbers, in the order of their ids.
    pub fn numbers(&self) -> Vec<NumberFigures> {
        self.world.directory.read().numbers().map(|number| number.figures()).collect()
    }

    /// The recipients of more than `above` messages of a number, with how many each got; empty when there
    /// is no such number. `above` 0 shows everybody, 1 those who were written to more than once.
    pub fn recipients(&self, phone_number_id: &str, above: u32) -> BTreeMap<String, u32> {
        let directory = self.world.directory.read();
        directory.number(phone_number_id).map(|number| number.recipients(above)).unwrap_or_default()
    }

    /// Accepted messages of a number per tenth of a second, of the last two minutes that had any.
    pub fn timeline(&self, phone_number_id: &str) -> Option<Timeline> {
        self.world.directory.read().number(phone_number_id).map(|number| number.timeline())
    }

    /// How often a number was probed, as channels do to learn whether they can send; 0 when there is no such
    /// number.
    pub fn descriptions(&self, phone_number_id: &str) -> u64 {
        self.world.directory.read().number(phone_number_id).map_or(0, |number| number.descriptions())
    }

    /// How often the templates of an account were listed, whatever was answered; 0 when there is no such account.
    pub fn template_listings(&self, waba_id: &str) -> u64 {
        self.world.directory.read().account(waba_id).map_or(0, |account| account.listings())
    }

    /// How many messages have statuses outstanding.
    pub fn receipts_outstanding(&self) -> usize {
        self.world.outbox.waiting()
    }

    /// Accepted messages after this sequence, the oldest kept first, at most `limit`.
    pub fn messages(&self, after: u64, limit: usize) -> Vec<LoggedMessage> {
        self.world.log.page(&Filter { after, limit, ..Filter::default() }).0
    }

    /// What people saw of phone numbers besides messages, the newest last.
    pub fn signs(&self) -> Vec<ShownSign> {
        self.world.signs.all()
    }

    /// Applies a script, as `POST /_sim/script` does.
    ///
    /// # Errors
    /// A sentence about the first entry that is wrong. Then nothing is applied.
    pub fn script(&self, script: &Value) -> Result<(), Error> {
        switch::apply(&self.world, script).map_err(Error::Invalid)
    }

    /// Ends all scripted rules; switches stay as they are.
    pub fn end_script(&self) {
        self.world.script.clear();
    }

    /// Adds accounts, or numbers, tokens and templates to accounts that exist.
    ///
    /// # Errors
    /// A sentence about the first fault. Entries before it stay.
    pub fn add(&self, seed: Seed) -> Result<(), Error> {
        self.world.directory.write().add(seed).map_err(Error::Invalid)
    }

    /// Sets the receiver of webhooks: of all, or of the number or account that the options name. Outstanding
    /// webhooks go there at once, too, so that a receiver that comes back at another address misses nothing.
    /// `None` removes all receivers: then no new webhooks are created, and outstanding ones wait until a
    /// receiver is set again.
    ///
    /// # Errors
    /// A sentence about the option that is wrong.
    pub fn aim_receipts(&self, options: Option<super::ReceiptOptions>) -> Result<(), Error> {
        match options {
            Some(options) => self.world.aim(options).map_err(Error::Invalid),
            None => {
                self.world.outbox.stop();
                Ok(())
            }
        }
    }

    /// Resets the simulator to its seed.
    ///
    /// # Errors
    /// Never for a seed that started once.
    pub fn reset(&self) -> Result<(), Error> {
        self.world.reset().map_err(Error::Invalid)
    }

    /// Stops accepting, waits up to a second for requests in progress, and ends. Outstanding receipts are not
    /// delivered.
    pub async fn stop(mut self) {
        let ended = self.ended.take();
        self.handle.stop(true).await;
        if let Some(ended) = ended {
            // An error means that the thread is gone already.
            let _ = ended.await;
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        if self.ended.is_some() {
            // The command is sent at once; only its completion would have to be awaited.
            drop(self.handle.stop(false));
        }
    }
}
