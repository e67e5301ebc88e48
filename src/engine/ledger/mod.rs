//! The ledger actor: all writes of sends and outcomes, many callers to one commit.
//!
//! It holds the open batch. While one commit runs, whatever arrives joins the next; there is no timer to
//! wait for. A caller hears back when its part is durable. Outcomes are never given up: while the database
//! is away they wait here and are written first when it is back. A send that could not be written is
//! answered with an error at once, unless its commit may have gone through: then as soon as that is
//! [known](doubt). A row that the database refuses for ever is [set aside](apart), and the others are written.

mod apart;
mod doubt;
mod intake;
mod message;

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use metrics::{Counter, Histogram};
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use self::apart::Apart;
use self::doubt::{Doubtful, Doubts};
pub use self::message::Claim;
pub(crate) use self::message::{
    Accept, AcceptedSend, Activate, Arrived, Close, Condition, Error, Extend, Hear, Listener, Order, Record,
    Withdraw, Written,
};
use crate::clock::Timestamp;
use crate::store::ledger::{Batch, Committed, Ignored, Terms};
use crate::store::{self, Lease, Store};

/// The first and the longest wait before the database is tried again.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Who waits for a commit.
type Waiting<T> = oneshot::Sender<Result<T, Error>>;

/// What is to be written next, and who waits for it.
#[derive(Default)]
struct Open {
    batch: Batch,
    /// In the order of the batch's sends. The channel hears of those that count at once.
    accepts: Vec<Accepting>,
    extensions: Vec<(Uuid, Waiting<()>)>,
    activations: Vec<Activating>,
    records: Vec<Waiting<Written>>,
    hearings: Vec<Waiting<()>>,
    /// What a commit before found that wrote a part of the records.
    found: Committed,
}

struct Accepting {
    send: AcceptedSend,
    channel: Option<Listener>,
    waiting: Waiting<Uuid>,
}

struct Activating {
    send: AcceptedSend,
    channel: Listener,
    waiting: Waiting<()>,
}

struct Figures {
    commits: Histogram,
    rows: Counter,
    failures: Counter,
    unknown_send: Counter,
    never_attempted: Counter,
}

/// See the module.
pub(crate) struct Ledger {
    store: Store,
    lease: Arc<Lease>,
    /// A commit that takes longer is given up and tried again: the database does not answer.
    patience: Duration,
    /// The most sends that wait at once.
    capacity: usize,
    open: Open,
    busy: bool,
    doubts: Doubts,
    closed: bool,
    condition: watch::Sender<Condition>,
    failures: u32,
    /// Who waits for the end.
    closing: Option<oneshot::Sender<()>>,
    figures: Figures,
}

impl Ledger {
    pub(crate) fn new(
        store: Store,
        lease: Arc<Lease>,
        patience: Duration,
        capacity: usize,
        condition: watch::Sender<Condition>,
    ) -> Self {
        let figures = Figures {
            commits: metrics::histogram!("pombo_ledger_commit_seconds"),
            rows: metrics::counter!("pombo_ledger_rows_total"),
            failures: metrics::counter!("pombo_ledger_failures_total"),
            unknown_send: metrics::counter!("pombo_receipts_ignored_total", "reason" => "unknown_send"),
            never_attempted: metrics::counter!("pombo_receipts_ignored_total", "reason" => "never_attempted"),
        };
        Self {
            store,
            lease,
            patience,
            capacity,
            open: Open::default(),
            busy: false,
            doubts: Doubts::new(),
            closed: false,
            condition,
            failures: 0,
            closing: None,
            figures,
        }
    }

    /// Why nothing new can be taken now, if so.
    fn refusal(&self) -> Option<Error> {
        if self.closed {
            return Some(Error::Closed);
        }
        let Open { accepts, extensions, hearings, .. } = &self.open;
        let waiting = accepts.len() + extensions.len() + hearings.len() + self.doubts.len();
        let full = waiting >= self.capacity;
        full.then_some(Error::Unavailable)
    }

    /// Starts a commit, unless one runs or there is nothing to write.
    fn commit(&mut self, ctx: &mut Context<Self>) {
        if self.busy {
            return;
        }
        if self.open.batch.is_empty() {
            if self.doubts.is_empty()
                && let Some(waiting) = self.closing.take()
            {
                let _ = waiting.send(());
                ctx.stop();
            }
            return;
        }
        self.busy = true;
        // What other threads are just handing over goes with this commit instead of waiting for it.
        tokio::task::yield_now().into_actor(self).map(|(), ledger, ctx| ledger.write(ctx)).spawn(ctx);
    }

