//! The sentinel actor: sees what other processes changed, and wakes the channels concerned.
//!
//! It compares the store's revisions with those seen last. A tier, a channel or a key changed by the
//! command line while the service runs is in force within one interval.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;

use super::Engine;
use crate::domain::channel::Status;
use crate::store::{self, Revisions};

/// See the module.
pub(super) struct Sentinel {
    engine: Engine,
    interval: Duration,
    seen: Revisions,
    /// Whether the last look failed: said once, not at every look.
    blind: bool,
}

impl Sentinel {
    pub(super) const fn new(engine: Engine, interval: Duration, seen: Revisions) -> Self {
        Self { engine, interval, seen, blind: false }
    }

    fn look(&mut self, ctx: &mut Context<Self>) {
        let (engine, seen) = (self.engine.clone(), self.seen);
        async move { take_up(&engine, seen).await }
            .into_actor(self)
            .map(|result, sentinel, ctx| {
                match result {
                    Ok(seen) => {
                        sentinel.seen = seen;
                        sentinel.blind = false;
                    }
                    Err(error) if sentinel.blind => tracing::debug!(%error, "still cannot look for changes"),
                    Err(error) => {
                        tracing::error!(%error, "cannot look for changes");
                        sentinel.blind = true;
                    }
                }
                sentinel.engine.set_reachable(!sentinel.blind);
                sentinel.engine.directory().revive();
                ctx.run_later(sentinel.interval, Self::look);
            })
            .spawn(ctx);
    }
}

impl Actor for Sentinel {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.look(ctx);
    }
}

/// Carries out what changed since `seen`, and says what is seen now.
async fn take_up(engine: &Engine, seen: Revisions) -> store::Result<Revisions> {
    let now = engine.store().revisions().await?;
    if now.api_key != seen.api_key {
        engine.forget_keys(now.api_key);
    }
    if now.suppression != seen.suppression {
        engine.load_suppressions().await?;
    }
    if now.tier != seen.tier {
        engine.load_tiers().await?;
        engine.directory().retune();
    }
    if now.channel != seen.channel {
        for channel in engine.store().channels_changed_since(seen.channel).await? {
            let channel = Arc::new(channel);
            engine.directory().update(Arc::clone(&channel));
            if channel.connection.status == Status::Connecting {
                engine.directory().wake(&channel);
            }
        }
    }
    Ok(now)
}
