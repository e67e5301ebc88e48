//! A WhatsApp of a test's own, on loopback: real handshakes, real pairing, real encryption, and people who
//! read messages.
//!
//! ```ignore
//! let whatsapp = FakeWhatsApp::start();
//! let (phone, maria) = (whatsapp.phone("5511900000001"), whatsapp.contact("5511988887777"));
//! // A client connects to `whatsapp.url()` and shows a QR code.
//! phone.scan(&code);
//! phone.expect_online().await;
//! // It sends a message.
//! let message = whatsapp.expect_message(&id).await;
//! assert_eq!(message.text(), Some("oi"));
//! maria.reads(&message);
//! ```
//!
//! Nothing here sleeps: a waiting test is woken by each change, and waits for some seconds at most. A stanza
//! that the server does not understand ends the test.

mod companion;
mod connection;
mod delivery;
mod handshake;
mod media;
mod message;
mod pairing;
mod passkey;
mod phone;
mod query;
mod refusal;
mod server;
mod signal;
mod stanza;
#[cfg(test)]
mod tests;
mod world;

use std::net::TcpListener;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

pub(crate) use self::delivery::write_hidden;
pub(crate) use self::media::{OpenedFile, StoredFile};
pub(crate) use self::message::SentMessage;
pub(crate) use self::phone::{Contact, Phone};
pub(crate) use self::refusal::Refusal;

use self::media::Files;
use self::server::Server;
use self::world::{Account, Person};

/// A WhatsApp of one test's own; ends with it.
pub(crate) struct FakeWhatsApp {
    server: Arc<Server>,
    files: Files,
    url: String,
    /// A runtime apart from the test's own, so that the server answers while the test is busy.
    runtime: Option<Runtime>,
}

impl FakeWhatsApp {
    /// Listens on free ports of loopback.
    pub(crate) fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let files = Files::start();
        let server = Arc::new(Server::new(files.host.clone(), runtime.handle().clone()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/ws/chat", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let listening = Arc::clone(&server);
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            connection::listen(listening, listener).await;
        });
        Self { server, files, url, runtime: Some(runtime) }
    }

    /// Where clients connect, `ws://127.0.0.1:PORT/ws/chat`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where files and the page with the version are, `127.0.0.1:PORT`, without TLS.
    pub(crate) fn media_host(&self) -> &str {
        &self.files.host
    }

    /// The phone with this number, given as digits.
    pub(crate) fn phone(&self, number: &str) -> Phone {
        self.server.change(|world| {
            world.accounts.entry(number.to_owned()).or_insert_with(|| Account::new(number));
        });
        Phone { server: Arc::clone(&self.server), number: number.to_owned() }
    }

    /// A person with this number, given as digits.
    pub(crate) fn contact(&self, number: &str) -> Contact {
        self.server.change(|world| {
            if world.find(number).is_none() {
                world.people.push(Person::new(number));
            }
        });
        Contact { server: Arc::clone(&self.server), number: number.to_owned() }
    }

    /// A group with these members, and with every account that writes to it.
    pub(crate) fn group(&self, id: &str, members: &[&Contact]) {
        let members = members.iter().map(|member| member.number.clone()).collect();
        self.server.change(|world| world.groups.insert(id.to_owned(), members));
    }

    /// Waits for the message with this id.
    pub(crate) async fn expect_message(&self, id: &str) -> SentMessage {
        let find = |message: &&SentMessage| message.id == id;
        let wanted = format!("message {id}");
        self.server.wait_for(&wanted, |world| world.sent.iter().find(find).cloned()).await
    }

    /// All messages so far, in the order in which they came.
    pub(crate) fn messages(&self) -> Vec<SentMessage> {
        self.server.look(|world| world.sent.clone())
    }

    /// The number of lookups of this number.
    pub(crate) fn lookups_of(&self, number: &str) -> usize {
        self.server.look(|world| world.looked_up.iter().filter(|asked| *asked == number).count())
    }

    /// The file of a message, opened with the message's own key.
    ///
    /// # Panics
    ///
    /// If there is none, or if it differs from the message's description.
    pub(crate) fn file_of(&self, message: &SentMessage) -> OpenedFile {
        self.files.open(message)
    }

    /// An image that somebody has uploaded.
    pub(crate) fn keeps_image(&self, bytes: &[u8]) -> StoredFile {
        self.files.keep_image(bytes)
    }

    /// Uploads are refused with this HTTP status from now on, or accepted again.
    pub(crate) fn refuse_uploads(&self, status: impl Into<Option<u16>>) {
        self.files.refuse_uploads(status);
    }

    /// Uploads get no answer from now on.
    pub(crate) fn hold_uploads(&self) {
        self.files.hold_uploads(true);
    }

    /// Uploads are answered again.
    pub(crate) fn answer_uploads(&self) {
        self.files.hold_uploads(false);
    }

    /// Waits until an upload has begun.
    pub(crate) async fn expect_upload(&self) {
        self.files.expect_upload().await;
    }

    /// Devices that connect are refused from now on, or accepted again.
    pub(crate) fn refuse_everyone(&self, refusal: impl Into<Option<Refusal>>) {
        self.server.change(|world| world.refusal = refusal.into());
    }

    /// Answers requests for a pairing code with this error code and text.
    pub(crate) fn refuse_pairing_codes(&self, code: u16, word: &'static str) {
        self.server.change(|world| world.code_refusal = Some((code, word)));
    }

    /// Devices that show a QR code are told to show another one.
    pub(crate) fn refresh_codes(&self) {
        self.server.look(pairing::refresh_codes);
    }

    /// Sends nothing to any client from now on, not even to a new one.
    pub(crate) fn falls_silent(&self) {
        self.server.change(|world| world.is_silent = true);
    }

    /// Answers new connections again; on older connections, the missed frames stay missing.
    pub(crate) fn speaks_again(&self) {
        self.server.change(|world| world.is_silent = false);
    }

    /// Waits until a client is connected.
    pub(crate) async fn expect_connection(&self) {
        let look = |world: &world::World| (!world.lines.is_empty()).then_some(());
        self.server.wait_for("a connection", look).await;
    }

    /// Waits until no client is connected.
    pub(crate) async fn expect_no_connection(&self) {
        let look = |world: &world::World| world.lines.is_empty().then_some(());
        self.server.wait_for("all connections to end", look).await;
    }
}

impl Drop for FakeWhatsApp {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        let faults = self.server.change(|world| std::mem::take(&mut world.faults));
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "WhatsApp did not understand: {faults:?}");
        }
    }
}
