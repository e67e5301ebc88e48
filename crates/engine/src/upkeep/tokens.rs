//! Channels whose access token cannot be opened: they are found before somebody sends through them.
//!
//! A token that no key of the database opens makes a channel useless, and a channel that nobody uses has no actor that
//! would notice. Here it gets one, and the channel's machine disconnects it as it does after any other failure.

use std::time::Duration;

use crate::Engine;
use store::sealed::{Kind, Place};
use vault::context;

/// How often all tokens are tried, and how many are read at once. Ten thousand take some tens of milliseconds.
const INTERVAL: Duration = Duration::from_secs(60);
const AT_ONCE: u32 = 500;
/// No sealed value begins with this byte.
const NO_VERSION: u8 = 0;

/// Tries all tokens once. Returns the pause until the next time.
pub(super) async fn round(engine: &Engine) -> Duration {
    if let Err(error) = look(engine).await {
        tracing::debug!(%error, "cannot read the tokens of channels");
    }
    INTERVAL
}

async fn look(engine: &Engine) -> store::Result<()> {
    let (store, shared) = (engine.store(), &engine.0.shared);
    let mut after = Place::first();
    loop {
        let values = store.sealed().otherwise(Kind::Token, &[NO_VERSION], &after, AT_ONCE).await?;
        let Some(last) = values.last() else { return Ok(()) };
        after = last.place.clone();
        for value in &values {
            let id = value.place.channel_id;
            let Err(error) = shared.vault.unseal(&value.sealed, &context::token(id)) else { continue };
            if engine.directory().handle(id).is_some()
                || shared.health.explains(&error, store, &shared.vault).await?
            {
                continue;
            }
            if let Some(channel) = engine.directory().find(id).await?
                && channel.connection.accepts()
            {
                tracing::warn!(channel.id = %id, %error, "the access token of a channel cannot be opened");
                engine.directory().wake(&channel);
            }
        }
    }
}
