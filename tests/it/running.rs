//! A running service with a simulator as its provider: everything else is real.

use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::web;
use pombo::accounts::Accounts;
use pombo::api;
use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::scope::Scopes;
use pombo::domain::tier;
use pombo::engine::Engine;
use pombo::engine::verify_token;
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::{Lease, Store};
use pombo::vault::{Vault, api_key, context};
use reqwest::Method;
use serde_json::{Value, json};
use simulator::Simulator;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::database::Universe;
use crate::harness::{Answer, door, listen};

/// The simulator's number and account.
pub(crate) const NUMBER: &str = "106540352242922";
pub(crate) const WABA: &str = "102290129340398";
/// The token that the simulator takes.
pub(crate) const TOKEN: &str = "EAAG-good";
/// The app secret that signs every channel's webhooks.
pub(crate) const APP_SECRET: &str = "app-secret";
/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(180);
/// The timeout of quick steps. It is long, because it decides only how long a failing test takes.
const SHORT_PATIENCE: Duration = Duration::from_secs(30);

/// One company with one business account.
pub(crate) struct Running {
    pub(crate) simulator: Simulator,
    pub(crate) store: Store,
    pub(crate) company: Uuid,
    pub(crate) channel: Uuid,
    pub(crate) vault: Arc<Vault>,
    pub(crate) key: String,
    /// The verify token that the provider repeats when it gets the channel's webhook address.
    pub(crate) verify_token: String,
    config: Config,
    database: pombo::store::Options,
    engine: Engine,
    server: ServerHandle,
    url: String,
    _data: TempDir,
}

impl Running {
    /// Starts simulator and service; `change` may change the configuration first.
    pub(crate) async fn start(universe: &Universe, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_on(universe.store.clone(), universe.options(), change).await
    }

    /// The same on a store that was opened with these options.
    pub(crate) async fn start_on(
        store: Store,
        database: pombo::store::Options,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let number = simulator::Number::new(NUMBER, "+1 555 078 3881");
        let account = simulator::Account {
            waba_id: WABA.to_owned(),
            tokens: vec![TOKEN.to_owned()],
            numbers: vec![number],
            templates: simulator::default_templates(),
        };
        let seed = simulator::Seed { accounts: vec![account] };
        let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();

        let data = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.cloud_api.base_url = simulator.base_url();
        config.engine.arbiters = 1;
        config.retry.first = Duration::from_millis(20);
        config.retry.unknown_grace = Duration::ZERO;
        change(&mut config);
        let vault = Arc::new(Vault::open(&config.secrets, data.path()).unwrap().0);
        let tiers = tier::parse(tier::BUILT_IN).unwrap();
        let tiers: Vec<_> =
            tiers.iter().map(|tier| (tier.name.clone(), serde_json::to_string(tier).unwrap())).collect();
        store.tiers().apply(&Who::Pombo, &tiers).await.unwrap();
        let company = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
        let (key, prefix) = api_key::generate();
        let hash = api_key::hash(key.expose());
        let new = NewKey { name: "test", prefix: &prefix, hash, expires_at: None, scopes: Scopes::ALL };
        store.of(company).keys().add(&Who::Pombo, new).await.unwrap();

        let (engine, server, url) = serve(&config, &store, &vault, &database).await;
        let mut running = Self {
            simulator,
            store,
            company,
            channel: Uuid::nil(),
            vault,
            key: key.expose().to_owned(),
            verify_token: String::new(),
            config,
            database,
            engine,
            server,
            url,
            _data: data,
        };
        running.channel = running.add_channel(TOKEN, NUMBER, "unlimited").await;
        let word = verify_token(&running.store, &running.vault, running.channel).await.unwrap();
        running.verify_token = word.expose().to_owned();
        running
    }

    /// Adds a business account, as the command line does.
    pub(crate) async fn add_channel(&self, token: &str, number: &str, tier: &str) -> Uuid {
        self.add_channel_of(self.company, token, number, tier).await
    }

    /// Adds a business account that the provider has confirmed already: nothing starts its actor.
    pub(crate) async fn add_connected_channel(&self, token: &str, number: &str, tier: &str) -> Uuid {
        self.add_channel_in(Status::Connected, self.company, token, number, tier).await
    }

    /// Adds a business account of another company.
    pub(crate) async fn add_channel_of(&self, company: Uuid, token: &str, number: &str, tier: &str) -> Uuid {
        self.add_channel_in(Status::Connecting, company, token, number, tier).await
    }

