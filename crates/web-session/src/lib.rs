//! Web sessions on the library that speaks WhatsApp Web's protocol, and the only place that names its types.
//!
//! <https://docs.rs/whatsapp-rust/0.7.0>. Sessions share threads, HTTP connections and the queue for
//! connecting, and nothing else: a failure affects only its own session.

mod backend;
mod dial;
mod events;
mod failure;
mod http;
mod inbound;
mod message;
mod options;
mod runtime;
mod session;
mod telling;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;
use whatsapp_rust::bot::{Bot, BotBuilderError};
use whatsapp_rust::wacore::store::DevicePropsOverride;
use whatsapp_rust::waproto::whatsapp::device_props::PlatformType;

use self::backend::{Backend, Numbers};
use self::dial::Dialler;
use self::events::Ear;
use self::http::Http;
use self::inbound::Hook;
pub use self::options::Options;
use self::runtime::Threads;
use self::session::Linked;
use self::telling::Telling;
use driver::{Driver, OpenError, Opening, Session};

/// The driver for WhatsApp itself. It ends when it and all of its sessions are dropped. Sessions that were
/// not stopped before may lose their last changes. Database connections that its threads opened end with it,
/// so drop it last.
pub struct WhatsApp(Arc<Shared>);

/// The resources that sessions share.
struct Shared {
    options: Options,
    http: Http,
    /// Permits for connecting.
    turns: Arc<Semaphore>,
    handle: Handle,
    /// `Some` until this is dropped.
    runtime: Option<Runtime>,
}

impl WhatsApp {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// [`OpenError::Setup`] when the system provides no threads, or the TLS library finds no root
    /// certificates.
    pub fn start(options: Options) -> Result<Self, OpenError> {
        // The first provider that is set stays, and the service has set the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let setup = |error: &dyn std::error::Error| OpenError::Setup(error.to_string());
        let http = Http::new(&options).map_err(|error| setup(&error))?;
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(options.threads.max(1)).thread_name("web-session").enable_all();
        let runtime = threads.build().map_err(|error| setup(&error))?;
        let turns = Arc::new(Semaphore::new(options.dials_at_once.max(1)));
        let handle = runtime.handle().clone();
        Ok(Self(Arc::new(Shared { options, http, turns, handle, runtime: Some(runtime) })))
    }
}

#[async_trait]
impl Driver for WhatsApp {
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, OpenError> {
        let Opening { session, records, events, inbox, device_name } = opening;
        let (telling, queued) = Telling::new();
        let telling = Arc::new(telling);
        let numbers = Numbers::new(Arc::clone(&records));
        let hook = Hook { inbox, numbers: Numbers::new(Arc::clone(&records)) };
        let shared = &self.0;
        let options = &shared.options;
        let props = DevicePropsOverride::new().with_os(device_name).with_platform_type(PlatformType::CHROME);
        let mut bot = Bot::builder()
            .with_backend(Backend::new(records, Arc::clone(&telling)))
            .with_transport_factory(Dialler::new(
                &options.address,
                Arc::clone(&shared.turns),
                Arc::clone(&telling),
            ))
            .with_http_client(shared.http.clone())
            .with_runtime(Threads::new(shared.handle.clone(), telling.at_gate()))
            .with_event_handler(Ear(Arc::clone(&telling)))
            .with_inbound_durability_hook(hook)
            .with_device_props(props)
            .with_wanted_pre_key_count(options.prekeys)
            .skip_history_sync();
        if let Some([first, second, third]) = options.app_version {
            bot = bot.with_version((first, second, third));
        }
        let begun = shared.handle.spawn(async move {
            let bot = bot.build().await?;
            Ok::<_, BotBuilderError>((bot.client(), bot.spawn()))
        });
        let begun = begun.await.map_err(|_| OpenError::Setup("the driver broke down".to_owned()))?;
        let (client, running) = begun.map_err(|error| failure::opening(&error))?;
        let teller = Arc::clone(&telling);
        shared.handle.spawn(async move { teller.forward(queued, &events, &numbers).await });
        tracing::debug!(channel.id = %session, "web session opened");
        Ok(Arc::new(Linked::new(client, running, telling, Arc::clone(shared))))
    }
}

impl Shared {
    const fn threads(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Waiting for the threads is not allowed on a thread of a runtime, where this may run.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
