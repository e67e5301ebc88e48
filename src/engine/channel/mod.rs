//! The channel actor: the only dispatcher of one channel.
//!
//! It owns the state of the connection, the limiter, the lanes and what is in flight, and nothing that must
//! survive: sends and outcomes are in the store, and a new actor goes on from there. Its mailbox is never
//! held up: the provider, the ledger and the store are asked in tasks whose results come back here.
//!
//! The parts are plain: [`lanes`] and [`work`] decide what goes next, [`limiter`] when, [`retry`] what is
//! tried again. [`dispatch`] starts messages, [`answer`] carries out what their answers mean, [`hold`] what
//! holds them, [`doubt`] what nobody knows, [`connection`] what an answer means for the channel, and [`canary`] which
//! message opens it again after a refusal. A web session
//! has a [`rhythm`] besides, and [`admission`] lets messages in that somebody waits for.

mod admission;
mod ahead;
mod answer;
mod arrivals;
mod canary;
mod connection;
mod connector;
mod control;
mod counted;
mod dispatch;
mod doubt;
mod explain;
mod figures;
mod gate;
mod heard;
mod history;
mod hold;
mod lane;
mod lanes;
mod limiter;
mod loading;
mod outbox;
mod pairs;
mod pause;
mod places;
mod probe;
mod queue;
mod retry;
mod rhythm;
mod settled;
mod trial;
mod waiting;
mod work;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::admission::Asked;
pub(crate) use self::admission::{Admit, PAIR_SENTENCE};
use self::ahead::Ahead;
use self::answer::Answered;
use self::arrivals::ReleasedEarly;
use self::connection::Link;
pub(crate) use self::connection::connector;
use self::connector::Connector;
pub(crate) use self::control::{ClockWasSet, Look, Overlooked, Release, TemplatesChanged};
use self::counted::Counted;
use self::dispatch::Held;
pub(crate) use self::explain::{AskPace, Explain, LookAhead, Viewed};
use self::figures::Figures;
pub(crate) use self::gate::Gate;
pub(crate) use self::heard::{Heard, Recheck, Troubled};
use self::history::History;
use self::lanes::{Bounds, Lanes};
use self::limiter::Limiter;
use self::outbox::Outbox;
use self::pairs::Pairs;
use self::places::Places;
use self::probe::level;
use self::rhythm::Rhythm;
use self::work::{Leave, Ticket};
use super::quota::Member;
use super::shared::Shared;
use crate::clock::Timestamp;
use crate::connector::cloud_api::Connections;
use crate::domain::channel::{Channel, Level};
use crate::domain::message::Key;
use crate::domain::outlook::Reason;
use crate::domain::tier::Tier;

/// How long a failed read of the store is let be.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// How often the store is looked into without any occasion.
const LOOK_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// The most messages that wait for the actor.
const MAILBOX: usize = 1024;

/// The channel's record, or its tier, was changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Refresh(pub(crate) Arc<Channel>);

/// Start no more messages, wait for those in flight, write what is known. Answered when done.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;

/// See the module.
pub(crate) struct ChannelActor {
    shared: Arc<Shared>,
    connections: Connections,
    channel: Arc<Channel>,
    tier: Arc<Tier>,
    link: Link,
    limiter: Limiter,
    history: History,
    /// A permit of the limiter that no message used yet.
    has_permit: bool,
    pairs: Pairs,
    /// Of a web session, once it is known what it did lately.
    rhythm: Option<Rhythm>,
    /// Messages that ask to be let in before that is known.
    asked: Vec<Asked>,
    /// Who waits until the last mark of a send that is over is written.
    ending: HashMap<Uuid, Vec<oneshot::Sender<()>>>,
    /// The window of the business account's template recipients.
    quota: Member,
    /// Whether the window holds what was sent before this process began.
    quota_known: bool,
    /// It is being read.
    learning: bool,
    /// The quota is used up until then: who is new waits.
    templates_closed_until: Option<Timestamp>,
    /// Messages that the record under way announces.
    announcing: Vec<Ticket>,
    /// What the last look found that was for people who count already.
    counted: Counted,
    lanes: Lanes,
    /// How many messages of each lane are marked, or announced, ahead.
    ahead: Ahead,
    /// Sends that were released before they arrived.
    released_early: ReleasedEarly,
    outbox: Outbox,
    /// A record is being written.
    recording: bool,
    /// The store is being read.
    fetching: bool,
    /// Sends that ended or were let go while the store was being read: what was read of them is out of date.
    gone_meanwhile: HashSet<Uuid>,
    /// Sends that cannot be read.
    broken: Vec<Uuid>,
    /// Sends that the store was last said to hold; see [`Overlooked`].
    reported: [Option<Uuid>; 2],
    /// Requests to the provider under way.
    requests: usize,
    /// Messages started whose outcome is not durable yet.
    in_flight: usize,
    /// Its places among those of the process.
    places: Places,
    /// The provider takes nothing before this moment, and why.
    pause: Option<(Reason, Instant)>,
    /// Messages of which nobody knows since just now: a receipt may have been here before.
    unsure: Vec<Ticket>,
    /// The ledger is being asked about such messages.
    looking: bool,
    /// How often in a row it took nothing.
    pauses: u32,
    /// Messages of which the ledger must be asked whether a receipt came.
    doubts: Vec<Ticket>,
    /// The ledger is being asked.
    doubting: bool,
    /// Messages of which a receipt came while they were announced, looked up, or tried again.
    heard_of: HashSet<Key>,
    /// Templates that the provider does not let through, which the store does not know yet.
    held_templates: HashSet<i64>,
    /// A send that waits in the store is due then.
    next_look: Option<Timestamp>,
    /// Why no message started when that was last looked at.
    held: Option<Held>,
    /// The timer that goes on with dispatching, and when it fires.
    wake: Option<(Instant, SpawnHandle)>,
    /// Who waits for the stop.
    stopping: Option<Vec<oneshot::Sender<()>>>,
    /// Boxed, because the queue keeps room for some even while the channel is idle.
    answers: mpsc::UnboundedSender<Box<Answered>>,
    /// Taken when the actor starts.
    answered: Option<mpsc::UnboundedReceiver<Box<Answered>>>,
    figures: Figures,
}