    fn write(&mut self, ctx: &mut Context<Self>) {
        let open = mem::take(&mut self.open);
        let (store, lease) = (self.store.clone(), Arc::clone(&self.lease));
        // Connections that broke together are found one after the other: only the first leaves something in doubt.
        let terms = Terms { patience: self.patience, in_one_statement: self.failures == 0 };
        let started = Instant::now();
        async move {
            let result = store.commit_on(terms, &lease, &open.batch, Timestamp::now()).await;
            (open, result)
        }
        .into_actor(self)
        .map(move |(open, result), ledger, ctx| {
            ledger.figures.commits.record(started.elapsed());
            match result {
                Ok(found) => ledger.committed(open, found, ctx),
                Err(error) if error.is_about_a_row() => ledger.write_apart(open, ctx),
                Err(error) => ledger.failed(open, &error, ctx),
            }
        })
        .spawn(ctx);
    }

    /// Writes all but the rows that the database refuses.
    fn write_apart(&mut self, mut open: Open, ctx: &mut Context<Self>) {
        self.figures.failures.increment(1);
        let (store, lease, patience) = (self.store.clone(), Arc::clone(&self.lease), self.patience);
        async move {
            let batch = mem::take(&mut open.batch);
            let apart = apart::write(&store, &lease, batch, patience).await;
            (open, apart)
        }
        .into_actor(self)
        .map(|(open, apart), ledger, ctx| ledger.written_apart(open, apart, ctx))
        .spawn(ctx);
    }

    fn written_apart(&mut self, mut open: Open, mut apart: Apart, ctx: &mut Context<Self>) {
        let left = apart.left_sends();
        let (records_left, hearings_left) = apart.leaves();
        let mut rest = Open::default();
        for (send_id, error) in mem::take(&mut apart.refused) {
            open.refuse(send_id, error);
        }
        rest.accepts = open.accepts.extract_if(.., |accepting| left.contains(&accepting.send.id)).collect();
        rest.extensions = open.extensions.extract_if(.., |(id, _)| left.contains(id)).collect();
        rest.activations =
            open.activations.extract_if(.., |activating| left.contains(&activating.send.id)).collect();
        if records_left {
            rest.records = mem::take(&mut open.records);
        }
        if hearings_left {
            rest.hearings = mem::take(&mut open.hearings);
        }
        let Some((batch, error)) = apart.left else { return self.committed(open, apart.found, ctx) };
        rest.batch = batch;
        if records_left {
            rest.found.add(mem::take(&mut open.found));
            rest.found.add(apart.found.clone());
        }
        self.answer(open, apart.found);
        self.failed(rest, &error, ctx);
    }

    fn committed(&mut self, open: Open, found: Committed, ctx: &mut Context<Self>) {
        if self.failures > 0 {
            tracing::info!(attempts = self.failures, "the database writes again");
            self.failures = 0;
            self.condition.send_replace(Condition::Writing);
        }
        self.answer(open, found);
        self.busy = false;
        self.commit(ctx);
    }

    /// Tells everybody that what they wait for is written.
    fn answer(&self, open: Open, found: Committed) {
        let mut all = open.found;
        all.add(found);
        let Committed { gone, overtaken, ignored: Ignored { unknown_send, never_attempted } } = all;
        let written = Written { gone, overtaken };
        self.figures.rows.increment((open.accepts.len() + open.batch.outcomes.len()) as u64);
        self.figures.unknown_send.increment(unknown_send);
        self.figures.never_attempted.increment(never_attempted);
        // Told before the client is answered: what the client asks next of its send finds it with its channel.
        let (mut arrived, mut accepted) = (HashMap::new(), Vec::with_capacity(open.accepts.len()));
        for Accepting { send, channel, waiting } in open.accepts {
            accepted.push((waiting, send.id));
            if let Some(channel) = channel {
                let (_, sends) =
                    arrived.entry(send.order.channel_id).or_insert_with(|| (channel, Vec::new()));
                sends.push(send);
            }
        }
        for (channel, sends) in arrived.into_values() {
            tell(&channel, Arrived { sends, is_late: false });
        }
        for Activating { send, channel, waiting } in open.activations {
            tell(&channel, Arrived { sends: vec![send], is_late: false });
            let _ = waiting.send(Ok(()));
        }
        for (waiting, id) in accepted {
            // Nobody may wait any more: the send is accepted all the same.
            let _ = waiting.send(Ok(id));
        }
        for (_, waiting) in open.extensions {
            let _ = waiting.send(Ok(()));
        }
        for waiting in open.records {
            let _ = waiting.send(Ok(written.clone()));
        }
        for waiting in open.hearings {
            let _ = waiting.send(Ok(()));
        }
    }

