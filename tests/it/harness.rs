//! A service of its own for every test: a database, a real engine, a real socket, and companies that make
//! requests.

mod answer;
mod process;
mod provider;
mod reference;
pub(crate) mod unsent;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pombo::accounts::Accounts;
use pombo::api::Options;
use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::connector::mail::Mailer;
use pombo::connector::web_session::Driver;
use pombo::console;
use pombo::domain::channel::{Channel, Kind, Status};
use pombo::domain::scope::Scopes;
use pombo::domain::template::{ListedTemplate, ParameterFormat};
use pombo::engine::Engine;
use pombo::store::Store;
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::operators::NewOperator;
use pombo::vault::{api_key, context};
use reqwest::Method;
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) use self::answer::{Answer, sign};
pub(crate) use self::process::{Process, door, listen};
pub(crate) use self::provider::Provider;
pub(crate) use self::reference::compile;
use crate::database::Universe;

/// The business account that every seeded business channel belongs to.
pub(crate) const WABA: &str = "102290129340398";
/// A tier whose companies may make [`SPARING_REQUESTS`] in an hour.
pub(crate) const SPARING: &str = "sparing";
/// See [`SPARING`].
pub(crate) const SPARING_REQUESTS: u32 = 3;
/// An address on which nothing listens.
const NO_PROVIDER: &str = "http://127.0.0.1:1";

/// The database of one test: a file, or a PostgreSQL database if `POMBO_TEST_API_ON` is `postgres`.
async fn universe() -> Universe {
    match std::env::var("POMBO_TEST_API_ON").as_deref() {
        Ok("postgres") => Universe::postgres().await,
        _ => Universe::sqlite().await,
    }
}

/// A running service; stops with the test.
pub(crate) struct Service {
    process: Process,
    /// The database, as another process sees it.
    pub(crate) universe: Universe,
    client: reqwest::Client,
    config: Config,
    directory: TempDir,
}

/// A company and one of its valid keys.
#[derive(Debug, Clone)]
pub(crate) struct Company {
    pub(crate) id: Uuid,
    pub(crate) key: String,
}

impl Service {
    /// A service with the options of the default configuration.
    pub(crate) async fn start() -> Self {
        Self::start_with(Options::default()).await
    }

    /// With these options of the HTTP surface.
    pub(crate) async fn start_with(options: Options) -> Self {
        Self::start_on(config(), options, None).await
    }

    /// Behind a proxy that people reach at this address.
    pub(crate) async fn start_reached_at(public_url: &str) -> Self {
        let mut config = config();
        config.server.public_url = Some(public_url.parse().unwrap());
        Self::start_on(config, Options::default(), None).await
    }

    /// Behind proxies in this network.
    pub(crate) async fn start_behind(proxies: &str) -> Self {
        let mut config = config();
        config.server.trusted_proxies = vec![proxies.parse().unwrap()];
        Self::start_on(config, Options::default(), None).await
    }

    /// With web sessions on this driver.
    pub(crate) async fn start_with_driver(driver: impl Driver + 'static) -> Self {
        Self::start_configured(driver, |_| {}).await
    }

    /// With web sessions on this driver; `change` may change the configuration first.
    pub(crate) async fn start_configured(
        driver: impl Driver + 'static,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = config();
        change(&mut config);
        Self::start_on(config, Options::default(), Some(Arc::new(driver))).await
    }

    /// With a configuration that `change` changed.
    pub(crate) async fn start_changed(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = config();
        change(&mut config);
        Self::start_on(config, Options::default(), None).await
    }

    /// Ends the process gracefully; its data stays.
    pub(crate) async fn stop(&mut self) {
        self.process.stop().await;
    }

    /// Ends the process, and starts another one on the same data.
    pub(crate) async fn restart_with_driver(&mut self, driver: impl Driver + 'static) {
        self.process.stop().await;
        let (url, directory, config) = (&self.universe.url, self.directory.path(), self.config.clone());
        let driver = Some(Arc::new(driver) as Arc<dyn Driver>);
        let pages = console::Options::default();
        self.process = Process::start(url, directory, config, Options::default(), driver, pages).await;
    }

