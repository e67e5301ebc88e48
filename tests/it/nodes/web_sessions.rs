//! Web sessions of a cluster: one node has the session, and the others answer as if they had it.

use std::path::Path;
use std::sync::Arc;

use pombo::app::App;
use pombo::app::serve::{Service, start_with};
use pombo::config::Config;
use pombo::connector::web_session::MessageId;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::graph::message_key;
use pombo::domain::scope::Scopes;
use pombo::domain::secret::Secret;
use pombo::store::api_keys::NewKey;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::vault::api_key;
use reqwest::Method;
use tempfile::TempDir;
use url::Url;

use super::*;
use crate::events::server::NatsServer;
use crate::fake_whatsapp::{FakeWhatsApp, Phone};
use crate::graph::Program;
use crate::proxy::Proxy;
use crate::web_chat::world::{configure, driver, text, tier};

const KEY: &str = "pombo_acme";
const OWN: &str = "5511900000001";
pub(super) const MARIA: &str = "5511988887777";
pub(super) const NOBODY: &str = "5500900000000";

/// Services in this process that share a database, a NATS server and a WhatsApp.
pub(super) struct Cluster {
    pub(super) universe: Universe,
    pub(super) directory: TempDir,
    pub(super) nats: NatsServer,
    services: Vec<(&'static str, Service)>,
    pub(super) whatsapp: FakeWhatsApp,
    pub(super) phone: Phone,
    pub(super) channel: Uuid,
}

impl Cluster {
    /// One company with a web session that waits for its phone, and no nodes yet.
    pub(super) async fn new() -> Self {
        let (universe, whatsapp) = (Universe::postgres().await, FakeWhatsApp::start());
        let store = &universe.store;
        tier(store, "quick", json!({})).await;
        let company_id = store.companies().add(&Who::Pombo, "acme", "quick").await.unwrap().id;
        let (hash, scopes) = (api_key::hash(KEY), Scopes::ALL);
        let key = NewKey { name: KEY, prefix: "pombo_", hash, expires_at: None, scopes };
        store.of(company_id).keys().add(&Who::Pombo, key).await.unwrap();
        let new = NewChannel {
            id: Uuid::now_v7(),
            company_id,
            kind: Kind::WebSession,
            name: "phone".to_owned(),
            phone_number: None,
            phone_number_id: None,
            waba_id: None,
            tier: "quick".to_owned(),
            secrets: Sealed { token: None, app_secret: None },
            status: Status::Pairing,
        };
        let channel = store.channels().add(&Who::Pombo, new).await.unwrap().id;
        let (directory, nats) = (tempfile::tempdir().unwrap(), NatsServer::start_with(&[]).await);
        let phone = whatsapp.phone(OWN);
        whatsapp.contact(MARIA);
        Self { universe, directory, nats, services: Vec::new(), whatsapp, phone, channel }
    }

    /// A node that reaches the database at this address.
    pub(super) async fn start(&mut self, name: &'static str, database: &str) {
        let mut config = node_config(name, database, self.directory.path(), &self.nats);
        configure(&mut config);
        (config.graph.enabled, config.graph.wait) = (true, Duration::ZERO);
        let driver = driver(self.whatsapp.url(), self.whatsapp.media_host());
        let app = Box::pin(App::open(config)).await.unwrap();
        let service = Box::pin(start_with(app, Some(Arc::new(driver)))).await.unwrap();
        self.services.push((name, service));
    }

    /// With two nodes, and linked through them.
    pub(super) async fn linked() -> Self {
        let mut cluster = Self::new().await;
        let url = cluster.universe.url.clone();
        cluster.start("a", &url).await;
        cluster.start("b", &url).await;
        cluster.link().await;
        cluster
    }

    /// Begins the pairing at one node and reads its state at the other one.
    pub(super) async fn link(&self) {
        let path = format!("/api/v1/web-chat/{}/pairing", self.channel);
        until("a pairing", async || self.ask("a", Method::POST, &path, None).await.status == 202).await;
        let mut code = None;
        until("a QR code", async || {
            let answer = self.ask("b", Method::GET, &path, None).await;
            code = answer.json()["qr"]["payload"].as_str().map(str::to_owned);
            code.is_some()
        })
        .await;
        self.phone.scan(&code.unwrap());
        for name in ["a", "b"] {
            until("a linked session", async || {
                let answer = self.ask(name, Method::GET, &path, None).await;
                answer.status == 200 && answer.json()["state"] == "linked"
            })
            .await;
        }
        self.phone.expect_online().await;
        self.sends().await;
    }

