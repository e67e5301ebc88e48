//! Answers to the passkey gate, on their way to the session that waits for them.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::supervisor::Command;
use super::{AnswerPasskey, PATIENCE, WebSessions};
use crate::web_session::Phones;
use crate::{Error, RETRY_AFTER};
use domain::channel::Channel;
use domain::error::Refusal;
use machines::web_session::{NotExpected, Pairing, PasskeyAnswer, Stage};

impl WebSessions {
    async fn answer_passkey(&self, channel: &Channel, answer: PasskeyAnswer) -> Result<Pairing, Error> {
        let common = self.common()?;
        let running =
            self.supervisors.lock().get(&channel.id).filter(|running| !running.commands.is_closed()).cloned();
        let Some(running) = running else {
            let is_linked = common.store.web_sessions().exists(channel.id).await?;
            return Err(Refusal::from(NotExpected::Stage(super::at_rest(is_linked).stage)).into());
        };
        let (hear, heard) = oneshot::channel();
        // Sending fails when the supervisor has just ended, and with it the pairing.
        let _ = running.commands.send(Command::Passkey(answer, hear)).await;
        match timeout(PATIENCE, heard).await {
            Ok(Ok(Ok(()))) => Ok(running.pairing.borrow().clone()),
            Ok(Ok(Err(why))) => Err(Refusal::from(why).into()),
            Ok(Err(_)) => Err(Refusal::from(NotExpected::Stage(Stage::Unlinked)).into()),
            Err(_) => Err(Error::Unavailable { retry_after: RETRY_AFTER }),
        }
    }
}

impl Phones<'_> {
    /// Passes an answer on to the passkey gate. [`Phones::pairing`] shows how the pairing goes on; an
    /// answer that WhatsApp does not accept ends it.
    ///
    /// # Errors
    ///
    /// `passkey_not_expected`; `invalid_field` when the assertion signs another challenge; otherwise as
    /// [`Phones::pair`].
    pub async fn answer_passkey(
        &self,
        channel: &Arc<Channel>,
        answer: PasskeyAnswer,
    ) -> Result<Pairing, Error> {
        self.engine.check_running()?;
        let asked = AnswerPasskey { answer };
        if let Some(pairing) = self.engine.owners().ask(channel, &asked).await? {
            return Ok(pairing);
        }
        let AnswerPasskey { answer } = asked;
        self.engine.0.web_sessions.answer_passkey(channel, answer).await
    }
}
