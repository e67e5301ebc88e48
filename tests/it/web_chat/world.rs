//! A service whose web sessions are linked to phones of a test's own WhatsApp.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::domain::channel::{Kind, Status};
use pombo::store::Store;
use pombo::store::changes::Who;
use reqwest::Method;
use sea_orm::{ColumnTrait as _, Database, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};
use serde_json::{Value, json};
use uuid::Uuid;
use web_session::{Options, WhatsApp};

use super::OWN;
use crate::fake_whatsapp::{FakeWhatsApp, Phone, SentMessage};
use crate::harness::{Answer, Company, Service};
use crate::running::until;

/// The tier of most tests: nothing waits.
pub(super) const QUICK: &str = "quick";

/// A number that is not on WhatsApp.
const NOBODY: &str = "5500900000000";

/// The service ends before its WhatsApp does.
pub(super) struct World {
    pub(super) service: Service,
    pub(super) whatsapp: FakeWhatsApp,
    /// The account that most tests send from.
    pub(super) own: Account,
}

/// A company's channel, and the phone that is or will be linked to it.
#[derive(Clone)]
pub(super) struct Account {
    pub(super) company: Company,
    pub(super) channel: Uuid,
    pub(super) phone: Phone,
}

/// A message that was answered with 200.
pub(super) struct Sent {
    /// The whole answer.
    pub(super) body: Value,
    /// WhatsApp's id of it.
    pub(super) id: String,
    /// The id of its send.
    pub(super) send: String,
}

/// A text for a person.
pub(crate) fn text(number: &str, text: &str) -> Value {
    json!({"phone_number": number, "recipient_type": "number", "type": "text", "message": text})
}

/// The tests' changes of the configuration: links may lead to this machine, and doubt ends at once.
pub(crate) fn configure(config: &mut Config) {
    config.media.allow = vec!["127.0.0.0/8".parse().unwrap()];
    config.retry.unknown_grace = Duration::ZERO;
    config.engine.arbiters = 1;
    config.web_session.patience = Duration::from_secs(10);
}

/// A driver of a new process.
pub(crate) fn driver(url: &str, media_host: &str) -> WhatsApp {
    // A second test finds it installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = Options {
        address: url.to_owned(),
        http_base: Some(format!("http://{media_host}").parse().unwrap()),
        prekeys: 16,
        ..Options::default()
    };
    WhatsApp::start(options).unwrap()
}

/// Gives the database a tier for web sessions with these options beside the pace.
pub(crate) async fn tier(store: &Store, name: &str, options: Value) {
    let mut settings = json!({
        "name": name,
        "kind": "web_session",
        "messages_per_second": "unlimited",
        "pair_interval": "0s",
        "unknown_outcome": "hold",
    });
    let Value::Object(options) = options else { panic!("options are an object") };
    settings.as_object_mut().unwrap().extend(options);
    store.tiers().apply(&Who::Pombo, &[(name.to_owned(), settings.to_string())]).await.unwrap();
}

impl World {
    /// With a session that is linked and connected.
    pub(super) async fn linked() -> Self {
        Self::linked_with(|_| {}).await
    }

    /// The same with another configuration.
    pub(super) async fn linked_with(change: impl FnOnce(&mut Config)) -> Self {
        let world = Self::unlinked_with(change).await;
        world.link(&world.own).await;
        world
    }

    /// With a channel that waits for its phone.
    pub(super) async fn unlinked() -> Self {
        Self::unlinked_with(|_| {}).await
    }

    async fn unlinked_with(change: impl FnOnce(&mut Config)) -> Self {
        let whatsapp = FakeWhatsApp::start();
        let driver = driver(whatsapp.url(), whatsapp.media_host());
        // On the heap, because a service is large and part of the world.
        let service = Box::pin(Service::start_configured(driver, |config| {
            configure(config);
            change(config);
        }))
        .await;
        tier(service.store(), QUICK, json!({})).await;
        let own = account(&service, &whatsapp, "acme", OWN, QUICK).await;
        Self { service, whatsapp, own }
    }

    /// Another company with a session of this tier that is linked and connected.
    pub(super) async fn account(&self, company: &str, number: &str, tier: &str) -> Account {
        let account = account(&self.service, &self.whatsapp, company, number, tier).await;
        self.link(&account).await;
        account
    }

