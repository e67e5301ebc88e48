//! The words of webhook handshakes: random, kept sealed, made when somebody first asks for one.
//!
//! Before they were kept, they were derived from the sealing key. Channels of that time keep those words, which their
//! providers know.

pub use crate::engine::verify_token as of;
use crate::store::{self, Store};
use crate::vault::{Vault, context};

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
        let sealed = vault.seal(word.expose().as_bytes(), &context::verify_token(channel));
        store.set_verify_token(channel, Some(Vec::new()), sealed).await?;
    }
    Ok(())
}
