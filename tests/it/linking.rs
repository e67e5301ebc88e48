//! Linking phones to channels, through the HTTP surface, with a driver that the test controls.

mod groups;
mod passkey;
mod taking;
mod telling;

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::connector::web_session::{Ack, AckState, Ban, End, Event, MessageId, PairingFailure, RESTRICTED};
use pombo::domain::channel::{Kind, Status};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::secret::Secret;
use reqwest::Method;
use sea_orm::{Database, EntityTrait as _, Set};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Answer, Company, Service};
use crate::program::Place;
use crate::running::until;
use crate::scripted_driver::{Scripted, ScriptedDriver};

/// A company with a channel that waits for a phone.
struct World {
    service: Service,
    driver: ScriptedDriver,
    company: Company,
    channel: Uuid,
}

impl World {
    async fn new() -> Self {
        let driver = ScriptedDriver::default();
        let service = Service::start_with_driver(driver.clone()).await;
        let company = service.company("acme").await;
        let channel = service.channel(&company, Kind::WebSession, "phone", Status::Pairing).await.id;
        Self { service, driver, company, channel }
    }

    fn path(&self) -> String {
        format!("/api/v1/web-chat/{}/pairing", self.channel)
    }

    async fn show(&self) -> Value {
        let answer = self.service.get(&self.path(), &self.company.key).await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{}", answer.body);
        answer.json()
    }

    async fn begin(&self, body: &Value) -> Value {
        let answer = self.service.post(&self.path(), &self.company.key, body.to_string()).await;
        assert_eq!((answer.status, answer.header("cache-control")), (202, "no-store"), "{}", answer.body);
        answer.json()
    }

    async fn unlink(&self) -> u16 {
        let request = self.service.request(Method::DELETE, &self.path()).bearer_auth(&self.company.key);
        Answer::to(request).await.status
    }

    /// Waits until the channel is in this state for this reason, and returns its whole record.
    async fn becomes(&self, state: &str, status: &str, reason: Option<&str>) -> Value {
        let mut shown = Value::Null;
        until(&format!("{state}, {status}, {reason:?}"), async || {
            shown = self.show().await;
            shown["state"] == state
                && shown["status"] == status
                && shown["status_reason"]["code"].as_str() == reason
        })
        .await;
        shown
    }

    async fn keys(&self) -> bool {
        self.service.store().web_sessions().exists(self.channel).await.unwrap()
    }

    /// The time since which a phone is linked.
    async fn linked_at(&self) -> Option<Timestamp> {
        self.service.store().channels().find(self.channel).await.unwrap().unwrap().linked_at
    }

    /// Links a phone; the session.
    async fn link(&self, opened: usize) -> Scripted {
        self.begin(&json!({})).await;
        let session = self.driver.session(self.channel, opened).await;
        session.keep_a_key().await;
        session.tell(qr("2@one")).await;
        session.tell(paired()).await;
        session.tell(Event::Connected).await;
        self.becomes("linked", "connected", None).await;
        session
    }

    /// The channel's record after its linked session ended in this way.
    async fn after(&self, opened: usize, end: End, state: &str, code: &str) -> Value {
        let session = self.link(opened).await;
        session.tell(Event::Ended(end)).await;
        self.becomes(state, "disconnected", Some(code)).await
    }
}

fn qr(payload: &str) -> Event {
    Event::Qr { payload: Secret::new(payload.to_owned()), valid_for: Duration::from_secs(20) }
}

fn paired() -> Event {
    let number = PhoneNumber::parse("5511988887777").unwrap();
    Event::Paired { number, lid: None, business_name: None }
}