    /// Waits until a message can be sent at every node.
    pub(super) async fn sends(&self) {
        for (name, _) in &self.services {
            until("a session that sends", async || self.post(name, NOBODY, None).await.status == 422).await;
        }
    }

    fn url(&self, name: &str) -> &str {
        self.services.iter().find(|(known, _)| *known == name).unwrap().1.base_url()
    }

    pub(super) async fn ask(
        &self,
        name: &str,
        method: Method,
        path: &str,
        body: Option<(&Value, &str)>,
    ) -> Answer {
        let url = format!("{}{path}", self.url(name));
        let mut request = reqwest::Client::new().request(method, url).bearer_auth(KEY);
        if let Some((body, key)) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
            if !key.is_empty() {
                request = request.header("idempotency-key", key);
            }
        }
        Answer::to(request).await
    }

    /// Posts a text to this number at this node, under this key if there is one.
    pub(super) async fn post(&self, name: &str, number: &str, key: Option<&str>) -> Answer {
        let path = format!("/api/v1/web-chat/{}/messages", self.channel);
        self.ask(name, Method::POST, &path, Some((&text(number, "hi"), key.unwrap_or_default()))).await
    }

    /// The names of the node that has the session, and of the other one.
    pub(super) async fn owner(&self) -> (&'static str, &'static str) {
        if self.is_owned_by("a").await { ("a", "b") } else { ("b", "a") }
    }

    async fn is_owned_by(&self, name: &str) -> bool {
        let owner = self.universe.store.shards().owner_of(self.channel).await.unwrap();
        let nodes = self.universe.store.nodes().all().await.unwrap();
        owner.is_some_and(|owner| nodes.iter().any(|node| node.id == owner.node && node.name == name))
    }

    pub(super) async fn end(self) {
        for (_, service) in self.services {
            service.stop().await.unwrap();
        }
        self.universe.end().await;
    }
}

