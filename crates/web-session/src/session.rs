//! One session. Its operations run on the driver's threads, and continue when their caller is gone.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use whatsapp_rust::bot::BotHandle;
use whatsapp_rust::download::DownloadParams;
use whatsapp_rust::pair_code::PairCodeOptions;
use whatsapp_rust::wacore_binary::Jid as LibraryJid;
use whatsapp_rust::waproto::whatsapp::Message;
use whatsapp_rust::{Client, SendOptions, UploadOptions, passkey};

use super::telling::Telling;
use super::{Shared, events, failure, http, message};
use domain::inbound::bytes_of_base64;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{
    AskError, Assertion, Built, Content, End, FetchError, Figures, Found, Jid, MessageId, PairingFailure,
    PasskeyRefused, Picture, Prepared, Quoted, SealedFile, SendError, Session,
};

/// How long a pairing code waits for the connection.
const CONNECTION_PATIENCE: Duration = Duration::from_secs(30);
/// How long ending may take: the library has a timeout of five seconds for each of two steps.
const CLOSING_PATIENCE: Duration = Duration::from_secs(20);
/// How long WhatsApp may take to unlink the device.
const UNLINKING_PATIENCE: Duration = Duration::from_secs(15);

/// What sealing adds to a file at most: the rest of a block, and a code.
const SEAL_BYTES: usize = 16 + 10;
/// Answers up to this length are taken in place of any file: such as a page that says why there is none.
const SHORT_ANSWER: usize = 16 * 1024;

pub(super) struct Linked {
    client: Arc<Client>,
    telling: Arc<Telling>,
    is_over: watch::Receiver<bool>,
    /// Keeps the threads running.
    shared: Arc<Shared>,
}

impl Linked {
    /// Supervises a session that was started.
    pub(super) fn new(
        client: Arc<Client>,
        running: BotHandle,
        telling: Arc<Telling>,
        shared: Arc<Shared>,
    ) -> Self {
        let (over, is_over) = watch::channel(false);
        shared.threads().spawn(supervise(Arc::clone(&client), running, Arc::clone(&telling), over));
        Self { client, telling, is_over, shared }
    }

    /// Runs `work` on the driver's threads; `None` when it panicked or the driver is gone.
    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        self.shared.threads().spawn(work).await.ok()
    }

    async fn over(&self) {
        // An error means that the driver is gone.
        let _ = self.is_over.clone().wait_for(|is_over| *is_over).await;
    }

    fn is_over(&self) -> bool {
        *self.is_over.borrow()
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        self.telling.end(End::Stopped);
    }
}

#[async_trait]
impl Session for Linked {
    async fn find(&self, number: PhoneNumber) -> Result<Option<Found>, AskError> {
        let client = Arc::clone(&self.client);
        self.run(async move { find(&client, number).await }).await.unwrap_or_else(|| Err(broke_down()))
    }

    async fn picture(&self, of: &Jid) -> Result<Option<Picture>, AskError> {
        let (client, of) = (Arc::clone(&self.client), of.clone());
        self.run(async move { picture(&client, &of).await }).await.unwrap_or_else(|| Err(broke_down()))
    }

    async fn mark_read(
        &self,
        chat: &Jid,
        writer: Option<&Jid>,
        messages: &[MessageId],
    ) -> Result<(), AskError> {
        let (client, chat, writer) = (Arc::clone(&self.client), chat.clone(), writer.cloned());
        let messages = messages.to_vec();
        let marked = self.run(async move { mark_read(&client, &chat, writer.as_ref(), &messages).await });
        marked.await.unwrap_or_else(|| Err(broke_down()))
    }

    async fn show_typing(&self, chat: &Jid, is_typing: bool) -> Result<(), AskError> {
        let (client, chat) = (Arc::clone(&self.client), chat.clone());
        let shown = self.run(async move { show_typing(&client, &chat, is_typing).await });
        shown.await.unwrap_or_else(|| Err(broke_down()))
    }

    async fn prepare(
        &self,
        _: &MessageId,
        content: Content,
        quoted: Option<Quoted>,
    ) -> Result<Prepared, SendError> {
        let client = Arc::clone(&self.client);
        let prepared = self.run(async move { prepare(&client, content, quoted).await }).await;
        prepared.unwrap_or_else(|| Err(SendError::Unprepared("the session broke down".to_owned())))
    }

    async fn hand_over(&self, to: &Jid, id: &MessageId, prepared: Prepared) -> Result<(), SendError> {
        let (client, to, id) = (Arc::clone(&self.client), to.clone(), id.clone());
        let sent = self.run(async move { hand_over(&client, &to, &id, prepared).await }).await;
        sent.unwrap_or_else(|| Err(SendError::Uncertain("the session broke down".to_owned())))
    }

    async fn fetch(&self, file: SealedFile) -> Result<Vec<u8>, FetchError> {
        let client = Arc::clone(&self.client);
        let fetched = self.run(async move { fetch(&client, file).await }).await;
        fetched.unwrap_or_else(|| Err(FetchError::Failed("the session broke down".to_owned())))
    }

