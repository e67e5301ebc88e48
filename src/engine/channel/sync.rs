//! Keeping the templates of the channel's business account as the provider has them.
//!
//! On connecting, on a schedule, and when something said that they changed. Channels of one business account
//! take turns, so that the provider's budget for such questions (200 an hour, 5,000 with a registered number)
//! is hardly touched. While the provider is away, what is known stays.

use std::time::{Duration, Instant};

use actix::prelude::*;

use super::ChannelActor;
use crate::clock::Timestamp;
use crate::connector::Error;

/// However often it is asked for, no sooner than this after the last one.
const LEAST_DISTANCE: Duration = Duration::from_secs(60);

/// The templates may have changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct SyncTemplates;

impl ChannelActor {
    /// Asks for the templates when that is due, and sees to the next time.
    pub(super) fn sync_templates(&mut self, ctx: &mut Context<Self>) {
        let interval = self.shared.cloud_api.template_sync_interval;
        if interval.is_zero() {
            return;
        }
        self.sync_templates_after(interval, ctx);
        let generation = self.link.generation();
        ctx.run_later(interval, move |actor, ctx| {
            if generation == actor.link.generation() {
                actor.sync_templates(ctx);
            }
        });
    }

    /// Asks for the templates, unless that was done just now.
    pub(super) fn sync_templates_soon(&self, ctx: &mut Context<Self>) {
        self.sync_templates_after(LEAST_DISTANCE, ctx);
    }

    /// Asks for the templates unless some channel of the business account did within `distance`.
    fn sync_templates_after(&self, distance: Duration, ctx: &mut Context<Self>) {
        let connector = self.link.connector().and_then(|connector| connector.cloud_api());
        let (Some(connector), Some(waba_id)) = (connector, self.channel.waba_id.clone()) else {
            return;
        };
        let account = (self.channel.company_id, waba_id);
        let now = Instant::now();
        let mut last = self.shared.synchronised.entry(account.clone()).or_insert(None);
        if let Some(wait) = last.and_then(|last| distance.checked_sub(now.duration_since(last))) {
            if distance == LEAST_DISTANCE {
                ctx.run_later(wait, |actor, ctx| actor.sync_templates_soon(ctx));
            }
            return;
        }
        *last = Some(now);
        drop(last);
        let (store, turn) = (self.shared.store.clone(), self.shared.questions.turn(now));
        async move {
            actix::clock::sleep(turn).await;
            // What a webhook says meanwhile is newer than the list.
            let as_of = Timestamp::now();
            // Boxed, so that thousands that wait for their turn are small.
            let listed = Box::pin(connector.templates()).await?;
            let count = listed.len();
            let stored = Box::pin(store.sync_templates_as_of(account.0, &account.1, &listed, as_of)).await;
            Ok::<_, Error>((count, stored))
        }
        .into_actor(self)
        .map(|result, actor, _| match result {
            Ok((count, Ok(()))) => {
                tracing::debug!(channel.id = %actor.channel.id, templates = count, "the templates are up to date");
            }
            Ok((_, Err(error))) => {
                tracing::warn!(channel.id = %actor.channel.id, %error, "the templates were not written");
            }
            Err(error) => {
                tracing::warn!(channel.id = %actor.channel.id, %error, "the templates cannot be had, those known stay");
            }
        })
        .spawn(ctx);
    }
}

impl Handler<SyncTemplates> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: SyncTemplates, ctx: &mut Self::Context) {
        self.sync_templates_soon(ctx);
    }
}
