//! What the ledger is asked, taken into the open batch.

use actix::prelude::*;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{
    Accept, AcceptedSend, Accepting, Activate, Activating, Close, Doubtful, Error, Extend, Hear, Ledger,
    Record, Withdraw, Written,
};
use crate::domain::send::State;
use crate::store::ledger::NewSend;

/// No webhook joins a batch that holds this many receipts and messages from people: sends wait for the same
/// commit, and the provider repeats what is not taken.
const MOST_HEARD: usize = 20_000;

/// Waits for the answer of a commit.
fn answer<T: 'static>(waiting: oneshot::Receiver<Result<T, Error>>) -> ResponseFuture<Result<T, Error>> {
    Box::pin(async move { waiting.await.unwrap_or(Err(Error::Closed)) })
}

impl Handler<Accept> for Ledger {
    type Result = ResponseFuture<Result<Uuid, Error>>;

    fn handle(&mut self, accept: Accept, ctx: &mut Self::Context) -> Self::Result {
        if let Some(refusal) = self.refusal() {
            return Box::pin(async move { Err(refusal) });
        }
        let Accept { order, recipients, skipped, blocks, more, channel } = accept;
        let Ok(content) = serde_json::to_string(&order.stored()) else {
            return Box::pin(async { Err(Error::Closed) });
        };
        let id = Uuid::now_v7();
        if let Some(errand) = &order.errand {
            errand.accept(id);
        }
        let batch = &mut self.open.batch;
        batch.sends.push(NewSend {
            id,
            company_id: order.company_id,
            channel_id: order.channel_id,
            state: if more { State::Resolving } else { State::Active },
            content,
            template_id: order.template.map(|template| template.id),
            recipients,
            skipped: skipped.count,
            schedule: order.schedule,
        });
        batch.sources.extend(order.sources.iter().map(|source| (id, *source)));
        batch.blocks.extend(blocks.into_iter().map(|block| (id, block)));
        let send = AcceptedSend { id, order, recipients };
        if !more {
            batch.answers.extend(send.kept_answer(&skipped));
        }
        let (waiting, durable) = oneshot::channel();
        let channel = (!more).then_some(channel);
        self.open.accepts.push(Accepting { send, channel, waiting });
        self.commit(ctx);
        answer(durable)
    }
}

impl Handler<Extend> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, extend: Extend, ctx: &mut Self::Context) -> Self::Result {
        if let Some(refusal) = self.refusal() {
            return Box::pin(async move { Err(refusal) });
        }
        let send_id = extend.send_id;
        self.open.batch.blocks.extend(extend.blocks.into_iter().map(|block| (send_id, block)));
        let (waiting, durable) = oneshot::channel();
        self.open.extensions.push((send_id, waiting));
        self.commit(ctx);
        answer(durable)
    }
}

impl Handler<Activate> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, activate: Activate, ctx: &mut Self::Context) -> Self::Result {
        if self.closed {
            return Box::pin(async { Err(Error::Closed) });
        }
        let Activate { send, skipped, channel } = activate;
        let batch = &mut self.open.batch;
        batch.activations.push((send.id, send.recipients.count(), skipped.count));
        batch.answers.extend(send.kept_answer(&skipped));
        let (waiting, durable) = oneshot::channel();
        self.open.activations.push(Activating { send, channel, waiting });
        self.commit(ctx);
        answer(durable)
    }
}

impl Handler<Withdraw> for Ledger {
    type Result = ();

    fn handle(&mut self, withdraw: Withdraw, ctx: &mut Self::Context) {
        if self.closed {
            return;
        }
        self.doubts.add(withdraw.0, Doubtful::Abandoned);
        self.settle(ctx);
    }
}

impl Handler<Record> for Ledger {
    type Result = ResponseFuture<Result<Written, Error>>;

    fn handle(&mut self, record: Record, ctx: &mut Self::Context) -> Self::Result {
        if self.closed {
            return Box::pin(async { Err(Error::Closed) });
        }
        let Record { outcomes, marks, suppressions } = record;
        let batch = &mut self.open.batch;
        batch.outcomes.extend(outcomes);
        batch.marks.extend(marks);
        batch.suppressions.extend(suppressions);
        let (waiting, durable) = oneshot::channel();
        self.open.records.push(waiting);
        self.commit(ctx);
        answer(durable)
    }
}

impl Handler<Hear> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, heard: Hear, ctx: &mut Self::Context) -> Self::Result {
        if let Some(refusal) = self.refusal() {
            return Box::pin(async move { Err(refusal) });
        }
        let batch = &mut self.open.batch;
        if batch.receipts.len() + batch.events.len() >= MOST_HEARD {
            return Box::pin(async { Err(Error::Unavailable) });
        }
        let Hear { receipts, suppressions, events } = heard;
        batch.receipts.extend(receipts);
        batch.events.extend(events);
        batch.suppressions.extend(suppressions);
        let (waiting, durable) = oneshot::channel();
        self.open.hearings.push(waiting);
        self.commit(ctx);
        answer(durable)
    }
}

impl Handler<Close> for Ledger {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Close, ctx: &mut Self::Context) -> Self::Result {
        let (waiting, closed) = oneshot::channel();
        self.closing = Some(waiting);
        self.commit(ctx);
        Box::pin(async move {
            let _ = closed.await;
        })
    }
}
