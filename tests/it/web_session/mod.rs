//! The driver of web sessions, with a WhatsApp of the test's own.

mod acks;
mod asking;
mod connection;
mod hearing;
mod media;
mod memory;
mod pairing;
mod passkey;
mod refused;
mod sending;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use pombo::connector::web_session::{
    Ack, AckState, Content, Driver as _, End, Event, Jid, MessageId, NoInbox, Opening, Records, SendError,
    Sent, Session,
};
use pombo::domain::phone::PhoneNumber;
use tokio::sync::mpsc;
use uuid::Uuid;
use web_session::{Options, WhatsApp};

use self::memory::Memory;
use crate::fake_whatsapp::{FakeWhatsApp, Phone};

/// How long a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of the account that most tests link to.
const OWN: &str = "5511900000001";
const MARIA: &str = "5511988887777";
const JOAO: &str = "5521977776666";

/// A WhatsApp, and a driver that connects to it.
struct Stage {
    whatsapp: FakeWhatsApp,
    driver: WhatsApp,
}

impl Stage {
    fn set() -> Self {
        // A second test finds it installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let whatsapp = FakeWhatsApp::start();
        let driver = WhatsApp::start(Options {
            address: whatsapp.url().to_owned(),
            http_base: Some(format!("http://{}", whatsapp.media_host()).parse().unwrap()),
            prekeys: 16,
            ..Options::default()
        });
        Self { driver: driver.unwrap(), whatsapp }
    }

    /// Opens a session on these records.
    async fn open(&self, records: &Arc<Memory>) -> Watched {
        open(&self.driver, Arc::clone(records) as Arc<dyn Records>).await
    }

    /// A session that is linked to the phone and connected, and its records.
    async fn linked(&self, phone: &Phone) -> (Watched, Arc<Memory>) {
        let records = Arc::new(Memory::default());
        let mut session = self.open(&records).await;
        phone.scan(&session.expect_qr().await);
        session.expect_connected().await;
        (session, records)
    }
}

async fn open(driver: &WhatsApp, records: Arc<dyn Records>) -> Watched {
    let (events, told) = mpsc::channel(64);
    let (inbox, device_name) = (Arc::new(NoInbox), String::from("Pombo"));
    let opening = Opening { session: Uuid::now_v7(), records, events, inbox, device_name };
    Watched { session: driver.open(opening).await.unwrap(), told, seen: Vec::new() }
}

/// A session with its events.
struct Watched {
    session: Arc<dyn Session>,
    told: mpsc::Receiver<Event>,
    seen: Vec<Event>,
}

impl Watched {
    /// Waits for an event, and skips others.
    ///
    /// # Panics
    ///
    /// If it does not come in time, or the session has ended; the message lists the events that came instead.
    async fn expect<T>(&mut self, what: &str, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let waiting = async {
            while let Some(event) = self.told.recv().await {
                let picked = pick(&event);
                self.seen.push(event);
                if picked.is_some() {
                    return picked;
                }
            }
            None
        };
        let picked = tokio::time::timeout(PATIENCE, waiting).await.ok().flatten();
        picked.unwrap_or_else(|| panic!("no {what}, but {:?}", self.seen))
    }

    /// The text of the next QR code.
    async fn expect_qr(&mut self) -> String {
        let pick = |event: &Event| match event {
            Event::Qr { payload, .. } => Some(payload.expose().to_owned()),
            _ => None,
        };
        self.expect("QR code", pick).await
    }

    async fn expect_connected(&mut self) {
        self.expect("connection", |event| matches!(event, Event::Connected).then_some(())).await;
    }

    async fn expect_disconnected(&mut self) {
        let pick = |event: &Event| matches!(event, Event::Disconnected { .. }).then_some(());
        self.expect("loss of the connection", pick).await;
    }

    /// The reason why the session is over.
    async fn expect_end(&mut self) -> End {
        let pick = |event: &Event| match event {
            Event::Ended(end) => Some(end.clone()),
            _ => None,
        };
        self.expect("end", pick).await
    }

    /// The next state of a message.
    async fn expect_ack(&mut self, id: &MessageId) -> Ack {
        let pick = |event: &Event| match event {
            Event::Ack(ack) if ack.id == *id => Some(ack.clone()),
            _ => None,
        };
        self.expect("ack", pick).await
    }

    async fn expect_state(&mut self, id: &MessageId, state: AckState) {
        let pick = |event: &Event| matches!(event, Event::Ack(ack) if ack.id == *id && ack.state == state);
        self.expect(&format!("{state:?} of {id}"), |event| pick(event).then_some(())).await;
    }

    /// Sends a text under a new id.
    async fn try_text(&self, to: &Jid, text: &str) -> Result<Sent, SendError> {
        self.session.send(to, &MessageId::generate(), Content::Text(text.to_owned())).await
    }

    async fn text(&self, to: &Jid, text: &str) -> Sent {
        self.try_text(to, text).await.unwrap()
    }

    /// Whether a code was shown since the session began.
    fn has_shown_qr(&self) -> bool {
        self.seen.iter().any(|event| matches!(event, Event::Qr { .. }))
    }
}

fn number(digits: &str) -> PhoneNumber {
    PhoneNumber::parse(&format!("+{digits}")).unwrap()
}

fn person(digits: &str) -> Jid {
    Jid::person(number(digits))
}
