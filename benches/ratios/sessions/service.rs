//! The measured service in a process of its own.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::{App, HttpServer, web};
use pombo::accounts::Accounts;
use pombo::api;
use pombo::config::Config;
use pombo::engine::Engine;
use pombo::store::{self, Store};
use pombo::vault::Vault;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};
use serde::{Deserialize, Serialize};
use web_session::WhatsApp;

use super::{options, pause};
use crate::Row;
use crate::service::resident_kib;

/// The argument that starts this process.
pub(crate) const NAME: &str = "web-sessions-service";
/// The variable that has its [`Place`].
const PLACE: &str = "POMBO_BENCH_PLACE";
/// The text before its figures, on a line of their own.
const FIGURES: &str = "figures ";

/// The database and the settings of a service.
#[derive(Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) data: PathBuf,
    pub(super) database: String,
    pub(super) whatsapp: String,
    pub(super) media_host: String,
    pub(super) starts_per_second: u32,
    /// The number of sessions that have to be connected before the service prints its figures.
    pub(super) sessions: usize,
}

/// The figures that a service prints.
#[derive(Serialize, Deserialize)]
pub(super) struct Figures {
    /// From the start of the process until all were connected.
    pub(super) connected_ms: f64,
    /// The resident memory after it stopped growing.
    pub(super) resident_kib: f64,
}

impl Place {
    /// Starts a service there and waits for its figures and its end.
    pub(super) fn measure(&self) -> Figures {
        let output = Command::new(std::env::current_exe().unwrap())
            .arg(NAME)
            .env(PLACE, serde_json::to_string(self).unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let figures = said.lines().find_map(|line| line.strip_prefix(FIGURES));
        serde_json::from_str(figures.unwrap_or_else(|| panic!("no figures: {output:?}"))).unwrap()
    }
}

/// Serves the place of the environment, prints its figures and ends.
pub(crate) fn serve() -> Vec<Row> {
    actix_web::rt::System::new().block_on(served());
    Vec::new()
}

#[expect(clippy::print_stdout, reason = "its figures")]
async fn served() {
    let began = Instant::now();
    let place: Place = serde_json::from_str(&std::env::var(PLACE).unwrap()).unwrap();
    let mut config = Config::default();
    config.web_session.starts_per_second = place.starts_per_second;
    let database = store::Options {
        url: place.database.clone(),
        connections: config.database.connections,
        acquire_timeout: config.database.acquire_timeout,
        statement_timeout: config.database.statement_timeout,
        synchronous_full: true,
        migrate: true,
    };
    let store = Store::open(&database).await.unwrap();
    let vault = Arc::new(Vault::open(&config.secrets, &place.data).unwrap().0);
    let mut options = options(&place.whatsapp, &place.media_host);
    options.threads = config.web_session.threads;
    options.dials_at_once = config.web_session.dials_at_once;
    let driver = Some(Arc::new(WhatsApp::start(options).unwrap()) as _);
    let lease = store.lease().acquire(&database, "bench").await.unwrap();
    let accounts = Accounts::new(store.clone(), Arc::clone(&vault));
    let engine = Engine::start(&config, store, vault, lease, driver).await.unwrap();
    let options = api::Options::default();
    let state = web::Data::new(api::State { engine: engine.clone(), accounts, options });
    let server =
        HttpServer::new(move || App::new().service(api::service(state.clone(), api::Listener::Whole, None)))
            .workers(2)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .unwrap();
    actix_web::rt::spawn(server.run());

    let beside = Database::connect(&place.database).await.unwrap();
    while connected(&beside).await < place.sessions {
        pause().await;
    }
    let connected_ms = began.elapsed().as_secs_f64() * 1000.0;
    settle().await;
    let figures = Figures { connected_ms, resident_kib: resident_kib() as f64 };
    println!("{FIGURES}{}", serde_json::to_string(&figures).unwrap());
    engine.stop().await;
}

async fn connected(database: &DatabaseConnection) -> usize {
    let sql = "SELECT COUNT(*) AS count FROM channel WHERE kind = 'web_session' AND status = 'connected'";
    let statement = Statement::from_string(database.get_database_backend(), sql);
    let row = database.query_one_raw(statement).await.unwrap().unwrap();
    usize::try_from(row.try_get::<i64>("", "count").unwrap()).unwrap()
}

/// Waits until the memory has not grown for some seconds, because the sessions' work after the connection is
/// over.
async fn settle() {
    const STILL: usize = 10;
    let (mut still, mut before) = (0, 0);
    while still < STILL {
        actix_web::rt::time::sleep(Duration::from_millis(500)).await;
        let now = resident_kib();
        still = if (now - before).abs() < 128 { still + 1 } else { 0 };
        before = now;
    }
}
