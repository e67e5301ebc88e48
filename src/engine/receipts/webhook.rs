//! What the provider has to be told so that it delivers the webhooks of a channel.

use uuid::Uuid;

use crate::domain::channel::Channel;
use crate::domain::secret::Secret;
use crate::engine::{Engine, Error};
use crate::store::changes::Who;
use crate::store::{self, Store};
use crate::vault::{self, Vault, context};

/// What the provider's console asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where webhooks go, below the service's public address.
    pub path: String,
    /// The word that proves the address to be ours.
    pub verify_token: Secret,
    /// Whether the secret is known that signs webhooks; all are refused without it.
    pub has_app_secret: bool,
}

impl Engine {
    /// What the provider has to be told about a business account's webhooks.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] while the database is away.
    pub async fn webhook(&self, channel: &Channel) -> Result<Webhook, Error> {
        let records = self.records_of(channel.company_id).await?;
        let verify_token = verify_token(&records, &self.0.shared.vault, channel.id).await?;
        let secrets = records.channel_secrets(channel.id).await?;
        let has_app_secret = secrets.is_some_and(|secrets| secrets.app_secret.is_some());
        Ok(Webhook { path: format!("/hooks/meta/{}", channel.id), verify_token, has_app_secret })
    }

    /// Keeps the secret that signs a channel's webhooks, which is sealed here; `false` when there is no such channel.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now.
    pub async fn set_app_secret(&self, who: &Who, channel: Uuid, secret: &Secret) -> Result<bool, Error> {
        let vault = &self.0.shared.vault;
        let _hold = vault.hold();
        let sealed = vault.seal(secret.expose().as_bytes(), &context::app_secret(channel));
        Ok(self.store().set_channel_app_secret(who, channel, sealed).await?)
    }

    /// Has the templates of the channel's business account listed soon. Does nothing for other channels, and where no
    /// channel of the account is connected.
    pub fn sync_templates(&self, channel: &Channel) {
        self.list_templates_soon(channel);
    }
}

/// The word of a business account's webhook, which is made if there is none. One that does not open is replaced: without
/// its key nobody can say it any more.
///
/// # Errors
///
/// Those of the store.
pub async fn verify_token(store: &Store, vault: &Vault, channel: Uuid) -> store::Result<Secret> {
    loop {
        let known = store.verify_token(channel).await?;
        if let Some(sealed) = &known {
            match vault.unseal(sealed, &context::verify_token(channel)) {
                Ok(word) => return Ok(word),
                Err(error) => {
                    tracing::warn!(channel.id = %channel, %error, "the verify token does not open, a new one is made: give it to the provider");
                }
            }
        }
        let _hold = vault.hold();
        let new = vault::new_verify_token();
        let sealed = vault.seal(new.expose().as_bytes(), &context::verify_token(channel));
        if store.set_verify_token(channel, known, sealed).await? {
            return Ok(new);
        }
    }
}
