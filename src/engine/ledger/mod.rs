//! The ledger actor: all writes of sends and outcomes, many callers to one commit.
//!
//! It holds the open batch. While one commit runs, whatever arrives joins the next; there is no timer to
//! wait for. A caller hears back when its part is durable. Outcomes are never given up: while the database
//! is away they wait here and are written first when it is back. A send that could not be written is
//! answered with an error at once and withdrawn later, in case its commit went through after all.

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

use self::intake::subject;
pub use self::message::Claim;
pub(crate) use self::message::{
    Accept, AcceptedSend, Activate, Arrived, Close, Condition, Error, Extend, Hear, Listener, Order, Record,
    Withdraw, Withdrawing, Written,
};
use crate::clock::Timestamp;
use crate::store::ledger::{Batch, Committed, Ignored};
use crate::store::{self, Lease, Store};

/// The first and the longest wait before the database is tried again.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// A commit that takes longer is given up and tried again: the database does not answer. Longer than SQLite
/// waits for another process' lock.
const PATIENCE: Duration = Duration::from_secs(15);

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
    /// The most sends that wait at once.
    capacity: usize,
    open: Open,
    busy: bool,
    /// The withdrawals of the commit that runs.
    withdrawing: Vec<Uuid>,
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
            capacity,
            open: Open::default(),
            busy: false,
            withdrawing: Vec::new(),
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
        let waiting = self.open.accepts.len() + self.open.extensions.len() + self.open.hearings.len();
        let full = waiting >= self.capacity;
        full.then_some(Error::Unavailable)
    }

    /// Starts a commit, unless one runs or there is nothing to write.
    fn commit(&mut self, ctx: &mut Context<Self>) {
        if self.busy {
            return;
        }
        if self.open.batch.is_empty() {
            if let Some(waiting) = self.closing.take() {
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
        self.withdrawing.clone_from(&open.batch.withdrawals);
        let (store, lease) = (self.store.clone(), Arc::clone(&self.lease));
        let started = Instant::now();
        async move {
            let commit = store.commit(&lease, &open.batch, Timestamp::now());
            let late = |_| store::Error::InDoubt("it did not answer in time".to_owned());
            let result = tokio::time::timeout(PATIENCE, commit).await.map_err(late).flatten();
            (open, result)
        }
        .into_actor(self)
        .map(move |(open, result), ledger, ctx| {
            ledger.figures.commits.record(started.elapsed());
            ledger.withdrawing.clear();
            match result {
                Ok(found) => ledger.committed(open, &found, ctx),
                Err(error) => ledger.failed(open, &error, ctx),
            }
        })
        .spawn(ctx);
    }

    fn committed(&mut self, open: Open, found: &Committed, ctx: &mut Context<Self>) {
        if self.failures > 0 {
            tracing::info!(attempts = self.failures, "the database writes again");
            self.failures = 0;
            self.condition.send_replace(Condition::Writing);
        }
        let Committed { gone, overtaken, ignored: Ignored { unknown_send, never_attempted } } = found;
        let written = Written { gone: gone.clone(), overtaken: overtaken.clone() };
        self.figures.rows.increment((open.batch.sends.len() + open.batch.outcomes.len()) as u64);
        self.figures.unknown_send.increment(*unknown_send);
        self.figures.never_attempted.increment(*never_attempted);
        // Told before the client is answered: what the client asks next of its send finds it with its channel.
        let (mut arrived, mut accepted) = (HashMap::new(), Vec::with_capacity(open.accepts.len()));
        let channels = open.batch.sends.iter().map(|send| send.channel_id);
        for (channel_id, Accepting { send, channel, waiting }) in channels.zip(open.accepts) {
            accepted.push((waiting, send.id));
            if let Some(channel) = channel {
                let (_, sends) = arrived.entry(channel_id).or_insert_with(|| (channel, Vec::new()));
                sends.push(send);
            }
        }
        for (channel, sends) in arrived.into_values() {
            tell(&channel, sends);
        }
        for Activating { send, channel, waiting } in open.activations {
            tell(&channel, vec![send]);
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
        self.busy = false;
        self.commit(ctx);
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
        // Only a commit whose answer was lost may have gone through.
        let in_doubt = matches!(error, store::Error::InDoubt(_));
        let mut withdrawals = open.batch.withdrawals;
        for Accepting { send, channel: _, waiting } in open.accepts {
            let _ = waiting.send(Err(answer));
            withdrawals.extend(in_doubt.then_some(send.id));
        }
        // The resolver withdraws what it was writing.
        for (_, waiting) in open.extensions {
            let _ = waiting.send(Err(answer));
        }
        for Activating { waiting, .. } in open.activations {
            let _ = waiting.send(Err(answer));
        }
        // The provider repeats what was not taken in; who is to be left out is kept all the same.
        for waiting in open.hearings {
            let _ = waiting.send(Err(answer));
        }
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
        self.open.batch.withdrawals.splice(0..0, withdrawals);
        self.open.batch.outcomes.splice(0..0, open.batch.outcomes);
        self.open.batch.marks.splice(0..0, open.batch.marks);
        let lifted = &self.open.batch.lifted;
        let suppressions =
            open.batch.suppressions.into_iter().filter(|record| !lifted.contains(&subject(record)));
        self.open.batch.suppressions.splice(0..0, suppressions);
        self.open.records.splice(0..0, open.records);
        let (first, longest) = RETRY;
        let wait = first.saturating_mul(1 << self.failures.min(10)).min(longest);
        ctx.run_later(wait, |ledger, ctx| {
            ledger.busy = false;
            ledger.commit(ctx);
        });
    }
}

/// Hands sends to their channel without waiting for it.
fn tell(channel: &Listener, sends: Vec<AcceptedSend>) {
    match channel.try_send(Arrived { sends, is_late: false }) {
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
