//! A driver of web sessions that a test controls, and that records its requests.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pombo::connector::web_session::{
    AskError, Assertion, Built, Change, Content, Driver, End, Event, Figures, Found, Inbox, Jid, MessageId,
    OpenError, Opening, PairingFailure, PasskeyRefused, Picture, Prepared, Quoted, Record, Records,
    SendError, Session,
};
use pombo::domain::phone::PhoneNumber;
use pombo::domain::secret::Secret;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// Clones share their state.
#[derive(Clone, Default)]
pub(crate) struct ScriptedDriver(Arc<Known>);

#[derive(Default)]
struct Known {
    sessions: Mutex<HashMap<Uuid, Scripted>>,
    /// How many sessions were opened so far, over all channels.
    opened: watch::Sender<usize>,
    /// Whether the next session panics when it is opened.
    panics: AtomicBool,
    /// What each session says while it is opened.
    first_words: Mutex<Vec<Event>>,
}

/// The test's handle to a session.
#[derive(Clone)]
pub(crate) struct Scripted {
    events: mpsc::Sender<Event>,
    pub(crate) records: Arc<dyn Records>,
    /// Takes in what people write.
    pub(crate) inbox: Arc<dyn Inbox>,
    /// The requests to the session, in their order.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// The pairing code that it gives.
    pub(crate) code: Arc<Mutex<Result<Secret, PairingFailure>>>,
    /// Its replies to answers at the passkey gate.
    pub(crate) passkey: Arc<Mutex<Result<(), PasskeyRefused>>>,
    /// Its events while it ends.
    pub(crate) last_words: Arc<Mutex<Vec<Event>>>,
    /// Logs the session in: every number is on WhatsApp, and messages are accepted.
    pub(crate) is_online: Arc<AtomicBool>,
}

impl ScriptedDriver {
    /// The session of a channel that was opened last, once `opened` were opened in all.
    pub(crate) async fn session(&self, channel: Uuid, opened: usize) -> Scripted {
        let mut count = self.0.opened.subscribe();
        let waited =
            tokio::time::timeout(std::time::Duration::from_secs(30), count.wait_for(|n| *n >= opened));
        waited.await.expect("no session was opened").unwrap();
        self.0.sessions.lock().unwrap()[&channel].clone()
    }

    /// Panics when a session is opened the next time.
    pub(crate) fn panic_once(&self) {
        self.0.panics.store(true, Ordering::SeqCst);
    }

    /// Has each session say this while it is opened.
    pub(crate) fn begin_with(&self, words: Vec<Event>) {
        *self.0.first_words.lock().unwrap() = words;
    }

    /// How many sessions were opened so far.
    pub(crate) fn opened(&self) -> usize {
        *self.0.opened.borrow()
    }
}

impl Scripted {
    /// Sends an event of the session.
    pub(crate) async fn tell(&self, event: Event) {
        let told = self.events.send(event).await;
        assert!(told.is_ok(), "the session is over, after {:?}", self.asked.lock().unwrap());
    }

    /// Writes a key, as a session does before it shows its first code.
    pub(crate) async fn keep_a_key(&self) {
        let record = Record { key: "own".to_owned(), value: b"secret".to_vec(), mark: 0 };
        let put = Change::Put { namespace: "device".to_owned(), record };
        self.records.apply(vec![put]).await.unwrap();
    }

    fn is_online(&self) -> bool {
        self.is_online.load(Ordering::Relaxed)
    }

    fn note(&self, what: impl Into<String>) {
        self.asked.lock().unwrap().push(what.into());
    }
}

#[async_trait]
impl Driver for ScriptedDriver {
    async fn open(&self, opening: Opening) -> Result<Arc<dyn Session>, OpenError> {
        assert!(!self.0.panics.swap(false, Ordering::SeqCst), "a test wants a panic");
        let code = Ok(Secret::new("K7XQ2M9P".to_owned()));
        let session = Scripted {
            events: opening.events,
            records: opening.records,
            inbox: opening.inbox,
            asked: Arc::default(),
            code: Arc::new(Mutex::new(code)),
            passkey: Arc::new(Mutex::new(Ok(()))),
            last_words: Arc::default(),
            is_online: Arc::default(),
        };
        for event in self.0.first_words.lock().unwrap().clone() {
            session.events.try_send(event).unwrap();
        }
        self.0.sessions.lock().unwrap().insert(opening.session, session.clone());
        self.0.opened.send_modify(|count| *count += 1);
        Ok(Arc::new(session))
    }
}

#[async_trait]
impl Session for Scripted {
    async fn find(&self, number: PhoneNumber) -> Result<Option<Found>, AskError> {
        if !self.is_online() {
            return Err(AskError::NotConnected);
        }
        Ok(Some(Found { jid: Jid::person(number), lid: None, is_business: false }))
    }

    async fn picture(&self, _: &Jid) -> Result<Option<Picture>, AskError> {
        Err(AskError::NotConnected)
    }

    async fn mark_read(&self, chat: &Jid, _: Option<&Jid>, messages: &[MessageId]) -> Result<(), AskError> {
        if !self.is_online() {
            return Err(AskError::NotConnected);
        }
        let ids: Vec<_> = messages.iter().map(MessageId::as_str).collect();
        self.note(format!("read {} in {chat}", ids.join(",")));
        Ok(())
    }

    async fn show_typing(&self, chat: &Jid, is_typing: bool) -> Result<(), AskError> {
        if !self.is_online() {
            return Err(AskError::NotConnected);
        }
        self.note(format!("typing {is_typing} in {chat}"));
        Ok(())
    }

    async fn prepare(
        &self,
        _: &MessageId,
        _: Content,
        quoted: Option<Quoted>,
    ) -> Result<Prepared, SendError> {
        if !self.is_online() {
            return Err(SendError::NotConnected);
        }
        if let Some(Quoted { message, author, line }) = quoted {
            let author = author.map_or_else(|| "us".to_owned(), |author| author.to_string());
            self.note(format!("quote {message} of {author}: {line}"));
        }
        Ok(Prepared::new(Built::Text, ()))
    }

    async fn hand_over(&self, _: &Jid, id: &MessageId, _: Prepared) -> Result<(), SendError> {
        if !self.is_online() {
            return Err(SendError::NotConnected);
        }
        self.note(format!("send {id}"));
        Ok(())
    }

    async fn pairing_code(&self, number: PhoneNumber) -> Result<Secret, PairingFailure> {
        self.note(format!("code for {number}"));
        self.code.lock().unwrap().clone()
    }

    async fn answer_passkey(&self, assertion: Assertion) -> Result<(), PasskeyRefused> {
        self.note(format!("assertion by {}", String::from_utf8_lossy(assertion.credential_id())));
        self.passkey.lock().unwrap().clone()
    }

    async fn confirm_passkey(&self) -> Result<(), PasskeyRefused> {
        self.note("confirmation");
        self.passkey.lock().unwrap().clone()
    }

    async fn unlink(&self) {
        self.note("unlink");
        let _ = self.events.try_send(Event::Ended(End::Unlinked));
    }

    async fn stop(&self) {
        self.note("stop");
        let last_words = std::mem::take(&mut *self.last_words.lock().unwrap());
        for event in last_words {
            let _ = self.events.send(event).await;
        }
        let _ = self.events.try_send(Event::Ended(End::Stopped));
    }

    fn figures(&self) -> Figures {
        let is_online = self.is_online();
        Figures { is_connected: is_online, is_logged_in: is_online, ..Figures::default() }
    }
}
