//! The service under test: a real engine and a real server, in a system of actors of their own.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::web;
use pombo::accounts::Accounts;
use pombo::api::{self, State};
use pombo::config::Config;
use pombo::connector::web_session::Driver;
use pombo::console;
use pombo::engine::Engine;
use pombo::graph::{self, GraphOptions, GraphState};
use pombo::store::{self, Store};
use pombo::surface::Proxies;
use pombo::vault::Vault;
use tokio::sync::oneshot;

use crate::running::lease;

/// Serves on a free port of this machine, with the console and the door that speaks Graph if there are any; its address.
pub(crate) fn listen(
    state: web::Data<State>,
    pages: Option<web::Data<console::State>>,
    door: Option<web::Data<GraphState>>,
) -> (Server, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let settings = api::Settings {
        keep_alive: Duration::from_secs(5),
        // A machine under load may take its time between a connection and its request.
        client_timeout: Duration::ZERO,
        ..api::Settings::default()
    };
    let has_others = pages.is_some() || door.is_some();
    let beside = has_others.then(|| -> api::Beside {
        Arc::new(move |_| {
            let pages = pages.iter().flat_map(|pages| console::resources(pages, true));
            let rest = pages.chain(door.iter().flat_map(graph::resources)).collect();
            api::BesideResources { first: door.iter().map(graph::busiest).collect(), rest }
        })
    });
    (api::listen(listener, api::Listener::Whole, state, beside, settings).unwrap(), url)
}

/// The door that speaks Graph, if the configuration opens it.
pub(crate) fn door(
    config: &Config,
    engine: &Engine,
    options: &api::Options,
) -> Option<web::Data<GraphState>> {
    let options = GraphOptions {
        wait: config.graph.wait,
        web_interactive: config.graph.web_interactive,
        body_bytes: options.body_bytes,
        send: options.send.clone(),
        proxies: options.proxies.clone(),
        public_url: config.server.public_url.clone(),
        passes_through: config.graph.pass_through,
    };
    let state = GraphState { engine: engine.clone(), options };
    config.graph.enabled.then(|| web::Data::new(state))
}

/// A service that runs in a thread of its own; asked to stop on drop.
pub(crate) struct Process {
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    pub(crate) engine: Engine,
    /// The connections of the engine itself.
    pub(crate) store: Store,
    pub(crate) vault: Arc<Vault>,
    pub(crate) pages: Arc<console::State>,
    pub(crate) accounts: Accounts,
    server: ServerHandle,
    ended: Option<oneshot::Receiver<()>>,
}

impl Process {
    /// Starts on the database at `url`, with the vault's key in `directory`; web sessions on `driver`.
    pub(crate) async fn start(
        url: &str,
        directory: &Path,
        mut config: Config,
        options: api::Options,
        driver: Option<Arc<dyn Driver>>,
        page_options: console::Options,
    ) -> Self {
        // A second test finds it installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let database = store::Options {
            url: url.to_owned(),
            connections: 9,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::ZERO,
            synchronous_full: false,
            migrate: true,
        };
        config.data.dir = directory.to_owned();
        let vault = Arc::new(Vault::open(&config.secrets, directory).unwrap().0);
        let (tell, told) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let own_vault = Arc::clone(&vault);
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let store = Store::open(&database).await.unwrap();
                let lease = lease(&store, &database).await;
                let accounts = Accounts::new(store.clone(), Arc::clone(&own_vault));
                let engine = Engine::start(&config, store.clone(), own_vault, lease, driver).await.unwrap();
                let public_url = config.server.public_url.clone();
                let proxies = Proxies::new(&config.server.trusted_proxies);
                let graph = console::GraphPlace::of(&config.graph);
                let page_options = console::Options { public_url, proxies, graph, ..page_options };
                let pages =
                    web::Data::new(console::State::new(engine.clone(), accounts.clone(), page_options));
                let door = door(&config, &engine, &options);
                let state =
                    web::Data::new(State { engine: engine.clone(), accounts: accounts.clone(), options });
                let (server, url) = listen(state, Some(pages.clone()), door);
                let _ =
                    tell.send((url, engine.clone(), store, accounts, server.handle(), pages.into_inner()));
                server.await.unwrap();
                engine.stop().await;
            });
            let _ = end.send(());
        });
        let (url, engine, store, accounts, server, pages) = told.await.unwrap();
        Self { url, engine, store, vault, pages, accounts, server, ended: Some(ended) }
    }
}

impl Process {
    /// Ends it gracefully.
    pub(crate) async fn stop(&mut self) {
        self.pages.close();
        self.engine.sends().release_callers();
        self.server.stop(true).await;
        if let Some(ended) = self.ended.take() {
            let _ = ended.await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The command is given at once; nobody waits for its end.
        drop(self.server.stop(false));
    }
}
