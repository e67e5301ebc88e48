//! Web sessions without WhatsApp: a [`Driver`] whose sessions are linked to a phone that the simulator plays.
//!
//! A program cannot connect to a server of one's own in place of WhatsApp, because the certificates are
//! pinned. So this replaces the driver and not the server; everything above the driver is real. The phone
//! scans codes (`POST /phone/scan`, or people at `GET /phone`) and uses the passkey of its account (`POST
//! /phone/passkey`); `GET /phone/messages` shows what its devices sent. The recipient's last digits decide
//! the outcome of a message:
//!
//! | recipient | last digits | outcome of a message |
//! |---|---|---|
//! | person | `0000` | is not on WhatsApp: silently accepted, and never delivered |
//! | person | `0463` | refused afterwards with 463, as messages from a restricted account to strangers are |
//! | person | `0479` | refused afterwards with 479 |
//! | group | `0000` | there is no such group: it cannot be handed over |
//! | anybody else | | delivered and read; voice messages and videos are played |
//!
//! A session stores in its records that it was linked, and connects without a code from then on. Outcomes
//! that were not reported when their session ended are not reported later.

mod acks;
mod codes;
mod device;
mod gates;
mod http;
mod inbox;
mod memory;
mod message;
mod options;
mod page;
mod pairing;
mod passkey;
mod people;
mod session;
mod telling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use self::codes::Codes;
use self::device::{Command, Device, Scan, Scanned};
use self::gates::Gates;
pub(super) use self::http::{messages, scan, sign};
use self::inbox::Inbox;
pub use self::inbox::{WebFile, WebMessage, WebState};
pub use self::options::WebSessionOptions;
pub(super) use self::page::{press, show};
use self::passkey::Passkey;
use self::session::Linked;
use super::signs::{ShownSign, Signs};
use domain::phone::PhoneNumber;
use driver::{Driver, Figures, OpenError, Opening, Session};

/// The maximum number of commands that wait for a device.
const COMMANDS: usize = 64;

/// The simulated driver. Its sessions live on the simulator's thread and end with it. Clones share everything.
#[derive(Debug, Clone)]
pub struct FakeWhatsApp {
    shared: Arc<Shared>,
    thread: Handle,
    /// The address of the phone's page for people.
    page: String,
}

/// What all devices and the phone share.
#[derive(Debug)]
pub(super) struct Shared {
    options: WebSessionOptions,
    codes: Codes,
    inbox: Inbox,
    signs: Signs,
    passkey: Passkey,
    gates: Gates,
}

impl Shared {
    pub(super) fn new(options: WebSessionOptions) -> Self {
        let inbox = Inbox::new(options.messages);
        Self {
            options,
            codes: Codes::default(),
            inbox,
            signs: Signs::default(),
            passkey: Passkey::new(),
            gates: Gates::default(),
        }
    }

    /// Removes all sent messages and shown signs.
    pub(super) fn forget_messages(&self) {
        self.inbox.clear();
        self.signs.clear();
    }

    /// Links the phone to the device that shows this code; `None` when there is none.
    async fn scan(&self, scan: Scan) -> Option<Scanned> {
        let device = self.codes.device(&scan.code)?.upgrade()?;
        let (answer, answered) = oneshot::channel();
        device.send(Command::Scan(scan, answer)).await.ok()?;
        // Waiting must not keep a device alive that all others have dropped.
        drop(device);
        answered.await.ok().flatten()
    }
}

impl FakeWhatsApp {
    /// A driver whose devices live on this thread.
    pub(super) fn new(shared: Arc<Shared>, thread: Handle, page: String) -> Self {
        Self { shared, thread, page }
    }

    /// Lets the phone with this number, or the simulator's own, scan a QR code or use a typed code. Returns
    /// whether a device shows it.
    pub async fn scan(&self, code: &str, number: Option<PhoneNumber>) -> bool {
        let scan = Scan { code: code.to_owned(), number, has_passkey: false };
        self.shared.scan(scan).await.is_some()
    }

    /// The newest messages that were sent through web sessions, at most `limit`, the newest last.
    pub fn messages(&self, limit: usize) -> Vec<WebMessage> {
        self.shared.inbox.newest(None, limit)
    }

    /// What people saw of web sessions besides messages, the newest last.
    pub fn signs(&self) -> Vec<ShownSign> {
        self.shared.signs.all()
    }
}

#[async_trait]
impl Driver for FakeWhatsApp {
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, OpenError> {
        let account = memory::read(&*opening.records).await?;
        let (commands, heard) = mpsc::channel(COMMANDS);
        let (show, figures) = watch::channel(Figures::default());
        let device = Device::new(Arc::clone(&self.shared), opening, account, commands.downgrade(), show);
        self.thread.spawn(device.run(heard));
        Ok(Arc::new(Linked::new(commands, figures)))
    }

    fn played_phone(&self) -> Option<&str> {
        Some(&self.page)
    }
}
