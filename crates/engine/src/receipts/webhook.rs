//! The settings at the provider for a channel's webhooks.

use uuid::Uuid;

use crate::Error;
use crate::contents::is_of_the_database;
use crate::receipts::Webhooks;
use clock::Timestamp;
use domain::channel::Channel;
use domain::secret::Secret;
use store::Store;
use store::changes::Who;
use vault::{Vault, context};

/// The values for the provider's console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The path of webhooks, below the service's public address.
    pub path: String,
    /// The verify token, which proves the address to be the service's.
    pub verify_token: Secret,
    /// Whether the app secret that signs webhooks is known; without it all webhooks are refused.
    pub has_app_secret: bool,
}

impl Webhooks<'_> {
    /// The settings of a business account's webhooks.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] while the database is away.
    pub async fn of(&self, channel: &Channel) -> Result<Webhook, Error> {
        let records = self.engine.records_of(channel.company_id).await?;
        let verify_token = verify_token(&records, &self.engine.0.shared.vault, channel.id).await?;
        let secrets = records.channels().secrets(channel.id).await?;
        let has_app_secret = secrets.is_some_and(|secrets| secrets.app_secret.is_some());
        Ok(Webhook { path: format!("/hooks/meta/{}", channel.id), verify_token, has_app_secret })
    }

    /// Stores the app secret that signs a channel's webhooks, sealed, unless it is the one that is stored; `false` when
    /// there is no such channel.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now.
    pub async fn set_app_secret(&self, who: &Who, channel: Uuid, secret: &Secret) -> Result<bool, Error> {
        self.engine.check_sealing()?;
        let vault = &self.engine.0.shared.vault;
        let _hold = vault.hold();
        let context = context::app_secret(channel);
        let known =
            self.engine.store().channels().secrets(channel).await?.and_then(|secrets| secrets.app_secret);
        if vault.is_sealed(known.as_deref(), secret, &context) {
            return Ok(true);
        }
        let sealed = vault.seal(secret.expose().as_bytes(), &context);
        Ok(self.engine.store().channels().set_app_secret(who, channel, sealed).await?)
    }

    /// Lists the templates of the channel's business account soon. Does nothing for other channels, or while no channel
    /// of the account is connected.
    pub fn sync_templates(&self, channel: &Channel) {
        self.engine.list_templates_soon(channel);
    }

    /// When this process last listed the templates of a company's business account; `None` when it did not since it
    /// started.
    pub fn templates_synced_at(&self, company_id: Uuid, waba_id: &str) -> Option<Timestamp> {
        self.engine.0.shared.accounts.listed_at(company_id, waba_id)
    }
}

/// The verify token of a business account's webhook, generated if there is none. A token that cannot be unsealed is
/// replaced: without its key nobody can read it any more. While others have the key, it stays.
pub async fn verify_token(store: &Store, vault: &Vault, channel: Uuid) -> store::Result<Secret> {
    loop {
        let known = store.channels().verify_token(channel).await?;
        if let Some(sealed) = &known {
            match vault.unseal(sealed, &context::verify_token(channel)) {
                Ok(word) => return Ok(word),
                Err(vault::Error::UnknownKey(key)) if is_of_the_database(store, key).await? => {
                    return Err(store::Error::Unavailable(format!(
                        "this process lacks the sealing key {key}"
                    )));
                }
                Err(error) => {
                    tracing::warn!(channel.id = %channel, %error, "the verify token cannot be unsealed, a new one is generated: give it to the provider");
                }
            }
        }
        let _hold = vault.hold();
        let new = vault::new_verify_token();
        let sealed = vault.seal(new.expose().as_bytes(), &context::verify_token(channel));
        if store.channels().set_verify_token(channel, known, sealed).await? {
            return Ok(new);
        }
    }
}