#[tokio::test]
async fn a_phone_is_linked_by_scanning_the_newest_code() {
    let (before, world) = (Timestamp::now(), World::new().await);
    assert_eq!(world.show().await["state"], "unlinked");
    assert_eq!(world.begin(&json!({})).await["state"], "starting");
    assert_eq!(world.begin(&json!({})).await["state"], "starting", "it runs already");
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    session.tell(qr("2@two")).await;
    until("the newest code", async || world.show().await["qr"]["payload"] == "2@two").await;
    let shown = world.becomes("waiting", "pairing", None).await;
    assert!(shown["qr"]["svg"].as_str().unwrap().contains("<svg"), "{shown}");
    assert!(Timestamp::parse(shown["qr"]["expires_at"].as_str().unwrap()).unwrap() > Timestamp::now());
    session.tell(paired()).await;
    let shown = world.becomes("linking", "connecting", None).await;
    assert_eq!((&shown["qr"], shown["phone_number"].as_str()), (&Value::Null, Some("+5511988887777")));
    session.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
    assert_eq!(world.begin(&json!({})).await["state"], "linked", "nothing is begun again");
    assert_eq!(world.driver.opened(), 1);
    assert!(world.keys().await);
    assert!(world.linked_at().await.is_some_and(|at| (before..=Timestamp::now()).contains(&at)));
}

#[tokio::test]
async fn a_code_that_is_shown_while_the_session_is_opened_is_not_unexpected() {
    let mut world = World::new().await;
    world.driver.begin_with(vec![qr("2@at-once")]);
    // The order in which a session and a request are heard must not be one of luck.
    for _ in 0..8 {
        let phone = world.service.channel(&world.company, Kind::WebSession, "phone", Status::Pairing).await;
        world.channel = phone.id;
        world.begin(&json!({})).await;
        until("the code", async || world.show().await["qr"]["payload"] == "2@at-once").await;
    }
}

#[tokio::test]
async fn a_pairing_code_is_requested_once_and_its_refusal_is_reported() {
    let world = World::new().await;
    let number = json!({"phone_number": "+55 11 98888-7777"});
    world.begin(&number).await;
    let session = world.driver.session(world.channel, 1).await;
    until("the code", async || world.show().await["pairing_code"]["code"] == "K7XQ2M9P").await;
    world.begin(&number).await;
    assert_eq!(*session.asked.lock().unwrap(), ["code for 5511988887777"]);
    session.tell(Event::PairingCodeExpired).await;
    until("the pairing's end", async || world.show().await["pairing_code"].is_null()).await;
    *session.code.lock().unwrap() = Err(PairingFailure::Throttled { retry_after: None });
    world.begin(&number).await;
    let told = "WhatsApp gives no code to this number now";
    until("the refusal", async || world.show().await["pairing_code_failure"] == told).await;
}

#[tokio::test]
async fn unused_codes_leave_nothing_behind_and_new_ones_can_be_requested() {
    let world = World::new().await;
    world.begin(&json!({})).await;
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    session.tell(Event::Ended(End::QrExhausted)).await;
    let shown = world.becomes("unlinked", "pairing", Some("qr_expired")).await;
    assert!(shown["qr"].is_null() && !world.keys().await, "{shown}");
    world.begin(&json!({})).await;
    world.driver.session(world.channel, 2).await.tell(qr("2@two")).await;
    world.becomes("waiting", "pairing", None).await;
}

#[tokio::test]
async fn unlinking_tells_the_phone_and_deletes_the_keys() {
    let world = World::new().await;
    let session = world.link(1).await;
    assert_eq!(world.unlink().await, 204);
    assert_eq!(*session.asked.lock().unwrap(), ["unlink"]);
    assert!(!world.keys().await);
    world.becomes("unlinked", "pairing", None).await;
    assert_eq!(world.linked_at().await, None);
    assert_eq!(world.unlink().await, 204, "there is nothing left to unlink");
    world.link(2).await;
}

#[tokio::test]
async fn a_pairing_can_be_canceled() {
    let world = World::new().await;
    world.begin(&json!({})).await;
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    world.becomes("waiting", "pairing", None).await;
    assert_eq!(world.unlink().await, 204);
    assert_eq!(*session.asked.lock().unwrap(), ["stop"]);
    assert!(!world.keys().await);
}