    async fn pairing_code(&self, number: PhoneNumber) -> Result<Secret, PairingFailure> {
        if self.is_over() {
            return Err(PairingFailure::NotNow("it has ended".to_owned()));
        }
        let client = Arc::clone(&self.client);
        let code = self.run(async move { pairing_code(&client, number).await }).await;
        code.unwrap_or_else(|| Err(PairingFailure::Other("the session broke down".to_owned())))
    }

    async fn answer_passkey(&self, assertion: Assertion) -> Result<(), PasskeyRefused> {
        let client = Arc::clone(&self.client);
        let answer = passkey::Assertion {
            assertion_json: assertion.as_json().as_bytes().to_vec(),
            credential_id: assertion.credential_id().to_vec(),
        };
        let answered = self.run(async move { client.send_passkey_response(answer).await }).await;
        passed(answered)
    }

    async fn confirm_passkey(&self) -> Result<(), PasskeyRefused> {
        let client = Arc::clone(&self.client);
        passed(self.run(async move { client.send_passkey_confirmation().await }).await)
    }

    async fn unlink(&self) {
        if !self.is_over() {
            let client = Arc::clone(&self.client);
            let logout = async move { tokio::time::timeout(UNLINKING_PATIENCE, client.logout()).await };
            // Whatever the result of that was, the session ends as requested.
            let _ = self.run(logout).await;
            self.telling.end(End::Unlinked);
        }
        self.over().await;
    }

    async fn stop(&self) {
        self.telling.end(End::Stopped);
        self.over().await;
    }

    fn figures(&self) -> Figures {
        Figures {
            is_connected: self.client.is_connected(),
            is_logged_in: self.client.is_logged_in(),
            failed_attempts: self.telling.attempts(),
            reconnects: self.client.stats().reconnects,
            missed_events: self.telling.missed(),
            has_given_up: self.client.persistence_manager().is_saver_halted(),
        }
    }
}

/// Waits until the session has ended or has to end, and makes sure that its records are written.
async fn supervise(
    client: Arc<Client>,
    mut running: BotHandle,
    telling: Arc<Telling>,
    over: watch::Sender<bool>,
) {
    tokio::select! {
        () = &mut running => {}
        () = telling.end_wanted() => {}
    }
    let closing = async {
        client.disconnect().await;
        (&mut running).await;
    };
    if tokio::time::timeout(CLOSING_PATIENCE, closing).await.is_err() {
        running.abort();
    }
    telling.ended();
    over.send_replace(true);
}

/// The outcome of a step of the passkey gate; `None` when it panicked.
fn passed(outcome: Option<Result<(), passkey::PasskeyError>>) -> Result<(), PasskeyRefused> {
    let outcome = outcome.ok_or_else(|| PasskeyRefused("the session broke down".to_owned()))?;
    outcome.map_err(|error| PasskeyRefused(failure::chain(&error)))
}

fn broke_down() -> AskError {
    AskError::NoAnswer("the session broke down".to_owned())
}

/// Converts our address to the library's.
fn foreign(jid: &Jid) -> Option<LibraryJid> {
    jid.as_str().parse().ok()
}

async fn find(client: &Client, number: PhoneNumber) -> Result<Option<Found>, AskError> {
    if !client.is_logged_in() {
        return Err(AskError::NotConnected);
    }
    let asked = [LibraryJid::pn(number.to_string())];
    let answers = client.contacts().is_on_whatsapp(&asked).await.map_err(|error| failure::asking(&error))?;
    let Some(answer) = answers.into_iter().next() else {
        return Err(AskError::NoAnswer("WhatsApp answered with nothing".to_owned()));
    };
    if let Some(error) = answer.contact_error {
        let sentence = error.text.unwrap_or_default();
        return Err(match error.code {
            Some(code) => AskError::Refused { code, sentence },
            None => AskError::NoAnswer(format!("WhatsApp could not say: {sentence}")),
        });
    }
    if !answer.is_registered {
        return Ok(None);
    }
    // If the hidden address comes first, the number is the second one.
    let lid = if answer.jid.is_lid() { Some(&answer.jid) } else { answer.lid.as_ref() };
    let jid = answer.pn_jid.as_ref().unwrap_or(&answer.jid);
    let Some(jid) = events::own(jid) else {
        return Err(AskError::NoAnswer("WhatsApp answered with an unknown kind of address".to_owned()));
    };
    Ok(Some(Found { jid, lid: lid.and_then(events::own), is_business: answer.is_business }))
}

async fn picture(client: &Client, of: &Jid) -> Result<Option<Picture>, AskError> {
    if !client.is_logged_in() {
        return Err(AskError::NotConnected);
    }
    let Some(of) = foreign(of) else { return Ok(None) };
    let answer = client.contacts().get_profile_picture(&of, false).await;
    let picture = answer.map_err(|error| failure::asking(&error))?;
    Ok(picture.map(|picture| Picture { id: picture.id, url: picture.url }))
}