    async fn add_channel_in(
        &self,
        status: Status,
        company: Uuid,
        token: &str,
        number: &str,
        tier: &str,
    ) -> Uuid {
        let id = Uuid::now_v7();
        let app_secret = self.vault.seal(APP_SECRET.as_bytes(), &context::app_secret(id));
        let new = NewChannel {
            id,
            company_id: company,
            kind: Kind::BusinessAccount,
            name: "Support".to_owned(),
            phone_number: Some("15550783881".to_owned()),
            phone_number_id: Some(number.to_owned()),
            waba_id: Some(WABA.to_owned()),
            tier: tier.to_owned(),
            secrets: Sealed { token: Some(self.seal(id, token)), app_secret: Some(app_secret) },
            status,
        };
        self.store.channels().add(&Who::Pombo, new).await.unwrap();
        id
    }

    /// The engine behind the socket.
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The conversations of the company, as the surfaces call them.
    pub(crate) fn conversations(&self) -> pombo::engine::Conversations<'_> {
        self.engine.conversations(self.company)
    }

    /// The address of the service.
    pub(crate) fn address(&self) -> &str {
        &self.url
    }

    /// The address of a channel's webhooks.
    pub(crate) fn hook(&self, channel: Uuid) -> String {
        format!("{}/hooks/meta/{channel}", self.url)
    }

    /// A token in the form that the store keeps.
    pub(crate) fn seal(&self, channel: Uuid, token: &str) -> Vec<u8> {
        self.vault.seal(token.as_bytes(), &context::token(channel))
    }

    /// Contacts with consecutive numbers from `first` on, all under the tag; its id.
    pub(crate) async fn tag(&self, name: &str, first: u64, count: u64) -> Uuid {
        let tag = self.store.of(self.company).tags().ensure(name, None).await.unwrap();
        let people: Vec<_> = (first..first + count)
            .map(|number| (Uuid::now_v7(), Person { phone_number: number.to_string(), ..Person::default() }))
            .collect();
        self.store.of(self.company).contacts().add(&people, &[tag], Timestamp::now()).await.unwrap();
        tag
    }

    /// Sends through the channel: status and body of the answer.
    pub(crate) async fn send(&self, body: &Value) -> (u16, Value) {
        self.send_through(self.channel, body).await
    }

    /// Sends through this channel: status and body of the answer.
    pub(crate) async fn send_through(&self, channel: Uuid, body: &Value) -> (u16, Value) {
        let answer = self.ask(Method::POST, &format!("/api/v1/chat/{channel}/messages"), body).await;
        (answer.status, answer.json())
    }

    /// The whole answer to a request with the company's key; a `null` body is none.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> Answer {
        self.ask_as(&self.key, method, path, body).await
    }

    /// The same with another key.
    pub(crate) async fn ask_as(&self, key: &str, method: Method, path: &str, body: &Value) -> Answer {
        let mut request = reqwest::Client::new().request(method, format!("{}{path}", self.url));
        if !body.is_null() {
            request = request.json(body);
        }
        Answer::to(request.bearer_auth(key)).await
    }

    /// A request with the company's key that is not sent yet.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        reqwest::Client::new().request(method, format!("{}{path}", self.url)).bearer_auth(&self.key)
    }

    /// The whole answer to a POST under an `Idempotency-Key`.
    pub(crate) async fn ask_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        let request = reqwest::Client::new().post(format!("{}{path}", self.url)).json(body);
        let request = request.bearer_auth(&self.key).header("idempotency-key", key);
        Answer::to(request).await
    }

    /// Sends a text to the tag; it must be accepted for this many recipients.
    pub(crate) async fn send_to_tag(&self, tag: Uuid, expected: u64) {
        let (status, body) =
            self.send(&json!({ "type": "text", "message": "hi", "contact_tag_id": tag })).await;
        assert_eq!((status, body["recipients_count"].as_u64()), (202, Some(expected)), "{body}");
    }

    /// The status of a channel as the store has it.
    pub(crate) async fn status(&self, channel: Uuid) -> Status {
        self.store.channels().find(channel).await.unwrap().unwrap().connection.status
    }

    /// Messages that the simulator took, and how many recipients they had.
    pub(crate) fn delivered(&self) -> (u64, u64) {
        let figures = self.simulator.number(NUMBER).unwrap();
        (figures.messages, figures.unique_recipients)
    }

    /// Waits until the simulator took that many messages, and the sends are finished in the store.
    pub(crate) async fn settled(&self, messages: u64) {
        until(&format!("{messages} messages delivered"), async || self.delivered().0 >= messages).await;
        until("every send finished", async || self.store.channels().working().await.unwrap().is_empty())
            .await;
    }

    /// Stops the service as a graceful end does, and starts it again.
    pub(crate) async fn restart(&mut self) {
        self.server.stop(true).await;
        self.engine.stop().await;
        // Connections that the ended engine's threads opened end with them.
        self.store = Store::open(&self.database).await.unwrap();
        (self.engine, self.server, self.url) =
            serve(&self.config, &self.store, &self.vault, &self.database).await;
    }

    /// A request with the company's key that goes on by itself, to the service that runs now.
    pub(crate) fn begin(&self, method: Method, path: &str, body: &Value) -> JoinHandle<Answer> {
        let request = reqwest::Client::new().request(method, format!("{}{path}", self.url));
        let request = request.json(body).bearer_auth(&self.key);
        tokio::spawn(async move { Answer::read(request.send().await.unwrap()).await })
    }

    /// The request to send something through the channel.
    pub(crate) fn begin_send(&self, body: &Value) -> JoinHandle<Answer> {
        self.begin(Method::POST, &format!("/api/v1/chat/{}/messages", self.channel), body)
    }

    /// Another service takes over the data, which it reaches by these options, and gets the requests from now on.
    /// The former service goes on as well as it can without the lease, which must be free.
    pub(crate) async fn succeed(&mut self, database: pombo::store::Options) -> Former {
        self.store = Store::open(&database).await.unwrap();
        self.database = database;
        let (engine, server, url) = serve(&self.config, &self.store, &self.vault, &self.database).await;
        self.url = url;
        Former {
            engine: std::mem::replace(&mut self.engine, engine),
            server: std::mem::replace(&mut self.server, server),
        }
    }

    /// Ends service and simulator.
    pub(crate) async fn end(self) {
        self.server.stop(true).await;
        self.engine.stop().await;
        self.simulator.stop().await;
    }
}

