//! The words of webhook handshakes: random, kept sealed, made when somebody first asks for one.
//!
//! Before they were kept, they were derived from the sealing key. Channels of that time keep those words, which their
//! providers know.

use uuid::Uuid;

use crate::domain::secret::Secret;
use crate::store::{self, Store};
use crate::vault::{self, Vault, context};

/// Keeps the derived words of channels that still have them, so that the sealing key can change.
///
/// # Errors
///
/// Those of the store.
pub(super) async fn keep_derived(store: &Store, vault: &Vault) -> store::Result<()> {
    for channel in store.channels_with_derived_verify_tokens().await? {
        let _hold = vault.hold();
        let word = vault.derived_verify_token(channel);
        // Another process that starts at the same time keeps the same word.
        store.set_verify_token(channel, Some(Vec::new()), seal(vault, channel, &word)).await?;
    }
    Ok(())
}

/// The word of a business account's webhook, which is made if there is none. One that does not open is replaced: without
/// its key nobody can say it any more.
///
/// # Errors
///
/// Those of the store.
pub async fn of(store: &Store, vault: &Vault, channel: Uuid) -> store::Result<Secret> {
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
        if store.set_verify_token(channel, known, seal(vault, channel, &new)).await? {
            return Ok(new);
        }
    }
}

fn seal(vault: &Vault, channel: Uuid, word: &Secret) -> Vec<u8> {
    vault.seal(word.expose().as_bytes(), &context::verify_token(channel))
}