async fn mark_read(
    client: &Client,
    chat: &Jid,
    writer: Option<&Jid>,
    messages: &[MessageId],
) -> Result<(), AskError> {
    if !client.is_logged_in() {
        return Err(AskError::NotConnected);
    }
    let Some(chat) = foreign(chat) else { return Ok(()) };
    let writer = writer.and_then(foreign);
    let ids: Vec<&str> = messages.iter().map(MessageId::as_str).collect();
    let marked = client.mark_as_read(&chat, writer.as_ref(), &ids).await;
    marked.map_err(|error| AskError::NoAnswer(failure::chain(error.as_ref())))
}

async fn show_typing(client: &Client, chat: &Jid, is_typing: bool) -> Result<(), AskError> {
    if !client.is_logged_in() {
        return Err(AskError::NotConnected);
    }
    let Some(chat) = foreign(chat) else { return Ok(()) };
    let shown = if is_typing {
        client.chatstate().send_composing(&chat).await
    } else {
        client.chatstate().send_paused(&chat).await
    };
    shown.map_err(|error| AskError::NoAnswer(failure::chain(&error)))
}

async fn prepare(client: &Client, content: Content, quoted: Option<Quoted>) -> Result<Prepared, SendError> {
    // The library would wait for an answer that cannot come.
    if !client.is_logged_in() {
        return Err(SendError::NotConnected);
    }
    let (built, mut message) = match content {
        Content::Text(text) => (Built::Text, message::text(text)),
        Content::Location(location) => {
            let message = message::location(&location);
            (Built::Location(location), message)
        }
        Content::Contacts(cards) => {
            let message = message::contacts(&cards);
            (Built::Contacts(cards), message)
        }
        Content::Reaction(reaction) => {
            let message = message::reaction(&reaction);
            (Built::Reaction(reaction), message)
        }
        Content::Media(mut media) => {
            let bytes = std::mem::take(&mut media.bytes);
            let kind = message::media_type(media.kind);
            let upload = client.upload(bytes, kind, UploadOptions::new()).await;
            let upload = upload.map_err(|error| SendError::Upload(failure::chain(error.as_ref())))?;
            let (message, built) = message::media(media, upload);
            (Built::Media(built), message)
        }
    };
    if let Some(quoted) = quoted {
        let own = client.pn().map(|own| own.to_non_ad_string()).unwrap_or_default();
        message::quote(&mut message, quoted, own);
    }
    Ok(Prepared::new(built, message))
}

async fn hand_over(client: &Client, to: &Jid, id: &MessageId, prepared: Prepared) -> Result<(), SendError> {
    if !client.is_logged_in() {
        return Err(SendError::NotConnected);
    }
    let Some(address) = foreign(to) else {
        return Err(SendError::Recipient("its address is invalid".to_owned()));
    };
    let Some(message) = prepared.into_message::<Message>() else {
        return Err(SendError::Unprepared("another driver prepared the message".to_owned()));
    };
    let options = SendOptions::default().with_message_id(id.as_str());
    let sent = client.send_message_with_options(address, message, options).await;
    sent.map(drop).map_err(|error| failure::sending(&error))
}

async fn fetch(client: &Client, file: SealedFile) -> Result<Vec<u8>, FetchError> {
    if !client.is_logged_in() {
        return Err(FetchError::NotConnected);
    }
    let SealedFile { kind, keys, sha256, size } = file;
    let (Some(key), Some(sealed)) = (bytes_of_base64(&keys.media_key), bytes_of_base64(&keys.sealed_sha256))
    else {
        return Err(FetchError::Damaged);
    };
    let content = sha256.as_deref().and_then(bytes_of_base64).unwrap_or_default();
    let kind = message::media_type(kind);
    let params = DownloadParams::encrypted(keys.direct_path, &key, &content, &sealed, size, kind);
    // The sender says the length, and may lie: no more arrives than the caller has memory for.
    let most = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(SEAL_BYTES).max(SHORT_ANSWER);
    let download = http::MOST_BYTES.scope(most, client.download_from_params(&params));
    download.await.map_err(|error| failure::fetching(&error))
}

async fn pairing_code(client: &Arc<Client>, number: PhoneNumber) -> Result<Secret, PairingFailure> {
    if client.pn().is_some() {
        return Err(PairingFailure::NotNow("it is paired already".to_owned()));
    }
    client.wait_for_socket(CONNECTION_PATIENCE).await.map_err(|_| PairingFailure::NotConnected)?;
    client.cancel_pair_code().await;
    let options = PairCodeOptions { phone_number: number.to_string(), ..PairCodeOptions::default() };
    let code = client.pair_with_code(options).await.map_err(|error| failure::pairing(&error))?;
    Ok(Secret::new(code))
}