    /// With pages that never wait.
    pub(crate) async fn start_impatient() -> Self {
        let pages = console::Options { patience: Duration::ZERO, ..console::Options::default() };
        Box::pin(Self::start_with_pages(config(), Options::default(), None, pages)).await
    }

    /// With the way to a mail server.
    pub(crate) async fn start_with_mailer(mailer: Mailer) -> Self {
        let pages = console::Options { mailer: Some(mailer), ..console::Options::default() };
        Box::pin(Self::start_with_pages(config(), Options::default(), None, pages)).await
    }

    async fn start_on(config: Config, options: Options, driver: Option<Arc<dyn Driver>>) -> Self {
        Box::pin(Self::start_with_pages(config, options, driver, console::Options::default())).await
    }

    async fn start_with_pages(
        config: Config,
        options: Options,
        driver: Option<Arc<dyn Driver>>,
        pages: console::Options,
    ) -> Self {
        let (universe, directory) = (universe().await, tempfile::tempdir().unwrap());
        tier(&universe.store, &format!("{SPARING_REQUESTS}/h")).await;
        let (url, path) = (&universe.url, directory.path());
        let process = Process::start(url, path, config.clone(), options, driver, pages).await;
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { process, universe, client, config, directory }
    }

    /// The store, as another process would hold it.
    pub(crate) fn store(&self) -> &Store {
        &self.universe.store
    }

    /// Takes the database away from the service.
    pub(crate) async fn lose_database(&self) {
        self.process.store.clone().close().await;
    }

    /// The address of the service.
    pub(crate) fn url(&self) -> &str {
        &self.process.url
    }

    /// Sends the requests from now on to another process, at this address.
    pub(crate) fn ask_at(&mut self, url: String) {
        self.process.url = url;
    }

    /// The process's directory.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The accounts of the service's own process.
    pub(crate) fn accounts(&self) -> &Accounts {
        &self.process.accounts
    }

    /// The engine behind the socket.
    pub(crate) fn engine(&self) -> &Engine {
        &self.process.engine
    }

    /// How many pages have a live part open.
    pub(crate) fn open_streams(&self) -> usize {
        self.process.pages.open_streams()
    }

