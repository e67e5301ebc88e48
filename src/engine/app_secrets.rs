//! App secrets and the words of handshakes in memory, so that a webhook is judged without asking the database.

use std::sync::Arc;

use dashmap::DashMap;
use uuid::Uuid;

use crate::domain::channel::Channel;
use crate::domain::secret::Secret;
use crate::store::{Result, Store};
use crate::vault::{Vault, context};

/// Secrets that were read, each with the revision of its channel: a changed channel's is read again.
#[derive(Default)]
pub(super) struct AppSecrets(DashMap<Uuid, (i64, Option<Arc<Secret>>)>);

impl AppSecrets {
    /// The secret that signs the channel's webhooks; `None` when it has none that opens, which is logged when
    /// it is read.
    pub(super) async fn find(
        &self,
        store: &Store,
        vault: &Vault,
        channel: &Channel,
    ) -> Result<Option<Arc<Secret>>> {
        let known =
            self.0.get(&channel.id).filter(|known| known.0 == channel.revision).map(|known| known.1.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let sealed = store.channel_secrets(channel.id).await?.and_then(|secrets| secrets.app_secret);
        let secret = match sealed.map(|sealed| vault.unseal(&sealed, &context::app_secret(channel.id))) {
            Some(Ok(secret)) => Some(Arc::new(secret)),
            Some(Err(error)) => {
                tracing::error!(channel.id = %channel.id, %error, "the channel's app secret cannot be opened, its webhooks are refused: give it again with `pombo channel webhook --app-secret-file`");
                None
            }
            None => {
                tracing::warn!(channel.id = %channel.id, "the channel has no app secret, its webhooks are refused: give it with `pombo channel webhook --app-secret-file`");
                None
            }
        };
        self.0.insert(channel.id, (channel.revision, secret.clone()));
        Ok(secret)
    }
}

/// The words of webhook handshakes that were read, likewise.
#[derive(Default)]
pub(super) struct VerifyTokens(DashMap<Uuid, (i64, Option<Arc<Secret>>)>);

impl VerifyTokens {
    /// The word by which the provider sets the channel's webhook up; `None` when it has none that opens.
    pub(super) async fn find(
        &self,
        store: &Store,
        vault: &Vault,
        channel: &Channel,
    ) -> Result<Option<Arc<Secret>>> {
        let known =
            self.0.get(&channel.id).filter(|known| known.0 == channel.revision).map(|known| known.1.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let sealed = store.verify_token(channel.id).await?;
        let word = match sealed.map(|sealed| vault.unseal(&sealed, &context::verify_token(channel.id))) {
            Some(Ok(word)) => Some(Arc::new(word)),
            Some(Err(error)) => {
                tracing::error!(channel.id = %channel.id, %error, "the channel's verify token cannot be opened, its webhook cannot be set up: `pombo channel webhook` makes a new one");
                None
            }
            None => None,
        };
        self.0.insert(channel.id, (channel.revision, word.clone()));
        Ok(word)
    }
}