#[tokio::test]
async fn a_phone_that_unlinks_the_device_takes_its_keys_with_it() {
    let world = World::new().await;
    world.after(1, End::Unlinked, "unlinked", "logged_out").await;
    assert!(!world.keys().await);
    world.link(2).await;
}

#[tokio::test]
async fn a_session_that_was_replaced_stays_closed_until_a_person_asks_for_it() {
    let world = World::new().await;
    world.after(1, End::Replaced, "linked", "replaced").await;
    assert!(world.keys().await && world.driver.opened() == 1);
    assert_eq!(world.begin(&json!({})).await["state"], "linked");
    world.driver.session(world.channel, 2).await.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
}

#[tokio::test]
async fn each_end_has_a_code_of_its_own() {
    let world = World::new().await;
    let sentence = || "signature-mismatch".to_owned();
    let until = Timestamp::now().plus(Duration::from_secs(3600));
    world.after(1, End::AccountLocked, "unlinked", "account_locked").await;
    world.after(2, End::PasskeyTimedOut, "unlinked", "passkey_timed_out").await;
    let refused = End::BusinessRefused { sentence: sentence() };
    world.after(3, refused, "unlinked", "business_pairing_refused").await;
    world.after(4, End::PairingFailed { sentence: sentence() }, "unlinked", "pairing_failed").await;
    world.after(5, End::ClientOutdated, "linked", "client_outdated").await;
    assert_eq!(world.unlink().await, 204);
    let ban = Ban { until, code: 101, sentence: "too many messages".to_owned() };
    let shown = world.after(6, End::Banned(ban), "linked", "banned").await;
    assert!(shown["status_reason"]["sentence"].as_str().unwrap().contains(&until.to_string()), "{shown}");
    assert_eq!(shown["status_reason"]["provider_code"], 101);
}

#[tokio::test]
async fn an_unreachable_network_and_a_restricted_account_are_reported() {
    let world = World::new().await;
    let session = world.link(1).await;
    let unreachable = |attempts| Event::Unreachable { attempts, sentence: "refused".to_owned() };
    session.tell(unreachable(1)).await;
    world.becomes("linked", "connecting", None).await;
    session.tell(unreachable(2)).await;
    session.tell(unreachable(3)).await;
    world.becomes("linked", "disconnected", Some("unreachable")).await;
    session.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
    let state = AckState::Refused { code: Some(RESTRICTED) };
    let id = MessageId::parse("3EB0").unwrap();
    session.tell(Event::Ack(Ack { id, state, at: Timestamp::now(), from: None })).await;
    world.becomes("linked", "connected", Some("restricted")).await;
}

#[tokio::test]
async fn an_unexpected_code_of_a_linked_session_is_shown_to_nobody_and_deletes_no_keys() {
    let mut world = World::new().await;
    let session = world.link(1).await;
    assert_eq!(world.begin(&json!({})).await["state"], "linked");
    session.tell(qr("2@stranger")).await;
    let shown = world.becomes("linked", "disconnected", Some("link_lost")).await;
    assert!(shown["qr"].is_null() && world.keys().await, "{shown}");
    assert!(world.linked_at().await.is_some());
    assert_eq!(*session.asked.lock().unwrap(), ["stop"]);

    // It stays closed until a person pairs it again.
    let driver = ScriptedDriver::default();
    world.service.restart_with_driver(driver.clone()).await;
    world.driver = driver;
    world.becomes("linked", "disconnected", Some("link_lost")).await;
    assert_eq!(world.driver.opened(), 0);
    world.begin(&json!({})).await;
    let session = world.driver.session(world.channel, 1).await;
    session.tell(qr("2@wanted")).await;
    until("the code", async || world.show().await["qr"]["payload"] == "2@wanted").await;
    session.tell(paired()).await;
    session.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
}