    /// Ends the process gracefully, if there is one, and starts another one on the same data.
    pub(super) async fn restart(&mut self) {
        self.service.restart_with_driver(driver(self.whatsapp.url(), self.whatsapp.media_host())).await;
    }

    /// Waits until a device is connected again on the account of most tests, and the service knows that.
    pub(super) async fn comes_back(&self, logins_before: u32) {
        self.returns(&self.own, logins_before).await;
    }

    /// The same of this account's phone.
    pub(super) async fn returns(&self, account: &Account, logins_before: u32) {
        until("another login", async || account.phone.logins() > logins_before).await;
        account.phone.expect_online().await;
        self.ready(account).await;
    }

    /// Waits until the channel sends, a moment after it is shown as connected: requests a message to a number
    /// that is not on WhatsApp.
    pub(super) async fn ready(&self, account: &Account) {
        until("the channel to send", async || {
            let answer = self.post_by(account, &text(NOBODY, "?")).await;
            // The number is unknown, or the lookup exceeds the pace: only a session that sends looks it up.
            assert!([409, 422, 429].contains(&answer.status), "{}", answer.body);
            answer.status != 409
        })
        .await;
    }

    /// Begins to link the account, and waits for the text of a QR code.
    pub(super) async fn code(&self, account: &Account) -> String {
        self.begin(account, "").await;
        let mut code = None;
        until("a QR code", async || {
            code = self.pairing(account).await["qr"]["payload"].as_str().map(str::to_owned);
            code.is_some()
        })
        .await;
        code.unwrap()
    }

    /// Links the account by scanning.
    pub(super) async fn link(&self, account: &Account) {
        account.phone.scan(&self.code(account).await);
        self.becomes(account, "linked", "connected", None).await;
        account.phone.expect_online().await;
        self.ready(account).await;
    }

    pub(super) async fn begin(&self, account: &Account, body: &str) {
        let path = pairing(account);
        let answer = self.service.post(&path, &account.company.key, body.to_owned()).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
    }

