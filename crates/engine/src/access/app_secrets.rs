//! App secrets and verify tokens in memory, so that a webhook is checked without asking the database.

use std::sync::Arc;

use dashmap::DashMap;
use uuid::Uuid;

use crate::health::Health;
use domain::channel::Channel;
use domain::secret::Secret;
use store::{Error, Result, Store};
use vault::{Vault, context};

/// Secrets that were read, each with its channel's revision: after a change of the channel, its secret is read again.
#[derive(Default)]
struct Kept(DashMap<Uuid, (i64, Option<Arc<Secret>>)>);

/// The secrets that sign webhooks.
#[derive(Default)]
pub(crate) struct AppSecrets(Kept);

/// The tokens with which the provider sets webhooks up.
#[derive(Default)]
pub(crate) struct VerifyTokens(Kept);

impl Kept {
    /// The channel's secret, from memory or by `read`.
    async fn find(
        &self,
        channel: &Channel,
        read: impl AsyncFnOnce() -> Result<Option<Secret>>,
    ) -> Result<Option<Arc<Secret>>> {
        let known = self.0.get(&channel.id).map(|known| known.clone());
        if let Some((_, secret)) = known.filter(|(revision, _)| *revision == channel.revision) {
            return Ok(secret);
        }
        let secret = read().await?.map(Arc::new);
        self.0.insert(channel.id, (channel.revision, secret.clone()));
        Ok(secret)
    }
}

impl AppSecrets {
    /// The secret that signs the channel's webhooks; `None` when it has none that can be unsealed, which is logged when
    /// it is read.
    pub(crate) async fn find(
        &self,
        (store, vault, health): (&Store, &Vault, &Health),
        channel: &Channel,
    ) -> Result<Option<Arc<Secret>>> {
        let read = async || {
            let sealed = store.channels().secrets(channel.id).await?.and_then(|secrets| secrets.app_secret);
            let Some(sealed) = sealed else {
                tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, "the channel has no app secret, its webhooks are refused: give it with `pombo channel webhook --app-secret-file`");
                return Ok(None);
            };
            let context = context::app_secret(channel.id);
            let otherwise = "the channel's app secret cannot be unsealed, its webhooks are refused: give it again with `pombo channel webhook --app-secret-file`";
            open((store, vault, health), channel, &sealed, &context, otherwise).await
        };
        self.0.find(channel, read).await
    }
}

impl VerifyTokens {
    /// The channel's verify token; `None` when it has none that can be unsealed.
    pub(crate) async fn find(
        &self,
        (store, vault, health): (&Store, &Vault, &Health),
        channel: &Channel,
    ) -> Result<Option<Arc<Secret>>> {
        let read = async || {
            let Some(sealed) = store.channels().verify_token(channel.id).await? else { return Ok(None) };
            let context = context::verify_token(channel.id);
            let otherwise = "the channel's verify token cannot be unsealed, its webhook cannot be set up: `pombo channel webhook` generates a new one";
            open((store, vault, health), channel, &sealed, &context, otherwise).await
        };
        self.0.find(channel, read).await
    }
}

/// Unseals a secret of a channel; logs `otherwise` when that fails. Fails while this process lacks a key that others
/// have: the caller repeats its request, and another node may answer it.
async fn open(
    (store, vault, health): (&Store, &Vault, &Health),
    channel: &Channel,
    sealed: &[u8],
    context: &str,
    otherwise: &'static str,
) -> Result<Option<Secret>> {
    match vault.unseal(sealed, context) {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if health.explains(&error, store, vault).await? => Err(Error::Unavailable(format!(
            "a secret of the channel {} does not open here: {error}",
            channel.id
        ))),
        Err(error) => {
            tracing::error!(channel.id = %channel.id, channel.name = %channel.name, %error, "{otherwise}");
            Ok(None)
        }
    }
}
