//! People's changes of channels: renaming, reconnecting and removing them. [`super::addition`] adds channels.

use uuid::Uuid;

use crate::Error;
use crate::channel::Channels;
use domain::error::{Code, Refusal};
use domain::secret::Secret;
use store::changes::Who;
use vault::context;

impl Channels<'_> {
    /// Gives a channel another name; `false` when there is no such channel.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database cannot be written to now.
    pub async fn rename(&self, who: &Who, id: Uuid, name: &str) -> Result<bool, Error> {
        Ok(self.engine.store().channels().rename(who, id, name).await?)
    }

    /// Records that a person accepts the risks of an unofficial connection, unless that is recorded; `false` when there is no
    /// such channel.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database cannot be written to now.
    pub async fn accept_risk(&self, who: &Who, id: Uuid) -> Result<bool, Error> {
        Ok(self.engine.store().channels().accept_risk(who, id).await?)
    }

    /// Removes a channel, whose sends must have ended and whose phone must be unlinked; `false` when there is no such
    /// channel.
    ///
    /// # Errors
    ///
    /// `channel_in_use` when a send of the channel has not ended or a phone is linked; [`Error::Unavailable`] when the
    /// database cannot be written to now.
    pub async fn remove(&self, who: &Who, id: Uuid) -> Result<bool, Error> {
        if self.engine.store().channels().find(id).await?.is_none() {
            return Ok(false);
        }
        // Hidden first, so that no send is accepted while the remaining ones are checked.
        let hidden = self.engine.directory().hide(id);
        if self.engine.store().channels().remove(who, id).await? {
            hidden.remove().await;
            // Those that a program set for the channel alone are gone with it.
            self.engine.webhook_endpoints().changed();
            self.engine.owners().tell_of_removal(id).await?;
            return Ok(true);
        }
        drop(hidden);
        Err(Error::Refused(Refusal::new(
            Code::ChannelInUse,
            "sends of this channel are not over, or a phone is linked to it: cancel the sends, unlink the phone, and try again",
        )))
    }

    /// Sets a business account back to `connecting`. Seals and stores the new access token, if there is one and it is
    /// another than before. Returns `false` when there is no such channel. The channel's actor follows the change as it follows one from the command
    /// line.
    pub async fn reconnect(&self, who: &Who, id: Uuid, token: Option<Secret>) -> Result<bool, Error> {
        self.engine.check_sealing()?;
        let vault = &self.engine.0.shared.vault;
        let _hold = vault.hold();
        let context = context::token(id);
        let known = self.engine.store().channels().secrets(id).await?.and_then(|secrets| secrets.token);
        let token = token.filter(|token| !vault.is_sealed(known.as_deref(), token, &context));
        let sealed = token.map(|token| vault.seal(token.expose().as_bytes(), &context));
        Ok(self.engine.store().channels().reconnect(who, id, sealed).await?)
    }
}
