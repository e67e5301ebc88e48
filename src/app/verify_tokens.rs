//! Verify tokens of webhook handshakes. They are random, stored sealed, and created when first requested.
//!
//! Older versions derived the tokens from the sealing key. Channels from that time keep their derived tokens,
//! which are entered at the provider.

use super::{App, key_proof};
pub use crate::engine::verify_token as of;
use crate::vault::context;

/// Stores the derived tokens of channels that still have them, so that the sealing key can change. A process without
/// the keys of the database leaves them alone, because it would derive others.
pub(super) async fn keep_derived(App { config, store, vault }: &App) -> anyhow::Result<()> {
    let channels = store.channels().with_derived_verify_tokens().await?;
    if channels.is_empty() {
        return Ok(());
    }
    if let Err(error) = key_proof::require(config, store, vault).await {
        tracing::warn!(%error, "verify tokens that were derived from the sealing key stay as they are");
        return Ok(());
    }
    for channel in channels {
        let _hold = vault.hold();
        let word = vault.derived_verify_token(channel);
        // Another process that starts at the same time stores the same token.
        let sealed = vault.seal(word.expose().as_bytes(), &context::verify_token(channel));
        store.channels().set_verify_token(channel, Some(Vec::new()), sealed).await?;
    }
    Ok(())
}
