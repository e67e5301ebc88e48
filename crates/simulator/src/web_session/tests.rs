//! The driver as its caller uses it, and the phone as people use it.

mod linking;
mod mail;
mod passkey;
mod records;
mod sending;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use self::records::Memory;
use super::*;
use crate::{Options, Seed, Simulator};
use driver::{Ack, AckState, Content, End, Event, Jid, MessageId};

/// How long a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(20);
const OWN: &str = "+999700000001";

/// A simulator and its driver.
struct Stage {
    simulator: Simulator,
    driver: FakeWhatsApp,
}

/// A session with its events.
struct Watched {
    session: Arc<dyn Session>,
    told: mpsc::Receiver<Event>,
}

impl Stage {
    async fn set() -> Self {
        Self::with(WebSessionOptions::default()).await
    }

    async fn with(web_sessions: WebSessionOptions) -> Self {
        let options = Options { web_sessions, ..Options::default() };
        let simulator = crate::start(options, Seed::default()).await.unwrap();
        let driver = simulator.web_sessions();
        Self { simulator, driver }
    }

    async fn open(&self, records: &Arc<Memory>) -> Watched {
        self.open_with_room(records, 64).await
    }

    /// Opens a session with a receiver whose queue holds this many events.
    async fn open_with_room(&self, records: &Arc<Memory>, room: usize) -> Watched {
        let (events, told) = mpsc::channel(room);
        let inbox = Arc::new(driver::NoInbox);
        let opening = opening(Uuid::now_v7(), records, events, inbox);
        Watched { session: self.driver.open(opening).await.unwrap(), told }
    }

    /// A session that the phone was linked to and that is connected, and its records.
    async fn linked(&self) -> (Watched, Arc<Memory>) {
        let records = Arc::new(Memory::default());
        let mut session = self.open(&records).await;
        let code = session.qr().await;
        assert!(self.driver.scan(&code, None).await);
        assert!(matches!(session.next().await, Event::Paired { .. }));
        assert_eq!(session.next().await, Event::Connected);
        (session, records)
    }

    async fn scan(&self, body: &Value) -> (u16, Value) {
        let url = format!("{}/phone/scan", self.simulator.base_url());
        let answer = client().post(url).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// The passkey's answer to a challenge.
    async fn sign(&self, challenge: &Value) -> (u16, Value) {
        let url = format!("{}/phone/passkey", self.simulator.base_url());
        let answer = client().post(url).json(&json!({ "challenge": challenge })).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn messages(&self, query: &str) -> Value {
        let url = format!("{}/phone/messages{query}", self.simulator.base_url());
        client().get(url).send().await.unwrap().json().await.unwrap()
    }
}

impl Watched {
    /// The next event.
    async fn next(&mut self) -> Event {
        tokio::time::timeout(PATIENCE, self.told.recv()).await.expect("nothing was told").expect("the end")
    }

    /// All remaining events, to the end.
    async fn rest(&mut self) -> Vec<Event> {
        let mut rest = Vec::new();
        while let Some(event) = tokio::time::timeout(PATIENCE, self.told.recv()).await.expect("no end") {
            rest.push(event);
        }
        rest
    }

    /// The next event, which is a QR code.
    async fn qr(&mut self) -> String {
        match self.next().await {
            Event::Qr { payload, .. } => payload.expose().to_owned(),
            other => panic!("no code, but {other:?}"),
        }
    }

    /// The next event, which is of a message.
    async fn ack(&mut self) -> Ack {
        match self.next().await {
            Event::Ack(ack) => ack,
            other => panic!("no ack, but {other:?}"),
        }
    }
}

fn opening(
    session: Uuid,
    records: &Arc<Memory>,
    events: mpsc::Sender<Event>,
    inbox: Arc<dyn driver::Inbox>,
) -> Opening {
    let records = Arc::clone(records) as Arc<dyn driver::Records>;
    Opening { session, records, events, inbox, device_name: "Pombo".to_owned() }
}

fn client() -> reqwest::Client {
    // Another test may have installed it first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

fn number(text: &str) -> PhoneNumber {
    PhoneNumber::parse(text).unwrap()
}