impl ChannelActor {
    /// `gate` is where everybody may read the state that this actor keeps.
    pub(crate) fn new(
        shared: Arc<Shared>,
        connections: Connections,
        channel: Arc<Channel>,
        gate: Gate,
    ) -> Self {
        let tier = shared.tiers.find(&channel.tier);
        let recent = shared.activity.of(channel.id, channel.company_id);
        let (answers, answered) = mpsc::unbounded_channel();
        let ahead = Ahead::new(&tier, shared.engine.in_flight, Instant::now());
        let bounds = Bounds {
            direct: shared.engine.direct_lane,
            bulk: shared.engine.active_bulk_sends,
            deferred: shared.engine.deferred,
            ahead: ahead.messages(Instant::now()),
        };
        Self {
            limiter: Limiter::new(&tier, level(&channel, None).map(Level::rate), Instant::now()),
            history: History::new(Instant::now()),
            has_permit: false,
            pairs: Pairs::new(&tier),
            rhythm: None,
            asked: Vec::new(),
            ending: HashMap::new(),
            quota: shared.quotas.member(channel.waba_id.as_deref().unwrap_or_default(), channel.id),
            quota_known: false,
            learning: false,
            templates_closed_until: None,
            announcing: Vec::new(),
            counted: Counted::default(),
            link: Link::new(channel.connection.clone(), channel.trial, gate),
            lanes: Lanes::new(bounds),
            ahead,
            released_early: ReleasedEarly::default(),
            places: Places::new(Arc::clone(&shared.places), shared.engine.total_in_flight),
            shared,
            connections,
            channel,
            tier,
            outbox: Outbox::default(),
            recording: false,
            fetching: false,
            gone_meanwhile: HashSet::new(),
            broken: Vec::new(),
            reported: [None; 2],
            requests: 0,
            in_flight: 0,
            pause: None,
            pauses: 0,
            unsure: Vec::new(),
            looking: false,
            doubts: Vec::new(),
            doubting: false,
            heard_of: HashSet::new(),
            held_templates: HashSet::new(),
            next_look: None,
            held: None,
            wake: None,
            stopping: None,
            answers,
            answered: Some(answered),
            figures: Figures::new(recent),
        }
    }

    /// Takes up the channel's tier, and its level at the provider, as they are now.
    fn retune(&mut self) {
        let tier = self.shared.tiers.find(&self.channel.tier);
        let (level, now) = (self.level().map(Level::rate), Instant::now());
        self.limiter.retune(&tier, level, now);
        if tier == self.tier {
            return;
        }
        tracing::info!(channel.id = %self.channel.id, tier = %tier.name, rate = %tier.messages_per_second, "changed pace");
        self.pairs.retune(&tier);
        self.ahead.retune(&tier);
        self.tune_ahead(now);
        let is_new_quota = tier.template_quota != self.tier.template_quota;
        self.tier = tier;
        if is_new_quota {
            self.quota.mark(0);
            self.templates_closed_until = None;
            self.lanes.look_again();
            // What is not begun waits in the store until it is known how many people were written to.
            if !self.templates_may_go() {
                self.release(Leave::Held, |work| work.template.is_some());
            }
        }
    }

    /// Looks there without any occasion.
    fn look_into_store(&mut self, ctx: &mut Context<Self>) {
        self.reopen_templates();
        self.lanes.look_again();
        self.pump(ctx);
    }

    /// How many messages of each lane are marked, or announced, ahead: one while it has to open the channel.
    fn ahead(&self, now: Instant) -> u64 {
        if self.link.canary.is_half_open() { 1 } else { self.ahead.messages(now) }
    }

    /// Marks as many messages ahead as is right now.
    fn tune_ahead(&mut self, now: Instant) {
        self.lanes.set_ahead(self.ahead(now));
    }
}

impl Actor for ChannelActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX);
        if let Some(mut answered) = self.answered.take() {
            let unbox = |answer: Option<Box<Answered>>| answer.map(|answer| *answer);
            ctx.add_stream(futures_util::stream::poll_fn(move |task| answered.poll_recv(task).map(unbox)));
        }
        self.connect(ctx);
        self.pump(ctx);
        // Whatever was overlooked for whatever reason waits no longer than this. Channels that began together do
        // not look together.
        let first = LOOK_INTERVAL.mul_f64(rand::random::<f64>());
        ctx.run_later(first, |actor, ctx| {
            actor.look_into_store(ctx);
            ctx.run_interval(LOOK_INTERVAL, Self::look_into_store);
        });
    }
}

impl Handler<Refresh> for ChannelActor {
    type Result = ();

    fn handle(&mut self, refresh: Refresh, ctx: &mut Self::Context) {
        self.refresh(&refresh.0, ctx);
    }
}

impl Handler<Stop> for ChannelActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) -> Self::Result {
        let (done, stopped) = oneshot::channel();
        self.stopping.get_or_insert_default().push(done);
        self.pump(ctx);
        Box::pin(async move {
            let _ = stopped.await;
        })
    }
}
