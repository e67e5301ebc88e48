//! A session: its requests go to its device, which carries them out even if no caller waits.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot, watch};

use super::device::Command;
use super::message::{self, Outgoing};
use super::{Shared, ShownSign};
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::{
    AskError, Assertion, Content, FetchError, Figures, Found, Jid, MessageId, PairingFailure, PasskeyRefused,
    Picture, Prepared, Quoted, SealedFile, SendError, Session,
};

/// When the last reference is dropped, the channel of commands closes, which ends the device.
pub(super) struct Linked {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    /// Closed when the device has ended.
    figures: watch::Receiver<Figures>,
}

impl Linked {
    pub(super) fn new(
        shared: Arc<Shared>,
        commands: mpsc::Sender<Command>,
        figures: watch::Receiver<Figures>,
    ) -> Self {
        Self { shared, commands, figures }
    }

    /// The device's answer; `None` when it has ended.
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(command(answer)).await.ok()?;
        answered.await.ok()
    }

    async fn show(&self, kind: &'static str, chat: &Jid, messages: Vec<String>) -> Result<(), AskError> {
        let sign = ShownSign { from: String::new(), kind, to: chat.to_string(), messages };
        self.ask(|answer| Command::Show(sign, answer)).await.unwrap_or(Err(AskError::NotConnected))
    }

    /// Tells the device to end, and returns when it has.
    async fn end(&self, command: Command) {
        // A device that receives no commands has ended.
        let _ = self.commands.send(command).await;
        let mut figures = self.figures.clone();
        while figures.changed().await.is_ok() {}
    }
}

#[async_trait]
impl Session for Linked {
    async fn find(&self, number: PhoneNumber) -> Result<Option<Found>, AskError> {
        let answer = self.ask(|answer| Command::Find(number, answer)).await;
        answer.unwrap_or(Err(AskError::NotConnected))
    }

    async fn picture(&self, of: &Jid) -> Result<Option<Picture>, AskError> {
        let answer = self.ask(|answer| Command::ShowPicture(of.clone(), answer)).await;
        answer.unwrap_or(Err(AskError::NotConnected))
    }

    async fn mark_read(&self, chat: &Jid, _: Option<&Jid>, messages: &[MessageId]) -> Result<(), AskError> {
        self.show("read", chat, messages.iter().map(MessageId::to_string).collect()).await
    }

    async fn show_typing(&self, chat: &Jid, is_typing: bool) -> Result<(), AskError> {
        self.show(if is_typing { "typing" } else { "paused" }, chat, Vec::new()).await
    }

    async fn prepare(
        &self,
        id: &MessageId,
        content: Content,
        quoted: Option<Quoted>,
    ) -> Result<Prepared, SendError> {
        if !self.figures().is_logged_in {
            return Err(SendError::NotConnected);
        }
        Ok(Prepared::new(message::built(id, &content), Outgoing { content, quoted }))
    }

    async fn hand_over(&self, to: &Jid, id: &MessageId, prepared: Prepared) -> Result<(), SendError> {
        let (to, id) = (to.clone(), id.clone());
        let Some(outgoing) = prepared.into_message::<Outgoing>() else {
            return Err(SendError::Unprepared("another driver prepared the message".to_owned()));
        };
        // A device that ends accepts no message without an answer.
        let answer = self.ask(|answer| Command::Send(to, id, outgoing, answer)).await;
        answer.unwrap_or(Err(SendError::NotConnected))
    }

    async fn fetch(&self, file: SealedFile) -> Result<Vec<u8>, FetchError> {
        if !self.figures().is_logged_in {
            return Err(FetchError::NotConnected);
        }
        let found = self.shared.file(&file.keys.direct_path).ok_or(FetchError::Gone)?;
        Ok(found.bytes.to_vec())
    }

    async fn pairing_code(&self, number: PhoneNumber) -> Result<Secret, PairingFailure> {
        let answer = self.ask(|answer| Command::GiveCode(number, answer)).await;
        answer.unwrap_or_else(|| Err(PairingFailure::NotNow("it has ended".to_owned())))
    }

    async fn answer_passkey(&self, assertion: Assertion) -> Result<(), PasskeyRefused> {
        let answer = self.ask(|answer| Command::AnswerPasskey(assertion, answer)).await;
        answer.unwrap_or_else(|| Err(PasskeyRefused("it has ended".to_owned())))
    }

    async fn confirm_passkey(&self) -> Result<(), PasskeyRefused> {
        let answer = self.ask(Command::ConfirmPasskey).await;
        answer.unwrap_or_else(|| Err(PasskeyRefused("it has ended".to_owned())))
    }

    async fn unlink(&self) {
        self.end(Command::Unlink).await;
    }

    async fn stop(&self) {
        self.end(Command::Stop).await;
    }

    fn figures(&self) -> Figures {
        *self.figures.borrow()
    }
}