/// A service whose data another one has taken over.
pub(crate) struct Former {
    engine: Engine,
    server: ServerHandle,
}

impl Former {
    /// Returns when the service knows that it may no longer dispatch.
    pub(crate) async fn fenced(&self) {
        self.engine.fenced().await;
    }

    pub(crate) async fn end(self) {
        self.server.stop(true).await;
        self.engine.stop().await;
    }
}

async fn serve(
    config: &Config,
    store: &Store,
    vault: &Arc<Vault>,
    database: &pombo::store::Options,
) -> (Engine, ServerHandle, String) {
    let lease = lease(store, database).await;
    let engine = Engine::start(config, store.clone(), Arc::clone(vault), lease, None).await.unwrap();
    let accounts = Accounts::new(store.clone(), Arc::clone(vault));
    let options = api::Options::default();
    let door = door(config, &engine, &options);
    let state = web::Data::new(api::State { engine: engine.clone(), accounts, options });
    let (running, url) = listen(state, None, door);
    let handle = running.handle();
    actix_web::rt::spawn(running);
    (engine, handle, url)
}

/// The lease, once the former engine has returned it: it does so when its last actor has ended.
pub(crate) async fn lease(store: &Store, database: &pombo::store::Options) -> Lease {
    let mut lease = None;
    until("the lease free", async || {
        lease = store.lease().acquire(database, "test").await.ok();
        lease.is_some()
    })
    .await;
    lease.unwrap()
}

/// Waits for a condition; fails the test if it stays false.
pub(crate) async fn until(what: &str, holds: impl AsyncFnMut() -> bool) {
    until_within(PATIENCE, what, holds).await;
}

/// The same with a shorter timeout, for conditions that take only moments.
pub(crate) async fn until_soon(what: &str, holds: impl AsyncFnMut() -> bool) {
    until_within(SHORT_PATIENCE, what, holds).await;
}

async fn until_within(patience: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    /// Between two looks.
    const SHORTEST: Duration = Duration::from_millis(5);
    const LONGEST: Duration = Duration::from_millis(50);
    let deadline = tokio::time::Instant::now() + patience;
    loop {
        let began = tokio::time::Instant::now();
        if holds().await {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "timed out waiting for {what}");
        // Looking takes a quarter of the time at most: what is waited for needs the processor too.
        tokio::time::sleep((began.elapsed() * 3).clamp(SHORTEST, LONGEST)).await;
    }
}
