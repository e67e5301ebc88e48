//! Requests to the ledger, passed to its machine.

use actix::prelude::*;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::callers::Waiting;
use super::machine::Input;
use super::{Accept, Activate, Close, Error, Extend, Hear, Ledger, Record, Withdraw, Written};
use crate::machine::Caller;
use crate::mailbox::{Passed, Queued};
use crate::traces::Hearing;
use clock::database::new_id;

impl Ledger {
    /// Passes a request to the machine, and waits for its answer.
    fn ask<T: 'static>(
        &mut self,
        waiting: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Waiting,
        input: impl FnOnce(Caller) -> Input,
        ctx: &mut Context<Self>,
    ) -> ResponseFuture<Result<T, Error>> {
        let (hear, heard) = oneshot::channel();
        let caller = self.callers.add(waiting(hear));
        self.take_up(input(caller), ctx);
        Box::pin(async move { heard.await.unwrap_or(Err(Error::Closed)) })
    }
}

impl<M> Handler<Queued<M>> for Ledger
where
    M: Message,
    Self: Handler<M>,
{
    type Result = Passed<M, <Self as Handler<M>>::Result>;

    fn handle(&mut self, queued: Queued<M>, ctx: &mut Self::Context) -> Self::Result {
        Passed::new(Handler::<M>::handle(self, queued.taken_up(), ctx))
    }
}

impl Handler<Accept> for Ledger {
    type Result = ResponseFuture<Result<Uuid, Error>>;

    fn handle(&mut self, mut accept: Accept, ctx: &mut Self::Context) -> Self::Result {
        let id = new_id();
        if let Some(pending_reply) = accept.pending_reply.take() {
            pending_reply.accept(id);
        }
        self.ask(Waiting::Accepted, |caller| Input::Accept { id, accept, caller }, ctx)
    }
}

impl Handler<Extend> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, extend: Extend, ctx: &mut Self::Context) -> Self::Result {
        self.ask(Waiting::Done, |caller| Input::Extend { extend, caller }, ctx)
    }
}

impl Handler<Activate> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, activate: Activate, ctx: &mut Self::Context) -> Self::Result {
        self.ask(Waiting::Done, |caller| Input::Activate { activate, caller }, ctx)
    }
}

impl Handler<Withdraw> for Ledger {
    type Result = ();

    fn handle(&mut self, Withdraw(send_id): Withdraw, ctx: &mut Self::Context) {
        self.take_up(Input::Withdraw(send_id), ctx);
    }
}

impl Handler<Record> for Ledger {
    type Result = ResponseFuture<Result<Written, Error>>;

    fn handle(&mut self, record: Record, ctx: &mut Self::Context) -> Self::Result {
        let Record { writes, is_awaited } = record;
        self.ask(Waiting::Written, |caller| Input::Record { writes, is_awaited, caller }, ctx)
    }
}

impl Handler<Hear> for Ledger {
    type Result = ResponseFuture<Result<(), Error>>;

    fn handle(&mut self, hear: Hear, ctx: &mut Self::Context) -> Self::Result {
        let traced = Hearing::begin(&hear.receipts);
        let heard = self.ask(Waiting::Done, |caller| Input::Hear { hear, caller }, ctx);
        if traced.is_empty() {
            return heard;
        }
        Box::pin(async move {
            let heard = heard.await;
            traced.end(heard.is_ok());
            heard
        })
    }
}

impl Handler<Close> for Ledger {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Close, ctx: &mut Self::Context) -> Self::Result {
        let closed = self.ask(Waiting::Done, Input::Close, ctx);
        Box::pin(async move {
            let _ = closed.await;
        })
    }
}