    /// A request to `path`, to be completed by the test.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.process.url))
    }

    /// The answer to `GET path` with a company's key.
    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        Answer::to(self.request(Method::GET, path).bearer_auth(key)).await
    }

    /// The answer to `POST path` with a company's key and this body.
    pub(crate) async fn post(&self, path: &str, key: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::POST, path).bearer_auth(key).body(body);
        Answer::to(request).await
    }

    /// The answer to `PUT path` with an operator's key and this body.
    pub(crate) async fn put(&self, path: &str, key: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::PUT, path).bearer_auth(key).body(body);
        Answer::to(request).await
    }

    /// Another operator; the key.
    pub(crate) async fn operator(&self, name: &str, expires_at: Option<Timestamp>) -> String {
        let key = format!("pombo_op_{name}");
        let new = NewOperator { name, prefix: "pombo_op_", hash: api_key::hash(&key), expires_at };
        self.store().operators().add(&Who::Pombo, new).await.unwrap();
        key
    }

    /// A company with a key.
    pub(crate) async fn company(&self, name: &str) -> Company {
        self.company_of(name, "standard").await
    }

    /// A company of this tier with a key.
    pub(crate) async fn company_of(&self, name: &str, tier: &str) -> Company {
        let id = self.store().companies().add(&Who::Pombo, name, tier).await.unwrap().id;
        let key = format!("pombo_{name}");
        self.add_key(id, &key, None).await;
        Company { id, key }
    }

    /// Another key of a company, with these scopes.
    pub(crate) async fn add_scoped_key(&self, company_id: Uuid, key: &str, scopes: Scopes) -> Uuid {
        let hash = api_key::hash(key);
        let new = NewKey { name: key, prefix: "pombo_", hash, expires_at: None, scopes };
        self.store().of(company_id).keys().add(&Who::Pombo, new).await.unwrap().id
    }

    /// Another key of a company; its id.
    pub(crate) async fn add_key(&self, company_id: Uuid, key: &str, expires_at: Option<Timestamp>) -> Uuid {
        let scopes = Scopes::ALL;
        let new = NewKey { name: key, prefix: "pombo_", hash: api_key::hash(key), expires_at, scopes };
        self.store().of(company_id).keys().add(&Who::Pombo, new).await.unwrap().id
    }

    /// A channel in this state.
    pub(crate) async fn channel(&self, company: &Company, kind: Kind, name: &str, status: Status) -> Channel {
        self.channel_of_tier(company, kind, name, status, "standard").await
    }

    /// A channel in this state that runs under this tier.
    pub(crate) async fn channel_of_tier(
        &self,
        company: &Company,
        kind: Kind,
        name: &str,
        status: Status,
        tier: &str,
    ) -> Channel {
        let business = kind == Kind::BusinessAccount;
        let id = Uuid::now_v7();
        let token = self.process.vault.seal(b"token", &context::token(id));
        let new = NewChannel {
            id,
            company_id: company.id,
            kind,
            name: name.to_owned(),
            phone_number: Some("+55 (11) 98888-7777".to_owned()),
            phone_number_id: business.then(|| id.simple().to_string()),
            waba_id: business.then(|| WABA.to_owned()),
            tier: tier.to_owned(),
            secrets: Sealed { token: Some(token), app_secret: None },
            status,
        };
        self.store().channels().add(&Who::Pombo, new).await.unwrap()
    }

    /// Makes these the templates of the company's business account, each given as name, language and status.
    pub(crate) async fn templates(&self, company: &Company, templates: &[(&str, &str, &str)]) {
        let synced: Vec<_> = templates.iter().map(template).collect();
        self.store().of(company.id).templates().sync(WABA, &synced).await.unwrap();
    }

    /// The id of a seeded template.
    pub(crate) async fn template_id(&self, company: &Company, name: &str, language: &str) -> i64 {
        self.store().of(company.id).templates().named(WABA, name, language).await.unwrap().unwrap().id
    }

    /// The answer to bytes that no well-behaved client would send. The client sends nothing more, and leaves
    /// the connection open. The status is 0 if the service closes the connection without an answer.
    pub(crate) async fn raw(&self, request: Vec<u8>) -> Answer {
        self.send_raw(request, false).await
    }

    /// The same, but the client closes its side of the connection.
    pub(crate) async fn raw_and_close(&self, request: Vec<u8>) -> Answer {
        self.send_raw(request, true).await
    }

    async fn send_raw(&self, request: Vec<u8>, close: bool) -> Answer {
        let address = self.process.url.trim_start_matches("http://").to_owned();
        tokio::task::spawn_blocking(move || answer::raw(&address, &request, close)).await.unwrap()
    }
}

/// The default configuration, without an outside provider. Receivers of webhooks may be on this machine, without TLS.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    config.cloud_api.base_url = NO_PROVIDER.to_owned();
    config.webhooks.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
    config.webhooks.allow_http = true;
    config
}

/// Gives the tier [`SPARING`] these requests to the API.
pub(crate) async fn tier(store: &Store, api_requests: &str) {
    let settings = json!({
        "name": SPARING,
        "kind": "business_account",
        "messages_per_second": "80/s",
        "api_requests": api_requests,
    });
    store.tiers().apply(&Who::Pombo, &[(SPARING.to_owned(), settings.to_string())]).await.unwrap();
}

fn template((name, language, status): &(&str, &str, &str)) -> ListedTemplate {
    let components = r#"[{"type":"BODY","text":"Hello {{1}}, order {{2}} left."}]"#;
    ListedTemplate {
        provider_id: format!("{name}-{language}"),
        name: (*name).to_owned(),
        language: (*language).to_owned(),
        category: "UTILITY".into(),
        status: (*status).into(),
        parameter_format: ParameterFormat::Positional,
        components: serde_json::value::RawValue::from_string(components.to_owned()).unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
}
