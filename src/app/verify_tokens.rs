//! Verify tokens of webhook handshakes. They are random, stored sealed, and created when first requested.
//!
//! Older versions derived the tokens from the sealing key. Channels from that time keep their derived tokens,
//! which are entered at the provider.

pub use crate::engine::verify_token as of;
use crate::store::{self, Store};
use crate::vault::{Vault, context};

/// Stores the derived tokens of channels that still have them, so that the sealing key can change.
///
/// # Errors
///
/// Those of the store.
pub(super) async fn keep_derived(store: &Store, vault: &Vault) -> store::Result<()> {
    for channel in store.channels_with_derived_verify_tokens().await? {
        let _hold = vault.hold();
        let word = vault.derived_verify_token(channel);
        // Another process that starts at the same time stores the same token.
        let sealed = vault.seal(word.expose().as_bytes(), &context::verify_token(channel));
        store.set_verify_token(channel, Some(Vec::new()), sealed).await?;
    }
    Ok(())
}
