//! The channel actor: the only dispatcher of one channel.
//!
//! It owns the state of the connection, the limiter, the lanes and what is in flight, and nothing that must
//! survive: sends and outcomes are in the store, and a new actor goes on from there. Its mailbox is never
//! held up: the provider, the ledger and the store are asked in tasks whose results come back here.
//!
//! The parts are plain: [`lanes`] and [`work`] decide what goes next, [`limiter`] when, [`retry`] what is
//! tried again, [`connection`] what an answer means for the channel. This file carries out.

mod connection;
mod dispatch;
mod gate;
mod heard;
mod lanes;
mod limiter;
mod loading;
mod outbox;
mod retry;
mod work;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::connection::Link;
use self::dispatch::{Answered, Figures};
pub(crate) use self::gate::Gate;
pub(crate) use self::heard::{Heard, Recheck, Troubled};
use self::lanes::{Bounds, Lanes};
use self::limiter::Limiter;
use self::outbox::Outbox;
use super::ledger::{Arrived, Record};
use super::shared::Shared;
use crate::connector::cloud_api::{CloudApi, Connections};
use crate::domain::channel::Channel;
use crate::domain::send::{Mark, Recipients};
use crate::domain::tier::Tier;
use crate::store::send::Size;

/// How long a failed read of the store is let be.
const STORE_PAUSE: Duration = Duration::from_secs(1);
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
    lanes: Lanes,
    outbox: Outbox,
    /// A record is being written.
    recording: bool,
    /// The store is being read.
    fetching: bool,
    /// Sends that finished while the store was being read: what was read of them is out of date.
    finished_meanwhile: HashSet<Uuid>,
    /// Sends that cannot be read.
    broken: Vec<Uuid>,
    /// Requests to the provider under way.
    requests: usize,
    /// Messages started whose outcome is not durable yet.
    in_flight: usize,
    /// The provider takes nothing before this moment.
    paused_until: Option<Instant>,
    /// How often in a row it took nothing.
    pauses: u32,
    /// The timer that goes on with dispatching, and when it fires.
    wake: Option<(Instant, SpawnHandle)>,
    /// Who waits for the stop.
    stopping: Option<Vec<oneshot::Sender<()>>>,
    answers: mpsc::UnboundedSender<Answered>,
    /// Taken when the actor starts.
    answered: Option<mpsc::UnboundedReceiver<Answered>>,
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
        let (answers, answered) = mpsc::unbounded_channel();
        let bounds = Bounds {
            direct: shared.engine.direct_lane,
            bulk: shared.engine.active_bulk_sends,
            deferred: shared.engine.deferred,
            ahead: ahead(&tier, shared.engine.in_flight),
        };
        Self {
            limiter: Limiter::new(&tier),
            link: Link::new(channel.connection.clone(), gate),
            lanes: Lanes::new(bounds),
            shared,
            connections,
            channel,
            tier,
            outbox: Outbox::default(),
            recording: false,
            fetching: false,
            finished_meanwhile: HashSet::new(),
            broken: Vec::new(),
            requests: 0,
            in_flight: 0,
            paused_until: None,
            pauses: 0,
            wake: None,
            stopping: None,
            answers,
            answered: Some(answered),
            figures: Figures::new(),
        }
    }

    /// Takes up the channel's tier as it is now.
    fn retune(&mut self) {
        let tier = self.shared.tiers.find(&self.channel.tier);
        if tier != self.tier {
            tracing::info!(channel.id = %self.channel.id, tier = %tier.name, rate = %tier.messages_per_second, "changed pace");
            self.limiter = Limiter::new(&tier);
            self.lanes.set_ahead(ahead(&tier, self.shared.engine.in_flight));
            self.tier = tier;
        }
    }

    /// Writes outcomes and marks, unless a record is under way: what comes meanwhile goes with the next.
    fn record(&mut self, ctx: &mut Context<Self>) {
        if self.recording {
            return;
        }
        if self.stopping.is_none() && self.link.connector().is_some() {
            self.lanes.reserve_ahead();
        }
        if self.outbox.is_empty() && !self.lanes.has_marks() {
            return;
        }
        self.recording = true;
        let marks = self.lanes.marks();
        let (outcomes, settled) = self.outbox.take();
        let write = self.shared.ledger.send(Record { outcomes, marks: marks.clone(), ..Record::default() });
        write
            .into_actor(self)
            .map(move |result, actor, ctx| match result {
                Ok(Ok(gone)) => {
                    actor.lanes.forget(&gone);
                    actor.recorded(&marks, settled, ctx);
                }
                // The ledger said why; nothing more can be written, so nothing more is sent.
                Ok(Err(_)) | Err(_) => ctx.stop(),
            })
            .spawn(ctx);
    }

    fn recorded(&mut self, marks: &[Mark], settled: usize, ctx: &mut Context<Self>) {
        self.recording = false;
        self.in_flight -= settled;
        let finished = self.lanes.written(marks);
        if self.fetching {
            self.finished_meanwhile.extend(finished);
        }
        self.pump(ctx);
    }

    /// Reads sends from the store while it holds some that are not here and there is room.
    fn fetch(&mut self, ctx: &mut Context<Self>) {
        if self.fetching || self.stopping.is_some() {
            return;
        }
        let wanted = [Size::Direct, Size::Bulk].map(|size| (size, self.lanes.room(size)));
        let Some((size, Some(room))) = wanted.into_iter().find(|(_, room)| room.is_some()) else { return };
        self.fetching = true;
        self.lanes.look(size);
        let mut held = self.lanes.held(size);
        held.extend(&self.broken);
        loading::fetch(self.shared.store.clone(), self.channel.id, size, held, room)
            .into_actor(self)
            .map(move |result, actor, ctx| {
                let finished = std::mem::take(&mut actor.finished_meanwhile);
                match result {
                    Ok(loading::Fetched { found, broken, all }) => {
                        actor.fetching = false;
                        actor.broken.extend(broken);
                        let found = found.into_iter().filter(|found| !finished.contains(&found.work.id));
                        actor.restore(found.collect());
                        if all {
                            actor.lanes.caught_up(size);
                        }
                        actor.pump(ctx);
                    }
                    Err(error) => {
                        tracing::error!(channel.id = %actor.channel.id, %error, "reading the queue failed");
                        ctx.run_later(STORE_PAUSE, |actor, ctx| {
                            actor.fetching = false;
                            actor.pump(ctx);
                        });
                    }
                }
            })
            .spawn(ctx);
    }

    /// Reads the recipients that bulk sends need next.
    fn load(&mut self, ctx: &mut Context<Self>) {
        for (send_id, ordinal) in self.lanes.loads() {
            let store = self.shared.store.clone();
            async move { loading::numbers_from(&store, send_id, ordinal).await }
                .into_actor(self)
                .map(move |result, actor, ctx| match result {
                    Ok((from, numbers)) => {
                        actor.lanes.loaded(send_id, from, &numbers);
                        actor.pump(ctx);
                    }
                    Err(error) if !error.is_passing() => {
                        tracing::error!(send.id = %send_id, %error, "the send's recipients cannot be read, it is left out");
                        actor.lanes.forget(&[send_id]);
                        actor.broken.push(send_id);
                    }
                    Err(error) => {
                        tracing::error!(send.id = %send_id, %error, "reading recipients failed");
                        ctx.run_later(STORE_PAUSE, move |actor, ctx| {
                            actor.lanes.loaded(send_id, ordinal, &[]);
                            actor.pump(ctx);
                        });
                    }
                })
                .spawn(ctx);
        }
    }
}

impl Actor for ChannelActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX);
        if let Some(mut answered) = self.answered.take() {
            ctx.add_stream(futures_util::stream::poll_fn(move |task| answered.poll_recv(task)));
        }
        self.connect(ctx);
        self.pump(ctx);
    }
}

impl Handler<Arrived> for ChannelActor {
    type Result = ();

    fn handle(&mut self, arrived: Arrived, ctx: &mut Self::Context) {
        for send in &arrived.0 {
            let size = match send.recipients {
                Recipients::One(_) => Size::Direct,
                Recipients::Blocks(_) => Size::Bulk,
            };
            if self.stopping.is_none() && self.lanes.admits(size) {
                self.lanes.add(loading::begin(send));
            }
        }
        self.pump(ctx);
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

/// How many messages of each lane are reserved ahead: a quarter of a second's worth, so that a crash
/// leaves few of them in doubt, and never more than may be in flight.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive, and an unlimited one saturates and is then bounded"
)]
fn ahead(tier: &Tier, in_flight: usize) -> u64 {
    ((tier.messages_per_second.per_second() / 4.0) as u64).clamp(16.min(in_flight as u64), in_flight as u64)
}

/// A connector that tasks share.
type Connector = Rc<CloudApi>;
