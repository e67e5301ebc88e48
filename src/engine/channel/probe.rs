//! Asking the provider how the channel is: at first until it confirms it, then now and then; and while it is
//! disconnected or blocked, whether it can send again, ever more seldom.

use std::time::{Duration, Instant};

use actix::prelude::*;

use super::ChannelActor;
use crate::connector::{Disposition, Health};
use crate::domain::channel::{Number, Status};

/// How often the provider is asked about a channel that it has not confirmed yet.
const UNCONFIRMED: Duration = Duration::from_secs(30);
/// The first and the longest wait before a channel that cannot send is asked about again.
const REFUSED: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(30 * 60));

impl ChannelActor {
    /// Asks at once when the provider has not confirmed the channel or has not said how fast it may send; a
    /// while later otherwise.
    pub(super) fn begin_probing(&mut self, ctx: &mut Context<Self>) {
        let is_known = self.link.status() == Status::Connected && self.channel.level.is_some();
        if is_known || !self.link.accepts() {
            self.probe_later(ctx);
        } else {
            self.probe(ctx);
        }
        if self.link.status() == Status::Connected {
            self.sync_templates(ctx);
        }
    }

    fn probe_later(&mut self, ctx: &mut Context<Self>) {
        let wait = match self.link.status() {
            Status::Connected => self.shared.cloud_api.probe_interval,
            Status::Connecting | Status::Pairing => UNCONFIRMED,
            Status::Disconnected | Status::Blocked => {
                let (first, longest) = REFUSED;
                first.saturating_mul(1 << self.link.refusals.min(10)).min(longest)
            }
        };
        // Many channels that began together do not ask together.
        let wait = wait.mul_f64(0.75 + rand::random::<f64>() / 4.0);
        let timer = ctx.run_later(wait, |actor, ctx| {
            actor.link.probe = None;
            actor.probe(ctx);
        });
        if let Some(earlier) = self.link.probe.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }

    pub(super) fn probe(&mut self, ctx: &mut Context<Self>) {
        let Some(connector) = self.link.questioner() else { return };
        let generation = self.link.generation();
        let turn = self.shared.questions.turn(Instant::now());
        async move {
            actix::clock::sleep(turn).await;
            // Boxed, so that thousands that wait for their turn are small.
            Box::pin(connector.health()).await
        }
        .into_actor(self)
        .map(move |health, actor, ctx| {
            if generation == actor.link.generation() {
                actor.diagnose(health, ctx);
                actor.probe_later(ctx);
                actor.pump(ctx);
            }
        })
        .spawn(ctx);
    }

    fn diagnose(&mut self, health: Health, ctx: &mut Context<Self>) {
        match health {
            Health::Healthy(number) => {
                self.link.refusals = 0;
                self.recover(ctx);
                self.note_number(number);
            }
            Health::Refused(disposition @ (Disposition::Disconnect | Disposition::Block), failure) => {
                self.link.refusals = self.link.refusals.saturating_add(1);
                self.disconnect(disposition, &failure, ctx);
            }
            Health::Refused(_, failure) | Health::Unknown(failure) => {
                tracing::debug!(channel.id = %self.channel.id, reason = failure.sentence, "the provider does not say how the channel is");
            }
        }
    }

    /// Keeps what the provider says of the number; the new record comes back by way of the store.
    fn note_number(&self, number: Number) {
        let (store, id) = (self.shared.store.clone(), self.channel.id);
        actix::spawn(async move {
            if let Err(error) = store.set_channel_number(id, number).await {
                tracing::debug!(channel.id = %id, %error, "the number's description was not written");
            }
        });
    }
}
