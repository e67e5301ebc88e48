//! A service of its own for a measurement, in this process.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use pombo::accounts::Accounts;
use pombo::api;
use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::console;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::scope::Scopes;
use pombo::domain::tier;
use pombo::engine::Engine;
use pombo::graph::{self, GraphOptions, GraphState};
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::{self, Store};
use pombo::vault::{Vault, api_key, context};
use sea_orm::{ConnectionTrait as _, Database};
use tempfile::TempDir;
use uuid::Uuid;

/// The secret that signs the provider's webhooks.
pub(crate) const APP_SECRET: &str = "bench-secret";

/// A database with a company, its key and a channel, before a service starts on it.
pub(crate) struct Ground {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) database: store::Options,
    pub(crate) vault: Arc<Vault>,
    pub(crate) key: String,
    pub(crate) company: Uuid,
    pub(crate) channel: Uuid,
    pub(crate) data: TempDir,
}

impl Ground {
    /// Its provider is at `provider`; its channels have this rate and this number of requests at once.
    pub(crate) async fn new(provider: &str, rate: &str, concurrency: usize) -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.data.dir = data.path().to_owned();
        config.cloud_api.base_url = provider.to_owned();
        config.engine.concurrency = concurrency;
        let database = store::Options {
            url: database_url(&config).await,
            connections: config.database.connections,
            acquire_timeout: config.database.acquire_timeout,
            statement_timeout: config.database.statement_timeout,
            synchronous_full: true,
            migrate: true,
        };
        let store = Store::open(&database).await.unwrap();
        let vault = Arc::new(Vault::open(&config.secrets, data.path()).unwrap().0);
        let tiers = tier::parse(tier::BUILT_IN).unwrap().into_iter().map(|mut tier| {
            if tier.name == "standard" {
                tier.messages_per_second = rate.parse().unwrap();
                // The load repeats one request, whose messages must not wait for their recipient.
                tier.pair_interval = Duration::ZERO;
            }
            (tier.name.clone(), serde_json::to_string(&tier).unwrap())
        });
        store.tiers().apply(&Who::Pombo, &tiers.collect::<Vec<_>>()).await.unwrap();
        let company = store.companies().add(&Who::Pombo, "Bench", "standard").await.unwrap().id;
        let key = add_key(&store, company).await;
        let channel = Uuid::now_v7();
        let token = vault.seal(b"bench", &context::token(channel));
        let app_secret = vault.seal(APP_SECRET.as_bytes(), &context::app_secret(channel));
        let new = NewChannel {
            id: channel,
            company_id: company,
            kind: Kind::BusinessAccount,
            name: "Bench".to_owned(),
            phone_number: None,
            phone_number_id: Some("1".to_owned()),
            waba_id: Some("2".to_owned()),
            tier: "standard".to_owned(),
            secrets: Sealed { token: Some(token), app_secret: Some(app_secret) },
            status: Status::Connected,
        };
        store.channels().add(&Who::Pombo, new).await.unwrap();
        Self { config, store, database, vault, key, company, channel, data }
    }

    /// Starts a service on it.
    pub(crate) async fn serve(self) -> Service {
        let Self { config, store, database, vault, key, company, channel, data } = self;
        let lease = store.lease().acquire(&database, "bench").await.unwrap();
        let accounts = Accounts::new(store.clone(), Arc::clone(&vault));
        let engine = Engine::start(&config, store.clone(), vault, lease, None).await.unwrap();
        let options = api::Options::default();
        let door = config.graph.enabled.then(|| {
            web::Data::new(GraphState {
                engine: engine.clone(),
                options: GraphOptions {
                    wait: config.graph.wait,
                    web_interactive: config.graph.web_interactive,
                    body_bytes: options.body_bytes,
                    send: options.send.clone(),
                    proxies: options.proxies.clone(),
                    public_url: None,
                    passes_through: false,
                },
            })
        });
        let state =
            web::Data::new(api::State { engine: engine.clone(), accounts: accounts.clone(), options });
        let pages = web::Data::new(console::State::new(
            engine.clone(),
            accounts.clone(),
            console::Options::default(),
        ));
        let shown = pages.clone();
        let beside: api::Beside = Arc::new(move |_| {
            let mut rest = console::resources(&shown, true);
            rest.extend(door.iter().flat_map(graph::resources));
            api::BesideResources { first: door.iter().map(graph::busiest).collect(), rest }
        });
        let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = socket.local_addr().unwrap().to_string();
        let settings = api::Settings { workers: 2, ..api::Settings::default() };
        let server = api::listen(socket, api::Listener::Whole, state, Some(beside), settings).unwrap();
        actix_web::rt::spawn(server);
        Service { engine, store, accounts, pages, database, address, key, company, channel, _data: data }
    }
}

