//! The shell of a channel: an actor that passes events to its machine, and carries out the machine's effects.
//!
//! It decides nothing. Its mailbox is never blocked: the provider, the ledger and the store are called in
//! [tasks](tasks) whose results come back here.

mod connector;
mod description;
mod effects;
mod figures;
mod gate;
mod handle;
mod loading;
mod messages;
mod people;
mod questions;
mod tasks;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix::prelude::*;
use futures_channel::mpsc;
use futures_util::StreamExt as _;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use tokio::sync::oneshot;

use self::connector::Connector;
pub(crate) use self::connector::connector;
use self::description::Descriptions;
use self::figures::Figures;
pub(crate) use self::gate::Gate;
pub(crate) use self::handle::{Handle, ToChannel};
pub(crate) use self::messages::{AskPace, Explain, LookAhead, MarkRead, Release, Stop};
use self::people::People;
use super::machine::{Answer, Answered, Caller, Effects, Input, Machine, Moment, Present};
use crate::channel::load::Shown;
use crate::ledger::Arrived;
use crate::mailbox::{Passed, Queued};
use crate::shared::Shared;
use clock::Timestamp;
use connectors::cloud_api::Connections;
use domain::channel::Channel;

/// The most messages that wait for the actor.
const MAILBOX: usize = 1024;

thread_local! {
    /// The buffer of effects, one for all channels of a thread. It is empty between two inputs.
    static EFFECTS: Cell<Effects> = Cell::default();
}

struct Shell {
    shared: Arc<Shared>,
    connections: Connections,
    machine: Machine,
    rng: SmallRng,
    /// Publishes the channel's state to callers that want to send.
    gate: Gate,
    /// Publishes the numbers of messages in memory.
    shown: Arc<Shown>,
    connector: Option<Connector>,
    /// The generation of the connector that the machine requested last.
    generation: u64,
    /// The machine's one timer.
    timer: Option<SpawnHandle>,
    /// Callers that wait for the machine's answer.
    callers: HashMap<Caller, oneshot::Sender<Answer>>,
    last_caller: u64,
    /// Boxed, because the queue reserves room for one even while the channel is idle.
    answers: mpsc::UnboundedSender<Box<Answered>>,
    /// Taken when the actor starts.
    answered: Option<mpsc::UnboundedReceiver<Box<Answered>>>,
    figures: Figures,
    descriptions: Rc<Descriptions>,
    /// Recipients of messages with contact fields; `None` until the first such message.
    people: Option<Box<People>>,
}

/// Both clocks as they are now.
fn moment() -> Moment {
    Moment { monotonic: Instant::now(), wall: Timestamp::now() }
}

impl Shell {
    fn new(
        shared: Arc<Shared>,
        connections: Connections,
        channel: Arc<Channel>,
        (gate, shown): (Gate, Arc<Shown>),
    ) -> Self {
        let recent = shared.activity.of(channel.id, channel.company_id);
        let (answers, answered) = mpsc::unbounded();
        let mut rng = SmallRng::from_rng(&mut rand::rng());
        Self {
            machine: Machine::new(Arc::clone(&shared.common), channel, moment(), &mut rng),
            shared,
            connections,
            rng,
            gate,
            shown,
            connector: None,
            generation: 0,
            timer: None,
            callers: HashMap::new(),
            last_caller: 0,
            answers,
            answered: Some(answered),
            figures: Figures::new(recent),
            descriptions: Rc::default(),
            people: None,
        }
    }

    /// Passes the machine an input, and carries out its effects.
    fn feed(&mut self, input: Input, ctx: &mut Context<Self>) {
        let mut effects = EFFECTS.take();
        let at = moment();
        self.machine.handle(input, at, &mut self.rng, &mut effects);
        self.shown.show(self.machine.backlog(), Present::of(&self.machine, at.monotonic));
        self.carry_out(&mut effects, ctx);
        EFFECTS.set(effects);
    }

    /// Passes the machine the input of a caller that waits for its answer.
    fn ask(
        &mut self,
        input: impl FnOnce(Caller) -> Input,
        ctx: &mut Context<Self>,
    ) -> oneshot::Receiver<Answer> {
        self.last_caller += 1;
        let (caller, (tell, told)) = (Caller(self.last_caller), oneshot::channel());
        self.callers.insert(caller, tell);
        self.feed(input(caller), ctx);
        told
    }
}

impl Actor for Shell {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX);
        if let Some(answered) = self.answered.take() {
            ctx.add_stream(answered.map(|answer| *answer));
        }
        self.feed(Input::Started, ctx);
    }
}

impl StreamHandler<Answered> for Shell {
    fn handle(&mut self, answered: Answered, ctx: &mut Context<Self>) {
        self.feed(Input::Answered(answered), ctx);
    }

    /// The stream ends with the actor.
    fn finished(&mut self, _: &mut Context<Self>) {}
}

impl Handler<Input> for Shell {
    type Result = ();

    fn handle(&mut self, input: Input, ctx: &mut Self::Context) {
        self.feed(input, ctx);
    }
}

impl Handler<Arrived> for Shell {
    type Result = ();

    fn handle(&mut self, Arrived { sends, is_late }: Arrived, ctx: &mut Self::Context) {
        self.feed(Input::Accepted { sends, is_late }, ctx);
    }
}

impl<M> Handler<Queued<M>> for Shell
where
    M: Message,
    Self: Handler<M>,
{
    type Result = Passed<M, <Self as Handler<M>>::Result>;

    fn handle(&mut self, queued: Queued<M>, ctx: &mut Self::Context) -> Self::Result {
        Passed::new(Handler::<M>::handle(self, queued.taken_up(), ctx))
    }
}
