//! What operators ask of the engine: who they are, and channels added, connected again and removed.

use uuid::Uuid;

use super::{Engine, Error};
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Kind, Status};
use crate::domain::secret::Secret;
use crate::error::{Code, Refusal};
use crate::store;
use crate::store::change::Who;
use crate::store::channel::{NewChannel, Sealed};
use crate::vault::{api_key, context};

/// A channel to add.
#[derive(Debug)]
pub struct Addition {
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The kind of provider.
    pub kind: Kind,
    /// What the company calls it.
    pub name: String,
    /// The tier to run under.
    pub tier: String,
    /// What a business account has, and no web session.
    pub number: Option<Number>,
}

/// The number of a business account.
#[derive(Debug)]
pub struct Number {
    /// As shown to people.
    pub phone_number: String,
    /// The provider's id of the number; no two channels share one.
    pub phone_number_id: String,
    /// The provider's id of the business account.
    pub waba_id: String,
    /// The provider's access token.
    pub token: Secret,
    /// What signs the provider's webhooks.
    pub app_secret: Option<Secret>,
}

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

    /// Adds a channel, with its secrets sealed. A business account is `connecting` until the provider confirms it, a web
    /// session waits for a phone.
    ///
    /// # Errors
    ///
    /// `already_exists` when another channel has the provider's id of the number; [`Error::Unavailable`] when it cannot be
    /// written now.
    pub async fn add_channel(&self, who: &Who, addition: Addition) -> Result<Channel, Error> {
        let Addition { company_id, kind, name, tier, number } = addition;
        let (id, vault) = (Uuid::now_v7(), &self.0.shared.vault);
        let _hold = vault.hold();
        let mut new = NewChannel {
            id,
            company_id,
            kind,
            name,
            phone_number: None,
            phone_number_id: None,
            waba_id: None,
            tier,
            secrets: Sealed::default(),
            status: Status::Pairing,
        };
        if let Some(Number { phone_number, phone_number_id, waba_id, token, app_secret }) = number {
            let seal = |secret: &Secret, place: &str| vault.seal(secret.expose().as_bytes(), place);
            new.secrets = Sealed {
                token: Some(seal(&token, &context::token(id))),
                app_secret: app_secret.map(|secret| seal(&secret, &context::app_secret(id))),
            };
            new.phone_number = Some(phone_number);
            new.phone_number_id = Some(phone_number_id);
            new.waba_id = Some(waba_id);
            new.status = Status::Connecting;
        }
        self.store().add_channel(who, new).await.map_err(|error| match error {
            store::Error::Taken(_) => Error::Refused(Refusal::new(
                Code::AlreadyExists,
                "there is a channel with this `phone_number_id` already: reconnect that one, or remove it first",
            )),
            other => other.into(),
        })
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