#[tokio::test]
async fn a_pairing_that_the_end_of_its_process_cut_short_leaves_nothing_behind() {
    let mut world = World::new().await;
    world.begin(&json!({})).await;
    world.driver.session(world.channel, 1).await;
    // The process crashes: the keys of a device that no phone has accepted remain.
    world.service.stop().await;
    let records = entity::web_session_record::ActiveModel {
        channel_id: Set(world.channel),
        namespace: Set("device".to_owned()),
        key: Set("own".to_owned()),
        value: Set(b"sealed".to_vec()),
        mark: Set(0),
    };
    let database = Database::connect(&world.service.universe.url).await.unwrap();
    entity::web_session_record::Entity::insert(records).exec(&database).await.unwrap();
    database.close().await.unwrap();
    let driver = ScriptedDriver::default();
    world.service.restart_with_driver(driver.clone()).await;
    driver.session(world.channel, 1).await.tell(qr("2@stranger")).await;
    until("the keys to be gone", async || !world.keys().await).await;
    let shown = world.becomes("unlinked", "pairing", None).await;
    assert!(shown["qr"].is_null(), "{shown}");
}

#[tokio::test]
async fn a_new_process_opens_linked_sessions_and_leaves_those_that_need_a_person_closed() {
    let mut world = World::new().await;
    world.link(1).await;
    let first = world.channel;
    let company = world.service.company("globex").await;
    let second = world.service.channel(&company, Kind::WebSession, "other", Status::Pairing).await.id;
    (world.channel, world.company) = (second, company);
    world.after(2, End::Replaced, "linked", "replaced").await;
    let driver = ScriptedDriver::default();
    world.service.restart_with_driver(driver.clone()).await;
    driver.session(first, 1).await.tell(Event::Connected).await;
    until("the first one's connection", async || {
        let channel = world.service.store().channels().find(first).await.unwrap().unwrap();
        channel.connection.status == Status::Connected
    })
    .await;
    assert_eq!(world.show().await["status_reason"]["code"], "replaced");
    assert_eq!(driver.opened(), 1);
}

#[tokio::test]
async fn a_session_whose_supervisor_panicked_is_opened_again() {
    let mut world = World::new().await;
    world.link(1).await;
    let driver = ScriptedDriver::default();
    driver.panic_once();
    world.service.restart_with_driver(driver.clone()).await;
    let session = driver.session(world.channel, 1).await;
    session.tell(Event::Connected).await;
    world.becomes("linked", "connected", None).await;
}

impl World {
    /// The program beside the service, on the same database.
    fn place(&self) -> Place {
        Place::new().with("POMBO__DATABASE__URL", &self.service.universe.url)
    }

    fn command(&self, what: &str) -> String {
        format!("channel {what} {} --url {}", self.channel, self.service.url())
    }
}

#[tokio::test]
async fn the_command_line_shows_codes_until_the_channel_is_connected() {
    let world = World::new().await;
    let (place, line) = (world.place(), world.command("pair"));
    let run = tokio::task::spawn_blocking(move || place.run(&line));
    let session = world.driver.session(world.channel, 1).await;
    session.keep_a_key().await;
    session.tell(qr("2@one")).await;
    session.tell(paired()).await;
    session.tell(Event::Connected).await;
    let run = run.await.unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.ends_with("channel phone is connected as +5511988887777\n"), "{run:?}");
    let (place, line) = (world.place(), world.command("unlink"));
    let run = tokio::task::spawn_blocking(move || place.run(&line)).await.unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!world.keys().await);
}

#[tokio::test]
async fn the_command_line_says_why_no_phone_was_linked() {
    let world = World::new().await;
    let (place, line) = (world.place(), world.command("pair --phone +5511988887777"));
    let run = tokio::task::spawn_blocking(move || place.run(&line));
    let session = world.driver.session(world.channel, 1).await;
    session.tell(qr("2@one")).await;
    // A session that ends before the code is asked for is opened again for it.
    until("the request for a code", async || !session.asked.lock().unwrap().is_empty()).await;
    session.tell(Event::Ended(End::QrExhausted)).await;
    let run = run.await.unwrap();
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stderr.contains("no phone was linked: nobody used a code in time"), "{run:?}");
}
