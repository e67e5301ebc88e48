//! A service of its own for every test: a temporary database, a real socket, and companies to ask as.
//!
//! What a test runs on is decided in [`universe`] (which database) and [`engine`] (which engine) and nowhere
//! else.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};
use pombo::api::{self, Options, State};
use pombo::clock::Timestamp;
use pombo::domain::channel::{Channel, Kind, Status};
use pombo::engine::Engine;
use pombo::store::Store;
use pombo::store::api_key::NewKey;
use pombo::store::channel::{NewChannel, Sealed};
use pombo::store::template::Synced;
use reqwest::Method;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::database::Universe;

/// The business account that every seeded business channel belongs to.
pub(crate) const WABA: &str = "102290129340398";

/// Where the data of one test is: a file, or a PostgreSQL database when `POMBO_TEST_API_ON` says `postgres`.
pub(crate) async fn universe() -> Universe {
    match std::env::var("POMBO_TEST_API_ON").as_deref() {
        Ok("postgres") => Universe::postgres().await,
        _ => Universe::sqlite().await,
    }
}

fn engine(store: Store) -> Engine {
    Engine::new(store)
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// A running service; stops with the test.
pub(crate) struct Service {
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    /// Its store.
    pub(crate) store: Store,
    client: reqwest::Client,
    server: ServerHandle,
    /// Its database, for what the store has no call for.
    pub(crate) universe: Universe,
}

impl Drop for Service {
    fn drop(&mut self) {
        // Without grace: the answer to this is awaited by nobody.
        drop(self.server.stop(false));
    }
}

/// A company and one of its valid keys.
#[derive(Debug, Clone)]
pub(crate) struct Tenant {
    pub(crate) id: Uuid,
    pub(crate) key: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    /// Reads a response to its end.
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let text =
            |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers =
            response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Self { status, headers, body: response.text().await.unwrap() }
    }

    /// The body as JSON; `null` when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The `code` of the body.
    pub(crate) fn code(&self) -> Option<String> {
        self.json()["code"].as_str().map(str::to_owned)
    }

    /// A header's value; empty when absent.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

impl Service {
    /// With the options that a default configuration gives.
    pub(crate) async fn start() -> Self {
        Self::start_with(Options::default()).await
    }

    /// With these options.
    pub(crate) async fn start_with(options: Options) -> Self {
        // A second test finds it installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let universe = universe().await;
        let store = universe.store.clone();
        let state = web::Data::new(State { engine: engine(store.clone()), options });
        let server = HttpServer::new(move || App::new().service(api::service(state.clone())))
            .workers(1)
            .bind(("127.0.0.1", 0))
            .unwrap();
        let url = format!("http://{}", server.addrs()[0]);
        let server = server.disable_signals().run();
        let handle = server.handle();
        tokio::spawn(server);
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { url, store, client, server: handle, universe }
    }

    /// A request to `path`, to be completed by the test.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// The answer to `GET path` with a tenant's key.
    pub(crate) async fn get(&self, path: &str, key: &str) -> Answer {
        Answer::read(self.request(Method::GET, path).bearer_auth(key).send().await.unwrap()).await
    }

    /// The answer to `POST path` with a tenant's key and this body.
    pub(crate) async fn post(&self, path: &str, key: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.request(Method::POST, path).bearer_auth(key).body(body);
        Answer::read(request.send().await.unwrap()).await
    }

    /// A company with a key.
    pub(crate) async fn tenant(&self, name: &str) -> Tenant {
        let id = self.store.add_company(name, "standard").await.unwrap().id;
        let key = format!("pombo_{name}");
        self.add_key(id, &key, None).await;
        Tenant { id, key }
    }

    /// Another key of a company; its id.
    pub(crate) async fn add_key(&self, company_id: Uuid, key: &str, expires_at: Option<Timestamp>) -> Uuid {
        let new = NewKey { company_id, name: key, prefix: "pombo_", hash: hash(key), expires_at };
        self.store.add_api_key(new).await.unwrap().id
    }

    /// A channel in this state.
    pub(crate) async fn channel(&self, tenant: &Tenant, kind: Kind, name: &str, status: Status) -> Channel {
        let business = kind == Kind::BusinessAccount;
        let id = Uuid::now_v7();
        let new = NewChannel {
            id,
            company_id: tenant.id,
            kind,
            name: name.to_owned(),
            phone_number: Some("+55 (11) 98888-7777".to_owned()),
            phone_number_id: business.then(|| id.simple().to_string()),
            waba_id: business.then(|| WABA.to_owned()),
            tier: "standard".to_owned(),
            secrets: Sealed::default(),
            status,
        };
        self.store.add_channel(new).await.unwrap()
    }

    /// Makes these the templates of the tenant's business account, each given as name, language and status.
    pub(crate) async fn templates(&self, tenant: &Tenant, templates: &[(&str, &str, &str)]) {
        let synced: Vec<_> = templates.iter().map(template).collect();
        self.store.sync_templates(tenant.id, WABA, &synced).await.unwrap();
    }

    /// The id of a seeded template.
    pub(crate) async fn template_id(&self, tenant: &Tenant, name: &str, language: &str) -> i64 {
        self.store.find_template_by_name(tenant.id, WABA, name, language).await.unwrap().unwrap().id
    }
}

fn template((name, language, status): &(&str, &str, &str)) -> Synced {
    let components = r#"[{"type":"BODY","text":"Hello {{1}}, order {{2}} left."}]"#;
    Synced {
        provider_id: format!("{name}-{language}"),
        name: (*name).to_owned(),
        language: (*language).to_owned(),
        category: "UTILITY".to_owned(),
        status: (*status).to_owned(),
        parameter_format: "POSITIONAL".to_owned(),
        components: serde_json::value::RawValue::from_string(components.to_owned()).unwrap(),
        rejected_reason: None,
        quality_score: None,
    }
}

impl Service {
    /// The answer to bytes that no well-behaved client would send; nothing more comes, but the connection
    /// stays open. One that the service closes without an answer has the status 0.
    pub(crate) async fn raw(&self, request: Vec<u8>) -> Answer {
        let address = self.url.trim_start_matches("http://").to_owned();
        tokio::task::spawn_blocking(move || raw(&address, &request, false)).await.unwrap()
    }

    /// The same, but the client closes its side of the connection.
    pub(crate) async fn raw_and_close(&self, request: Vec<u8>) -> Answer {
        let address = self.url.trim_start_matches("http://").to_owned();
        tokio::task::spawn_blocking(move || raw(&address, &request, true)).await.unwrap()
    }
}

fn raw(address: &str, request: &[u8], close: bool) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request).unwrap();
    if close {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        let _ = reader.read_line(&mut line);
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
    let mut body = String::new();
    let _ = reader.take(length).read_to_string(&mut body);
    Answer { status, headers, body }
}
