//! The ledger actor: all writes of sends and outcomes, many callers to one commit.
//!
//! It decides nothing: the [`machine`] says what is written when, and who is told. The actor passes requests and the
//! database's answers to the machine, and carries out its effects.

mod callers;
mod intake;
mod listeners;
pub(super) mod machine;
mod message;

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use metrics::{Counter, Gauge, Histogram};
use tokio::sync::watch;
use uuid::Uuid;

use self::callers::Callers;
pub(crate) use self::listeners::Listeners;
use self::machine::{Commit, Effect, Effects, Failure, Figure, Input, Machine};
pub use self::message::Claim;
pub(crate) use self::message::{
    Accept, AcceptedSend, Activate, Arrived, Close, Condition, Error, Extend, Hear, Order, Parts, Record,
    Withdraw, Written,
};
use super::machine::Moment;
use super::traces;
use clock::Timestamp;
use store::ledger::Terms;
use store::{Lease, Store};
use telemetry::trace;

struct Figures {
    commits: Histogram,
    rows: Counter,
    failures: Counter,
    unknown_send: Counter,
    never_attempted: Counter,
    in_doubt: Gauge,
    queue: Gauge,
    open_rows: Gauge,
}

pub(crate) struct Ledger {
    machine: Machine,
    /// Empty between inputs.
    effects: Effects,
    callers: Callers,
    listeners: Arc<Listeners>,
    store: Store,
    lease: Arc<Lease>,
    /// A commit that takes longer is abandoned and retried: the database does not answer.
    patience: Duration,
    /// The most messages that wait for the actor.
    capacity: usize,
    condition: watch::Sender<Condition>,
    /// The timer that wakes the machine.
    timer: Option<SpawnHandle>,
    figures: Figures,
}

impl Ledger {
    /// Writes to `store` while this process has the `lease`. The pair bounds the time of a commit and the number of
    /// waiting sends.
    pub(crate) fn new(
        store: Store,
        lease: Arc<Lease>,
        (patience, capacity): (Duration, usize),
        listeners: Arc<Listeners>,
        condition: watch::Sender<Condition>,
    ) -> Self {
        let figures = Figures {
            commits: metrics::histogram!("pombo_ledger_commit_seconds"),
            rows: metrics::counter!("pombo_ledger_rows_total"),
            failures: metrics::counter!("pombo_ledger_failures_total"),
            unknown_send: metrics::counter!("pombo_receipts_ignored_total", "reason" => "unknown_send"),
            never_attempted: metrics::counter!("pombo_receipts_ignored_total", "reason" => "never_attempted"),
            in_doubt: metrics::gauge!("pombo_ledger_in_doubt"),
            queue: metrics::gauge!("pombo_ledger_queue"),
            open_rows: metrics::gauge!("pombo_ledger_open_rows"),
        };
        Self {
            machine: Machine::new(capacity),
            effects: Effects::default(),
            callers: Callers::default(),
            listeners,
            store,
            lease,
            patience,
            capacity,
            condition,
            timer: None,
            figures,
        }
    }

    /// Passes an input to the machine, and carries out its effects.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn take_up(&mut self, input: Input, ctx: &mut Context<Self>) {
        let mut effects = mem::take(&mut self.effects);
        let at = Moment { monotonic: Instant::now(), wall: Timestamp::now() };
        self.machine.handle(input, at, &mut effects);
        for effect in effects.drain() {
            self.carry_out(effect, ctx);
        }
        self.effects = effects;
        self.figures.queue.set(self.callers.len() as f64);
        self.figures.open_rows.set(self.machine.open_rows() as f64);
    }

    fn carry_out(&mut self, effect: Effect, ctx: &mut Context<Self>) {
        match effect {
            Effect::Gather => {
                let gathered = tokio::task::yield_now().into_actor(self);
                gathered.map(|(), ledger, ctx| ledger.take_up(Input::Gathered, ctx)).spawn(ctx);
            }
            Effect::Commit(commit) => self.commit(commit, ctx),
            Effect::Settle(sends) => self.settle(sends, ctx),
            Effect::Tell { channel_id, arrived } => {
                arrived.trace();
                self.listeners.tell(channel_id, arrived);
            }
            Effect::Reply(caller, answer) => self.callers.answer(caller, answer),
            Effect::Show(condition) => {
                self.condition.send_replace(condition);
            }
            Effect::WakeAt(at) => self.wake_at(at, ctx),
            Effect::Note(figure) => self.note(figure),
            Effect::End => ctx.stop(),
        }
    }

    fn commit(&self, commit: Commit, ctx: &mut Context<Self>) {
        let Commit { batch, in_one_statement } = commit;
        let terms = Terms { patience: self.patience, in_one_statement };
        let (store, lease) = (self.store.clone(), Arc::clone(&self.lease));
        async move {
            let begun = trace::begin();
            let result = store.ledger().commit_on(terms, &lease, &batch, Timestamp::now()).await;
            let result = result.map_err(Failure::from);
            traces::committed(begun, &batch, result.as_ref().err().map(|failure| failure.cause.as_str()));
            (batch, result)
        }
        .into_actor(self)
        .map(|(batch, result), ledger, ctx| ledger.take_up(Input::Written { batch, result }, ctx))
        .spawn(ctx);
    }

    fn settle(&self, sends: Vec<Uuid>, ctx: &mut Context<Self>) {
        let (store, patience) = (self.store.clone(), self.patience);
        async move {
            let result = store.ledger().settle(&sends, Timestamp::now(), patience).await;
            (sends, result.map_err(Failure::from))
        }
        .into_actor(self)
        .map(|(sends, result), ledger, ctx| ledger.take_up(Input::Settled { sends, result }, ctx))
        .spawn(ctx);
    }

    fn wake_at(&mut self, at: Instant, ctx: &mut Context<Self>) {
        if let Some(earlier) = self.timer.take() {
            ctx.cancel_future(earlier);
        }
        let wait = at.saturating_duration_since(Instant::now());
        self.timer = Some(ctx.run_later(wait, |ledger, ctx| {
            ledger.timer = None;
            ledger.take_up(Input::Timer, ctx);
        }));
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn note(&self, figure: Figure) {
        let figures = &self.figures;
        match figure {
            Figure::Took(time) => figures.commits.record(time),
            Figure::Rows(rows) => figures.rows.increment(rows),
            Figure::Failed => figures.failures.increment(1),
            Figure::UnknownSend(receipts) => figures.unknown_send.increment(receipts),
            Figure::NeverAttempted(receipts) => figures.never_attempted.increment(receipts),
            Figure::InDoubt(sends) => figures.in_doubt.set(sends as f64),
            Figure::RefusedRow { row, then } => {
                metrics::counter!("pombo_ledger_refused_rows_total", "row" => row, "then" => then)
                    .increment(1);
            }
        }
    }
}

impl Actor for Ledger {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.capacity);
    }
}
