//! Asking the provider how the channel is: at first until it confirms it, then now and then; and while it is
//! disconnected or blocked, whether it can send again, ever more seldom.

use std::time::{Duration, Instant};

use actix::prelude::*;

use super::ChannelActor;
use crate::clock::Timestamp;
use crate::connector::{Disposition, Health};
use crate::domain::channel::{Channel, Kind, Level, Number, Status};

/// How often the provider is asked about a channel that it has not confirmed yet.
const UNCONFIRMED: Duration = Duration::from_secs(30);
/// The first and the longest wait before a channel that cannot send is asked about again.
const REFUSED: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(30 * 60));

/// News do not make the provider be asked again sooner than this.
const AFTER_NEWS: Duration = Duration::from_secs(1);

/// How fast the provider lets the channel's number send, if it said: now, or as the store knows.
pub(super) const fn level_said(channel: &Channel, said: Option<Level>) -> Option<Level> {
    if said.is_some() { said } else { channel.level }
}

/// How fast the number is taken to be: the level that most numbers have, while the provider has not said.
pub(super) fn level(channel: &Channel, said: Option<Level>) -> Option<Level> {
    let is_limited = channel.kind == Kind::BusinessAccount;
    is_limited.then(|| level_said(channel, said).unwrap_or(Level::Standard))
}

impl ChannelActor {
    /// How fast the provider lets the number send, or is taken to.
    pub(super) fn level(&self) -> Option<Level> {
        level(&self.channel, self.link.level)
    }

    /// Whether the provider said how fast the number may send.
    pub(super) fn is_level_known(&self) -> bool {
        level_said(&self.channel, self.link.level).is_some()
    }

    /// Asks at once when the provider has not confirmed the channel, has not said how fast it may send, or has news,
    /// and when a message that is to open the channel is due; a while later otherwise.
    pub(super) fn begin_probing(&mut self, ctx: &mut Context<Self>) {
        let is_known = self.link.status() == Status::Connected && self.is_level_known();
        let is_due = self.link.canary.due_in(Timestamp::now()).is_some_and(|wait| wait.is_zero());
        if self.link.has_news || is_due || (self.link.accepts() && !is_known) {
            self.probe(ctx);
        } else {
            self.probe_later(ctx);
        }
        self.report_to_template_sync();
    }

    pub(super) fn probe_later(&mut self, ctx: &mut Context<Self>) {
        let wait = match self.link.status() {
            Status::Connected if self.link.is_described || self.is_level_known() => {
                self.shared.cloud_api.probe_interval
            }
            Status::Connected | Status::Connecting | Status::Pairing => UNCONFIRMED,
            Status::Disconnected | Status::Blocked => {
                let (first, longest) = REFUSED;
                first.saturating_mul(1 << self.link.refusals.min(10)).min(longest)
            }
        };
        // Many channels that began together do not ask together.
        let wait = wait.mul_f64(0.75 + rand::random::<f64>() / 4.0);
        let wait = match self.link.canary.due_in(Timestamp::now()) {
            // Unless the number was described as one that cannot send, what is due decides.
            Some(due_in) if !self.link.accepts() && self.link.refusals == 0 => due_in.max(UNCONFIRMED),
            Some(due_in) if !self.link.accepts() => due_in.max(wait),
            Some(_) | None => wait,
        };
        self.probe_in(wait, ctx);
    }

    fn probe_in(&mut self, wait: Duration, ctx: &mut Context<Self>) {
        let timer = ctx.run_later(wait, |actor, ctx| {
            actor.link.probe = None;
            actor.probe(ctx);
        });
        if let Some(earlier) = self.link.probe.replace(timer) {
            ctx.cancel_future(earlier);
        }
    }

    /// The provider has news of the number: asks it, one question at a time.
    pub(super) fn take_up_news(&mut self, ctx: &mut Context<Self>) {
        self.link.has_news = true;
        if !self.link.probing {
            self.probe_for_news(ctx);
        }
    }

    fn probe_for_news(&mut self, ctx: &mut Context<Self>) {
        let since = self.link.probed_at.map(|at| at.elapsed());
        match since.and_then(|since| AFTER_NEWS.checked_sub(since)) {
            Some(wait) => self.probe_in(wait, ctx),
            None => self.probe(ctx),
        }
    }

    fn probe(&mut self, ctx: &mut Context<Self>) {
        if self.link.probing {
            return;
        }
        // Without a connector yet, the question is asked as soon as there is one.
        let Some(connector) = self.link.questioner() else { return };
        let is_news = std::mem::take(&mut self.link.has_news);
        let (generation, now) = (self.link.generation(), Instant::now());
        self.link.probing = true;
        self.link.probed_at = Some(now);
        let turn = self.shared.questions.turn(now);
        async move {
            actix::clock::sleep(turn).await;
            // Boxed, so that thousands that wait for their turn are small.
            Box::pin(connector.health()).await
        }
        .into_actor(self)
        .map(move |health, actor, ctx| {
            if generation == actor.link.generation() {
                actor.link.probing = false;
                actor.diagnose(health, is_news, ctx);
                if actor.link.has_news {
                    actor.probe_for_news(ctx);
                } else {
                    actor.probe_later(ctx);
                }
                actor.pump(ctx);
            }
        })
        .spawn(ctx);
    }

    fn diagnose(&mut self, health: Health, is_news: bool, ctx: &mut Context<Self>) {
        match health {
            Health::Healthy(number) => {
                self.link.refusals = 0;
                self.link.is_described = true;
                // First of all the pace: from the next line on messages may go.
                self.learn_level(number.level);
                self.recover(is_news, ctx);
                self.note_number(number);
            }
            Health::Refused(
                disposition @ (Disposition::Disconnect | Disposition::Block | Disposition::Restrict),
                failure,
            ) => {
                self.learn_level(None);
                self.link.refusals = self.link.refusals.saturating_add(1);
                self.shut(disposition, &failure, ctx);
            }
            Health::Refused(_, failure) | Health::Unknown(failure) => {
                self.learn_level(None);
                tracing::debug!(channel.id = %self.channel.id, reason = failure.sentence, "the provider does not say how the channel is");
            }
        }
    }

    fn learn_level(&mut self, level: Option<Level>) {
        self.link.learn_level(level);
        self.retune();
    }

    /// Keeps what the provider says of the number for the next process and for people.
    fn note_number(&self, number: Number) {
        let (store, id) = (self.shared.store.clone(), self.channel.id);
        actix::spawn(async move {
            if let Err(error) = store.set_channel_number(id, number).await {
                tracing::debug!(channel.id = %id, %error, "the number's description was not written");
            }
        });
    }
}