    /// The state of the account's pairing.
    pub(super) async fn pairing(&self, account: &Account) -> Value {
        let answer = self.service.get(&pairing(account), &account.company.key).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// Takes the device off the phone.
    pub(super) async fn unlink(&self, account: &Account) {
        let request = self.service.request(Method::DELETE, &pairing(account));
        let answer = Answer::to(request.bearer_auth(&account.company.key)).await;
        assert_eq!(answer.status, 204, "{}", answer.body);
    }

    /// Waits until the account is in this state for this reason, and returns its record.
    pub(super) async fn becomes(
        &self,
        account: &Account,
        state: &str,
        status: &str,
        reason: Option<&str>,
    ) -> Value {
        let mut shown = Value::Null;
        until(&format!("{state}, {status}, {reason:?}"), async || {
            shown = self.pairing(account).await;
            shown["state"] == state
                && shown["status"] == status
                && shown["status_reason"]["code"].as_str() == reason
        })
        .await;
        shown
    }

    /// The channels that the account's company sees.
    pub(super) async fn channels(&self, account: &Account) -> Vec<Value> {
        let answer = self.service.get("/api/v1/web-chat", &account.company.key).await;
        answer.json()["data"].as_array().unwrap().clone()
    }

    /// All rows that the channel's session keeps.
    pub(super) async fn records(&self, account: &Account) -> u64 {
        use entity::web_session_record::{Column, Entity};
        let database = Database::connect(&self.service.universe.url).await.unwrap();
        let own = Entity::find().filter(Column::ChannelId.eq(account.channel));
        let count = own.count(&database).await.unwrap();
        database.close().await.unwrap();
        count
    }

    /// The answer to this body.
    pub(super) async fn post(&self, body: &Value) -> Answer {
        self.post_by(&self.own, body).await
    }

    /// The answer to this body through this account.
    pub(super) async fn post_by(&self, account: &Account, body: &Value) -> Answer {
        self.service.post(&messages(account), &account.company.key, body.to_string()).await
    }

    /// Sends this; it must be answered with 200.
    pub(super) async fn send(&self, body: &Value) -> Sent {
        self.send_by(&self.own, body).await
    }

    /// The same through this account.
    pub(super) async fn send_by(&self, account: &Account, body: &Value) -> Sent {
        let answer = self.post_by(account, body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        Sent::new(answer.json())
    }

    /// Sends this and waits until it has arrived.
    pub(super) async fn arrives(&self, body: &Value) -> (Sent, SentMessage) {
        let sent = self.send(body).await;
        let message = self.whatsapp.expect_message(&sent.id).await;
        (sent, message)
    }

    /// The only message of a send, as the ledger has it.
    pub(super) async fn message(&self, send: &str) -> Value {
        self.message_of(&self.own, send).await
    }

    /// The same of another company's send.
    pub(super) async fn message_of(&self, account: &Account, send: &str) -> Value {
        let path = format!("/api/v1/sends/{send}/messages");
        let answer = self.service.get(&path, &account.company.key).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let page = answer.json();
        assert_eq!(page["totalRecords"], 1, "{page}");
        page["data"][0].clone()
    }

    /// Waits until the message is in this state, and returns its record.
    pub(super) async fn reaches(&self, send: &str, state: &str) -> Value {
        let mut message = Value::Null;
        until(&format!("a message {state}"), async || {
            message = self.message(send).await;
            message["state"] == state
        })
        .await;
        message
    }

    /// Checks that the message is under way: it was attempted, and WhatsApp has not acknowledged it.
    pub(super) async fn is_under_way(&self, send: &str) {
        let message = self.message(send).await;
        assert!(["queued", "sending"].contains(&message["state"].as_str().unwrap()), "{message}");
    }

    /// How many sends the company has.
    pub(super) async fn sends(&self) -> u64 {
        let answer = self.service.get("/api/v1/sends", &self.own.company.key).await;
        answer.json()["totalRecords"].as_u64().unwrap()
    }
}

impl Sent {
    pub(super) fn new(body: Value) -> Self {
        let id = body["data"][0]["result"]["key"]["id"].as_str().expect("an id of a message").to_owned();
        let send = body["send_id"].as_str().expect("an id of a send").to_owned();
        Self { body, id, send }
    }

    /// The answer's only message.
    pub(super) fn result(&self) -> &Value {
        &self.body["data"][0]["result"]
    }
}

async fn account(
    service: &Service,
    whatsapp: &FakeWhatsApp,
    company: &str,
    number: &str,
    tier: &str,
) -> Account {
    let company = service.company(company).await;
    let channel =
        service.channel_of_tier(&company, Kind::WebSession, "phone", Status::Pairing, tier).await.id;
    Account { company, channel, phone: whatsapp.phone(number) }
}

/// The path of an account's pairing.
fn pairing(account: &Account) -> String {
    format!("/api/v1/web-chat/{}/pairing", account.channel)
}

/// The path of an account's messages.
pub(super) fn messages(account: &Account) -> String {
    format!("/api/v1/web-chat/{}/messages", account.channel)
}

/// Checks the whole answer to a message, except its text and its times; `sent` has the recipient and
/// `content` the content.
pub(super) fn check(sent: &Sent, jid: &str, content: &Value) {
    let timestamp = sent.result()["messageTimestamp"].as_str().expect("a time in text");
    let seconds = timestamp.parse::<i64>().unwrap() - Timestamp::now().millis() / 1000;
    assert!((-60..=1).contains(&seconds), "{timestamp}");
    let words = sent.body["message"].as_str().expect("a sentence");
    assert!(words.contains("sent"), "{words}");
    let result = json!({
        "key": {"remoteJid": jid, "fromMe": true, "id": sent.id},
        "message": content,
        "messageTimestamp": timestamp,
        "status": "PENDING",
    });
    let whole = json!({"message": words, "data": [{"index": 0, "result": result}], "send_id": sent.send});
    assert_eq!(sent.body, whole);
    let send: Uuid = sent.send.parse().unwrap();
    let bytes = send.as_bytes();
    let tail = hex::encode_upper([&bytes[..6], &bytes[13..]].concat());
    assert_eq!(sent.id, format!("3EB0{tail}"), "an ack finds its send by the id of the message");
}
