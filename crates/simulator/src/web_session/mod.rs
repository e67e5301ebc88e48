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
//! People write to sessions: as `POST /_sim/write` says, and in answer to a share of the messages. What they write is handed
//! over in its order, and kept until the session has taken it, over any number of connections.
//!
//! A session stores in its records that it was linked, and connects without a code from then on. Outcomes
//! that were not reported when their session ended are not reported later.

mod acks;
mod answers;
mod codes;
mod device;
mod files;
mod gates;
mod http;
mod inbox;
mod mail;
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
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use self::codes::Codes;
use self::device::{Command, Device, Scan, Scanned};
use self::files::Files;
use self::gates::Gates;
pub(super) use self::http::{messages, scan, sign};
use self::inbox::Inbox;
pub use self::inbox::{WebFile, WebMessage, WebState};
use self::mail::Mailboxes;
pub use self::options::WebSessionOptions;
pub(super) use self::page::{press, show};
use self::passkey::Passkey;
pub(super) use self::people::hidden;
use self::session::Linked;
use super::diary::{ConversationLine, Diary};
use super::signs::{ShownSign, Signs};
use super::written::{self, PersonMessage, StoredFile};
use clock::Timestamp;
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
    /// What people wrote, until the sessions have it.
    mail: Mailboxes,
    files: Files,
    diary: Arc<Diary>,
}

impl Shared {
    pub(super) fn new(options: WebSessionOptions, diary: Arc<Diary>) -> Self {
        Self {
            inbox: Inbox::new(options.messages),
            options,
            codes: Codes::default(),
            signs: Signs::default(),
            passkey: Passkey::new(),
            gates: Gates::default(),
            mail: Mailboxes::default(),
            files: Files::default(),
            diary,
        }
    }

    /// Removes all messages that were sent, those that sessions have not taken yet, and all shown signs.
    pub(super) fn forget_messages(&self) {
        self.inbox.clear();
        self.mail.clear();
        self.files.clear();
        self.signs.clear();
    }

    /// Whether a session of this channel was opened.
    pub(super) fn has(&self, session: Uuid) -> bool {
        self.mail.of(session).is_some()
    }

    /// A person writes to a session, or its account to the person on the phone; it reaches the session this much later,
    /// this often. Returns the id of the message.
    pub(super) fn write(
        &self,
        session: Uuid,
        message: &PersonMessage,
        copies: usize,
        after: Duration,
    ) -> Result<String, String> {
        let mailbox =
            self.mail.of(session).ok_or_else(|| format!("no web session {session} was opened here"))?;
        let id = format!("3A{}", hex::encode_upper(rand::random::<[u8; 9]>()));
        let file = message.content.stored_file();
        let read = written::message(message, &id, Timestamp::now(), file.as_ref())?;
        if let Some(file) = file
            && message.content.file().is_none_or(|file| !file.gone)
        {
            self.files.add(written::direct_path(&id), file);
        }
        self.diary.note(&session.to_string(), message, &id);
        let put = move || (0..copies).all(|_| mailbox.put(read.clone()));
        if after.is_zero() {
            return if put() { Ok(id) } else { Err("too many messages wait for this session".to_owned()) };
        }
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            put();
        });
        Ok(id)
    }

    /// The file under the path that a message names.
    pub(super) fn file(&self, path: &str) -> Option<StoredFile> {
        self.files.find(path)
    }

    /// The newest messages of a session to a person, at most `limit`.
    pub(super) fn sent(&self, session: Uuid, person: &str, limit: usize) -> Vec<ConversationLine> {
        let all = self.inbox.of_session(session, person, limit).into_iter();
        let line = |message: WebMessage| ConversationLine {
            at: message.at,
            by: "channel",
            text: message.words(),
            kind: message.kind.to_owned(),
            about: message.reaction.as_ref().map(|reaction| reaction.message.to_string()),
            state: Some(message.state.as_str()),
            id: message.id,
        };
        all.map(line).collect()
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
        Ok(Arc::new(Linked::new(Arc::clone(&self.shared), commands, figures)))
    }

    fn played_phone(&self) -> Option<&str> {
        Some(&self.page)
    }
}
