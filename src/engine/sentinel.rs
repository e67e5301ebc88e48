//! The sentinel actor: sees what other processes changed, and wakes the channels concerned.
//!
//! It compares the store's revisions with those seen last. A tier, a channel or a key changed by the
//! command line while the service runs is in force within one interval.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::channel::{Release, TemplatesChanged};
use super::retention::Retention;
use super::wall_clock::{Jump, WallClock};
use super::{Engine, indexing};
use crate::clock::Timestamp;
use crate::domain::channel::{Kind, Status};
use crate::domain::send::State;
use crate::store::template::APPROVED;
use crate::store::{self, Revisions};

/// How often sends are looked for whose time is over.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(2);
/// Sends that are ended at once for that.
const EXPIRED_AT_ONCE: u32 = 500;

/// See the module.
pub(super) struct Sentinel {
    engine: Engine,
    interval: Duration,
    seen: Revisions,
    retention: Arc<Retention>,
    /// Whether the last look failed: said once, not at every look.
    blind: bool,
    clock: WallClock,
    /// The wall clock was set, and that was not taken up yet.
    jumped: Option<Jump>,
}

impl Sentinel {
    pub(super) fn new(
        engine: Engine,
        interval: Duration,
        seen: Revisions,
        retention: Arc<Retention>,
    ) -> Self {
        let clock = WallClock::new(Timestamp::now(), Instant::now());
        Self { engine, interval, seen, retention, blind: false, clock, jumped: None }
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

impl Sentinel {
    /// Lets everything that waits for a moment be looked at again when the wall clock was set.
    fn watch_clock(&mut self, ctx: &mut Context<Self>) {
        let (engine, jumped) = (self.engine.clone(), self.clock_jumped());
        async move {
            match jumped {
                Some(jump) => engine.clock_was_set(jump).await,
                None => Ok(()),
            }
        }
        .into_actor(self)
        .map(|result, sentinel, ctx| {
            match result {
                Ok(()) => sentinel.jumped = None,
                Err(error) => tracing::warn!(%error, "cannot mend yet what the wall clock's jump moved"),
            }
            ctx.run_later(sentinel.interval, Self::watch_clock);
        })
        .spawn(ctx);
    }

    /// How the wall clock was set since that was last taken up.
    fn clock_jumped(&mut self) -> Option<Jump> {
        let jump = self.clock.look(Timestamp::now(), Instant::now());
        match jump {
            Some(Jump::Forward(by)) => {
                tracing::warn!(seconds = by.as_secs_f64(), "the wall clock jumped forward");
            }
            Some(Jump::Back(by)) => tracing::warn!(seconds = by.as_secs_f64(), "the wall clock jumped back"),
            None => {}
        }
        // Of two jumps, the one that went back has more to mend.
        self.jumped = match (self.jumped, jump) {
            (Some(Jump::Back(by)), _) => Some(Jump::Back(by)),
            (earlier, jump) => jump.or(earlier),
        };
        self.jumped
    }

    /// Ends the sends whose time is over, wherever they wait.
    fn expire(&mut self, ctx: &mut Context<Self>) {
        let engine = self.engine.clone();
        async move {
            let expired = engine.store().expire_sends(Timestamp::now(), EXPIRED_AT_ONCE).await?;
            for (send_id, channel_id) in &expired {
                let release = Release { send_id: *send_id, over: Some(State::Expired) };
                engine.directory().ask(*channel_id, release).await;
            }
            Ok::<_, store::Error>(expired.len())
        }
        .into_actor(self)
        .map(|result, _, ctx| {
            match result {
                Ok(0) => {}
                Ok(sends) => tracing::info!(sends, "the time of sends is over"),
                Err(error) => tracing::debug!(%error, "cannot look for sends whose time is over"),
            }
            ctx.run_later(EXPIRY_INTERVAL, Self::expire);
        })
        .spawn(ctx);
    }

    /// Forgets what nobody needs any more.
    fn forget(&mut self, ctx: &mut Context<Self>) {
        let retention = Arc::clone(&self.retention);
        async move { retention.round().await }
            .into_actor(self)
            .map(|(), sentinel, ctx| {
                ctx.run_later(sentinel.retention.interval(), Self::forget);
            })
            .spawn(ctx);
    }
}

impl Actor for Sentinel {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.look(ctx);
        self.watch_clock(ctx);
        self.expire(ctx);
        self.forget(ctx);
        indexing::keep(self.engine.store().clone(), ctx);
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
    if now.template != seen.template {
        let mut accounts: HashMap<(Uuid, String), Vec<(i64, bool)>> = HashMap::new();
        for template in engine.store().templates_changed_since(seen.template).await? {
            let account = accounts.entry((template.company_id, template.waba_id)).or_default();
            account.push((template.id, template.status == APPROVED));
        }
        for ((company_id, waba_id), changed) in accounts {
            engine.directory().tell_account(company_id, &waba_id, || TemplatesChanged(changed.clone()));
        }
    }
    if now.tier != seen.tier {
        engine.load_tiers().await?;
        engine.directory().retune();
    }
    if now.channel != seen.channel {
        for channel in engine.store().channels_changed_since(seen.channel).await? {
            let channel = Arc::new(channel);
            engine.directory().update(Arc::clone(&channel));
            let is_asked = channel.kind == Kind::BusinessAccount;
            if is_asked && channel.connection.status == Status::Connecting {
                engine.directory().wake(&channel);
            }
        }
    }
    Ok(now)
}