pub(crate) struct Service {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) accounts: Accounts,
    pub(crate) pages: web::Data<console::State>,
    pub(crate) database: store::Options,
    pub(crate) address: String,
    pub(crate) key: String,
    pub(crate) company: Uuid,
    pub(crate) channel: Uuid,
    _data: TempDir,
}

impl Service {
    /// Starts a service whose provider is at `provider`, with this rate and this number of requests at once.
    pub(crate) async fn start(provider: &str, rate: &str, concurrency: usize) -> Self {
        Ground::new(provider, rate, concurrency).await.serve().await
    }

    /// Adds `count` contacts to a new tag and returns its id. One contact in twenty has the number of
    /// another.
    pub(crate) async fn tag(&self, count: u64) -> Uuid {
        let tag = self.store.of(self.company).tags().ensure("everyone", None).await.unwrap();
        let mut at = 0;
        while at < count {
            let end = (at + 10_000).min(count);
            let person = |number: u64| {
                // The numbers are spread, so that neighbours in the table are no neighbours in the order of
                // numbers.
                let spread = number.wrapping_mul(7_919) % count;
                let number = if number % 20 == 19 { spread / 2 } else { spread };
                (
                    Uuid::now_v7(),
                    Person { phone_number: (5_511_900_000_000 + number).to_string(), ..Person::default() },
                )
            };
            let people: Vec<_> = (at..end).map(person).collect();
            self.store.of(self.company).contacts().add(&people, &[tag], Timestamp::now()).await.unwrap();
            at = end;
        }
        tag
    }

    /// The address for the provider's webhooks.
    pub(crate) fn hook(&self) -> String {
        format!("http://{}/hooks/meta/{}", self.address, self.channel)
    }

    /// The newest send.
    pub(crate) async fn last_send(&self) -> Uuid {
        let list = reqwest::Client::new().get(format!("http://{}/api/v1/sends?limit=1", self.address));
        let answer = list.bearer_auth(&self.key).send().await.unwrap();
        let answer: serde_json::Value = answer.json().await.unwrap();
        answer["data"][0]["id"].as_str().unwrap().parse().unwrap()
    }

    /// The request of a send, ready for the wire.
    pub(crate) fn request(&self, body: &str) -> Vec<u8> {
        self.request_to(&format!("/api/v1/chat/{}/messages", self.channel), body)
    }

    /// Any request with a body, ready for the wire.
    pub(crate) fn request_to(&self, path: &str, body: &str) -> Vec<u8> {
        self.request_by(&self.key, path, body)
    }

    /// The same by the company of another key.
    pub(crate) fn request_by(&self, key: &str, path: &str, body: &str) -> Vec<u8> {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .into_bytes()
    }

    /// Posts a send to the tag. Returns the time of the answer, and the number of recipients.
    pub(crate) async fn send_to_tag(&self, tag: Uuid) -> (Duration, u64) {
        self.send_to_tag_by(self.channel, tag, None).await
    }

    /// The same through `channel`, not to begin before `send_at`.
    pub(crate) async fn send_to_tag_by(
        &self,
        channel: Uuid,
        tag: Uuid,
        send_at: Option<&str>,
    ) -> (Duration, u64) {
        let mut body = serde_json::json!({ "type": "text", "message": "hi", "contact_tag_id": tag });
        if let Some(send_at) = send_at {
            body["send_at"] = send_at.into();
        }
        let started = std::time::Instant::now();
        let answer = reqwest::Client::new()
            .post(format!("http://{}/api/v1/chat/{channel}/messages", self.address))
            .bearer_auth(&self.key)
            .json(&body)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 202);
        let took = started.elapsed();
        let answer: serde_json::Value = answer.json().await.unwrap();
        (took, answer["recipients_count"].as_u64().unwrap())
    }
}

/// A key of the company with all scopes.
pub(crate) async fn add_key(store: &Store, company: Uuid) -> String {
    let (key, prefix) = api_key::generate();
    let hash = api_key::hash(key.expose());
    let new = NewKey { name: "bench", prefix: &prefix, hash, expires_at: None, scopes: Scopes::ALL };
    store.of(company).keys().add(&Who::Pombo, new).await.unwrap();
    key.expose().to_owned()
}

/// SQLite in the data directory, or a new database of the server that the environment names.
pub(crate) async fn database_url(config: &Config) -> String {
    let Ok(server) = std::env::var("POMBO_BENCH_POSTGRES") else { return config.database_url() };
    let server = server.trim_end_matches('/');
    let name = format!("pombo_bench_{}", Uuid::now_v7().simple());
    let admin = Database::connect(format!("{server}/postgres")).await.unwrap();
    admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
    format!("{server}/{name}")
}

/// The resident memory of this process in KiB.
pub(crate) fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
