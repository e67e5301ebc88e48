//! The start of a machine, and changes of its tier.

use std::sync::Arc;

use rand::{Rng, RngExt as _};

use super::admission::Admission;
use super::ahead::Ahead;
use super::arrivals::ReleasedEarly;
use super::connection::Link;
use super::control::Ending;
use super::history::History;
use super::lanes::{Bounds, Lanes};
use super::limiter::Limiter;
use super::moment::Step;
use super::outbox::Outbox;
use super::pause::Pause;
use super::permits::Flight;
use super::probe::level;
use super::queue::Queue;
use super::recipient_pacing::RecipientPacing;
use super::retries::Retries;
use super::templates::{self, Templates};
use super::timer::Timer;
use super::unknown::Unknowns;
use super::{Effect, Life, Machine, Moment};
use crate::contacts::people::PeopleOf;
use crate::shared::Common;
use domain::channel::{Channel, Level};

impl Machine {
    /// A machine that knows only its channel's record. Its first input is [`Input::Started`](super::Input::Started).
    pub(crate) fn new(common: Arc<Common>, channel: Arc<Channel>, at: Moment, rng: &mut impl Rng) -> Self {
        let tier = common.tiers.of(&channel);
        let now = at.monotonic;
        let ahead = Ahead::new(&tier, common.engine.in_flight, now);
        let bounds = Bounds {
            direct: common.engine.direct_lane,
            bulk: common.engine.active_bulk_sends,
            deferred: common.engine.deferred,
            ahead: ahead.messages(now),
        };
        Self {
            account: Box::new(common.accounts.member(&channel, at)),
            link: Link::new(channel.kind, channel.connection.clone(), channel.trial),
            limiter: Limiter::new(&tier, level(&channel, None).map(Level::rate), now),
            recipient_pacing: RecipientPacing::new(&tier)
                .of(PeopleOf::new(Arc::clone(&common.people), channel.company_id)),
            pause: Pause::default(),
            ahead,
            history: History::new(now),
            admission: Admission::default(),
            templates: Templates::new(templates::quota(&tier, &channel, at.wall)),
            lanes: Lanes::new(bounds),
            queue: Queue::new(now, rng.random()),
            released_early: ReleasedEarly::default(),
            outbox: Outbox::default(),
            ending: Ending::default(),
            flight: Flight::new(Arc::clone(&common.permits), common.engine.total_in_flight),
            unknowns: Unknowns::default(),
            held: None,
            retries: Retries::default(),
            timer: Timer::default(),
            life: Life::Running,
            common,
            channel,
            tier,
        }
    }

    /// Publishes the channel's state, and continues from the store.
    pub(super) fn start(&mut self, step: &mut Step<'_>) {
        step.push(Effect::Publish(self.link.connection().clone()));
        self.connect(step);
        self.pump(step);
    }

    /// Takes over the channel's tier and its level at the provider.
    pub(super) fn retune(&mut self, step: &mut Step<'_>) {
        let tier = self.common.tiers.of(&self.channel);
        let level = self.level().map(Level::rate);
        self.limiter.retune(&tier, level, step.now());
        if tier == self.tier {
            return;
        }
        tracing::info!(
            channel.id = %self.channel.id, channel.name = %self.channel.name,
            tier = %tier.name,
            messages_per_second = %tier.messages_per_second,
            "the channel's tier changed"
        );
        self.recipient_pacing.retune(&tier);
        self.ahead.retune(&tier);
        self.tune_ahead(step);
        self.tier = tier;
        self.take_quota(step);
    }
}