    fn failed(&mut self, open: Open, error: &store::Error, ctx: &mut Context<Self>) {
        self.figures.failures.increment(1);
        let passing = error.is_passing();
        if self.failures == 0 || !passing {
            tracing::error!(%error, "the ledger cannot be written");
        }
        self.failures += 1;
        self.closed |= matches!(error, store::Error::Fenced);
        let answer = if passing { Error::Unavailable } else { Error::Closed };
        let in_doubt = matches!(error, store::Error::InDoubt(_));
        for accepting in open.accepts {
            if in_doubt {
                self.doubts.add(accepting.send.id, Doubtful::Accept(accepting));
            } else {
                let _ = accepting.waiting.send(Err(answer));
            }
        }
        // The resolver withdraws what it was writing, which does not count without its activation.
        for (_, waiting) in open.extensions {
            let _ = waiting.send(Err(answer));
        }
        for activating in open.activations {
            if in_doubt {
                self.doubts.add(activating.send.id, Doubtful::Activate(activating));
            } else {
                let _ = activating.waiting.send(Err(answer));
            }
        }
        // The provider repeats what was not taken in; who is to be left out is kept all the same.
        for waiting in open.hearings {
            let _ = waiting.send(Err(answer));
        }
        self.settle(ctx);
        if self.closed {
            self.condition.send_replace(Condition::Fenced);
            // Whoever waits for what can no longer be written hears that the ledger is closed.
            self.open = Open::default();
            self.busy = false;
            self.commit(ctx);
            return;
        }
        self.condition.send_replace(Condition::Failing);
        // What the database must still learn goes first next time.
        self.open.batch.outcomes.splice(0..0, open.batch.outcomes);
        self.open.batch.marks.splice(0..0, open.batch.marks);
        self.open.batch.suppressions.splice(0..0, open.batch.suppressions);
        self.open.records.splice(0..0, open.records);
        self.open.found.add(open.found);
        ctx.run_later(backing_off(self.failures), |ledger, ctx| {
            ledger.busy = false;
            ledger.commit(ctx);
        });
    }
}

impl Open {
    /// Tells the callers of a send that a row of it is refused.
    fn refuse(&mut self, send_id: Uuid, error: Error) {
        for accepting in self.accepts.extract_if(.., |accepting| accepting.send.id == send_id) {
            let _ = accepting.waiting.send(Err(error));
        }
        for (_, waiting) in self.extensions.extract_if(.., |(id, _)| *id == send_id) {
            let _ = waiting.send(Err(error));
        }
        for activating in self.activations.extract_if(.., |activating| activating.send.id == send_id) {
            let _ = activating.waiting.send(Err(error));
        }
    }
}

/// How long to wait after so many failures.
fn backing_off(failures: u32) -> Duration {
    let (first, longest) = RETRY;
    first.saturating_mul(1 << failures.min(10)).min(longest)
}

/// Says that a send turned out to be accepted. Its channel may have found it in the store meanwhile.
fn tell_late(channel: &Listener, send: AcceptedSend) {
    tell(channel, Arrived { sends: vec![send], is_late: true });
}

/// Hands sends to their channel without waiting for it.
fn tell(channel: &Listener, arrived: Arrived) {
    match channel.try_send(arrived) {
        Ok(()) => {}
        Err(SendError::Full(arrived)) => {
            let channel = Arc::clone(channel);
            let arrived = Arrived { is_late: true, ..arrived };
            actix::spawn(async move {
                // A closed channel actor finds its sends in the store when it starts again.
                let _ = channel.send(arrived).await;
            });
        }
        Err(SendError::Closed(_)) => {}
    }
}

impl Actor for Ledger {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(self.capacity);
    }
}
