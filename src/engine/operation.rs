//! What operators ask of the engine: who they are, and channels connected again and removed. New ones are
//! [`super::new_channel`]'s.

use uuid::Uuid;

use super::{Engine, Error};
use crate::clock::Timestamp;
use crate::domain::secret::Secret;
use crate::error::{Code, Refusal};
use crate::store::change::Who;
use crate::vault::{api_key, context};

impl Engine {
    /// The name of the operator who presents this key; `None` when it is unknown, revoked or expired, or a
    /// company's. Operators are few and ask seldom: the store is asked each time.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn authenticate_operator(&self, key: &str) -> Result<Option<String>, Error> {
        let operator = self.store().find_operator(&api_key::hash(key)).await?;
        let valid = operator.filter(|operator| operator.is_valid(Timestamp::now()));
        Ok(valid.map(|operator| operator.name))
    }

    /// Removes a channel, whose sends must be over and whose phone must be unlinked; `false` when there is no such channel.
    ///
    /// # Errors
    ///
    /// `channel_in_use` when a send of it is not over or a phone is linked; [`Error::Unavailable`] when it cannot be written
    /// now.
    pub async fn remove_channel(&self, who: &Who, id: Uuid) -> Result<bool, Error> {
        if self.store().find_channel(id).await?.is_none() {
            return Ok(false);
        }
        // First, so that no send is accepted while it is looked at those that are left.
        let hidden = self.directory().hide(id);
        if self.store().remove_channel(who, id).await? {
            hidden.remove().await;
            return Ok(true);
        }
        drop(hidden);
        Err(Error::Refused(Refusal::new(
            Code::ChannelInUse,
            "sends of this channel are not over, or a phone is linked to it: cancel the sends, unlink the phone, and try again",
        )))
    }

    /// Makes a business account `connecting` again, with a new access token when there is one, which is
    /// sealed here; `false` when there is no such channel. Its actor follows as it does to the command line.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now.
    pub async fn reconnect(&self, who: &Who, id: Uuid, token: Option<Secret>) -> Result<bool, Error> {
        let vault = &self.0.shared.vault;
        let _hold = vault.hold();
        let sealed = token.map(|token| vault.seal(token.expose().as_bytes(), &context::token(id)));
        Ok(self.store().reconnect_channel(who, id, sealed).await?)
    }
}