pub(super) fn node_config(name: &str, database: &str, directory: &Path, nats: &NatsServer) -> Config {
    let mut config = crate::harness::config();
    config.database.url = Some(Secret::new(database.to_owned()));
    config.database.connections = 6;
    config.data.dir = directory.to_owned();
    config.server.bind = "127.0.0.1:0".parse().unwrap();
    config.metrics.enabled = false;
    (config.cluster.name, config.cluster.node) = ("web".to_owned(), name.to_owned());
    config.nats.url = Some(Secret::new(nats.url()));
    config
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_message_posted_at_any_node_goes_through_the_one_session_and_is_answered_alike() {
    let cluster = Cluster::linked().await;
    let logins = cluster.phone.logins();
    let (owner, other) = cluster.owner().await;
    let mut shapes = Vec::new();
    for name in [owner, other] {
        let key = format!("order-{name}");
        let answer = cluster.post(name, MARIA, Some(&key)).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        let body = answer.json();
        let id = body["data"][0]["result"]["key"]["id"].as_str().unwrap().to_owned();
        assert_eq!(cluster.whatsapp.expect_message(&id).await.text(), Some("hi"));
        let fields: Vec<_> = body.as_object().unwrap().keys().cloned().collect();
        shapes.push(fields);
        // The key is known at every node.
        for name in [owner, other] {
            let again = cluster.post(name, MARIA, Some(&key)).await;
            assert_eq!((again.status, again.body.as_str()), (200, answer.body.as_str()), "{name}");
        }
    }
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(cluster.whatsapp.messages().len(), 2, "nothing was sent twice");
    let [here, there] = [cluster.post(owner, NOBODY, None).await, cluster.post(other, NOBODY, None).await];
    assert_eq!((here.status, &here.json()["code"]), (there.status, &there.json()["code"]));
    assert_eq!(there.json()["code"], "not_on_whatsapp");
    // So is a check of numbers, which asks WhatsApp at the owner.
    let unknown = "5500900000001";
    for (name, asked) in [(other, 1), (owner, 0)] {
        let body =
            serde_json::json!({"phone_number": [NOBODY, MARIA, unknown], "channel_id": cluster.channel});
        let checked = cluster.ask(name, Method::POST, "/api/v1/numbers/check", Some((&body, ""))).await;
        assert_eq!(checked.status, 200, "{}", checked.body);
        let there: Vec<_> = checked.json()["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|number| number["on_whatsapp"].as_bool())
            .collect();
        assert_eq!(there, [Some(false), Some(true), Some(false)], "{}", checked.body);
        assert_eq!(checked.json()["whatsapp"]["asked"], asked, "{name}: {}", checked.body);
    }
    assert_eq!(cluster.phone.logins(), logins, "no other node opened the session");
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_session_moves_when_its_node_drains_and_the_drained_node_still_answers() {
    let cluster = Cluster::linked().await;
    let (logins, (owner, other)) = (cluster.phone.logins(), cluster.owner().await);
    let nodes = cluster.universe.store.nodes().all().await.unwrap();
    let id = nodes.iter().find(|node| node.name == owner).unwrap().id;
    assert!(cluster.universe.store.nodes().drain(&Who::Pombo, id).await.unwrap());
    until("another login", async || cluster.phone.logins() > logins).await;
    cluster.phone.expect_online().await;
    assert_eq!(cluster.owner().await.0, other);
    cluster.sends().await;
    assert_eq!(cluster.post(owner, MARIA, None).await.status, 200);
    assert_eq!(cluster.phone.logins(), logins + 1, "the node that gave it away opened it again");
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_message_that_waits_for_its_turn_goes_once_from_the_node_that_takes_the_session_over() {
    let mut cluster = Cluster::new().await;
    let slow = serde_json::json!({"messages_per_second": "12/min", "burst": 1});
    tier(&cluster.universe.store, "quick", slow).await;
    let url = cluster.universe.url.clone();
    cluster.start("a", &url).await;
    cluster.start("b", &url).await;
    cluster.link().await;
    let (logins, (owner, other)) = (cluster.phone.logins(), cluster.owner().await);
    // The node without the session passes them on.
    let program = Program::new(cluster.url(other), KEY);
    let path = program.messages().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let (status, answer) =
            program.post(&path, &serde_json::json!({"to": MARIA, "text": {"body": "hi"}})).await;
        assert_eq!(status, 200, "{answer}");
        let key = message_key(answer["messages"][0]["id"].as_str().unwrap()).unwrap();
        let id = MessageId::of_send(key.send_id).as_str().to_owned();
        if ids.is_empty() {
            cluster.whatsapp.expect_message(&id).await;
        }
        ids.push((id, key.send_id));
    }
    let (id, send_id) = ids.pop().unwrap();
    let steer = async |name: &str, how: &str| {
        let path = format!("/api/v1/sends/{send_id}/{how}");
        cluster.ask(name, Method::POST, &path, None).await.status
    };
    assert_eq!(steer(other, "pause").await, 200);
    tier(&cluster.universe.store, "quick", serde_json::json!({})).await;
    let nodes = cluster.universe.store.nodes().all().await.unwrap();
    let node = nodes.iter().find(|node| node.name == owner).unwrap().id;
    assert!(cluster.universe.store.nodes().drain(&Who::Pombo, node).await.unwrap());
    until("another login", async || cluster.phone.logins() > logins).await;
    cluster.phone.expect_online().await;
    assert_eq!(steer(owner, "resume").await, 200);
    cluster.whatsapp.expect_message(&id).await;
    cluster.sends().await;
    assert_eq!(cluster.whatsapp.messages().len(), 2, "nothing was sent twice");
    cluster.end().await;
}

#[actix_web::test]
#[ignore = "needs PostgreSQL and nats-server: run scripts/test"]
async fn a_node_that_cannot_renew_its_lease_closes_the_session_before_another_node_opens_it() {
    let mut cluster = Cluster::new().await;
    let mut address = Url::parse(&cluster.universe.url).unwrap();
    let server = format!("{}:{}", address.host_str().unwrap(), address.port().unwrap_or(5432));
    let proxy = Proxy::to(server);
    address.set_host(Some(&proxy.address.ip().to_string())).unwrap();
    address.set_port(Some(proxy.address.port())).unwrap();
    cluster.start("a", address.as_str()).await;
    let path = format!("/api/v1/web-chat/{}/pairing", cluster.channel);
    until("the first node", async || cluster.ask("a", Method::POST, &path, None).await.status == 202).await;
    let url = cluster.universe.url.clone();
    cluster.start("b", &url).await;
    cluster.link().await;
    assert_eq!(cluster.owner().await.0, "a", "a session stays where it was");
    let logins = cluster.phone.logins();
    proxy.refuse();
    proxy.cut();
    cluster.phone.expect_offline().await;
    assert_eq!(cluster.phone.logins(), logins, "nobody else was connected before");
    until("another owner", async || cluster.is_owned_by("b").await).await;
    cluster.phone.expect_online().await;
    assert_eq!(cluster.phone.logins(), logins + 1);
    proxy.mend();
    let (_, lost) = cluster.services.remove(0);
    lost.fenced().await;
    lost.stop().await.unwrap();
    cluster.sends().await;
    cluster.end().await;
}
