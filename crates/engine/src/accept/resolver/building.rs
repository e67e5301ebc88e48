//! A send whose recipients are written in steps.

use std::sync::Arc;

use actix::prelude::*;
use futures_util::future::LocalBoxFuture;
use uuid::Uuid;

use super::{OwnValues, STEP, personal};
use crate::ledger::{Accept, AcceptedSend, Error, Extend, Ledger, Order, Parts};
use crate::mailbox::{Door, Queued};
use crate::shared::Shared;
use domain::block::pack;
use domain::phone::PhoneNumber;
use domain::request::Skipped;
use domain::send::{Block, Recipients};

/// The bytes of values with which fewer blocks are written at once: packing and sealing them takes about as long as writing
/// them, and is done while the step before is written.
const STEP_BYTES: usize = 1024 * 1024;

/// A send whose recipients are being written.
pub(super) struct Building {
    pub(super) order: Arc<Order>,
    /// Its id, once the first step is [written](Building::written).
    pub(super) send_id: Option<Uuid>,
    /// Its recipients so far.
    pub(super) recipients: u64,
    /// The step that is being written: the first one makes the send, and says its id.
    step: Option<LocalBoxFuture<'static, Result<Option<Uuid>, Error>>>,
    pending: Vec<Block>,
    /// The values and references of the pending recipients.
    parts: Parts,
    /// The values of the recipients, if they have any.
    pub(super) own: Option<OwnValues>,
}

impl Building {
    pub(super) fn new(order: Arc<Order>) -> Self {
        Self {
            order,
            send_id: None,
            recipients: 0,
            step: None,
            pending: Vec::new(),
            parts: Parts::default(),
            own: None,
        }
    }

    /// Removes the numbers of people who opted out of it.
    pub(super) fn skip_suppressed(
        &self,
        shared: &Shared,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) {
        let is_marketing = self.order.template.is_some_and(|template| template.is_marketing);
        shared.suppressions.skip_suppressed(self.order.company_id, is_marketing, numbers, skipped);
    }

    /// Removes the numbers of recipients who lack a value. They are the next ones in ascending order.
    pub(super) async fn skip_lacking(
        &mut self,
        shared: &Shared,
        numbers: &mut Vec<PhoneNumber>,
        skipped: &mut Skipped,
    ) -> Result<(), Error> {
        let Some(own) = &mut self.own else { return Ok(()) };
        own.skip_other_forms(&shared.people, numbers, skipped);
        own.read(shared, numbers).await?;
        own.skip_lacking(numbers, skipped).map_err(|error| personal::unreadable(&error))
    }

    /// Packs the next recipients into a block, and begins to write a step when it is full.
    pub(super) async fn push(&mut self, shared: &Shared, numbers: &[PhoneNumber]) -> Result<(), Error> {
        let (first_ordinal, recipients) = (self.recipients, numbers.len() as u64);
        if recipients == 0 {
            return Ok(());
        }
        self.recipients += recipients;
        if let Some(own) = &mut self.own {
            self.parts.add(own.pack(shared, first_ordinal, numbers).await?);
        }
        self.pending.push(Block { first_ordinal, recipients, packed: pack(numbers) });
        if self.pending.len() < STEP && self.parts.bytes() < STEP_BYTES {
            return Ok(());
        }
        self.begin_step(shared).await
    }

    /// Begins to write the pending blocks, once those before are written: the next ones are packed meanwhile.
    async fn begin_step(&mut self, shared: &Shared) -> Result<(), Error> {
        self.written().await?;
        if self.pending.is_empty() {
            return Ok(());
        }
        let Some(send_id) = self.send_id else {
            self.accept(shared, None);
            return Ok(());
        };
        let (blocks, parts) = self.take();
        let extend = Extend { send_id, company_id: self.order.company_id, blocks, parts };
        let written = shared.ledger.send(extend);
        self.step = Some(Box::pin(async move { answer(written.await).map(|()| None) }));
        Ok(())
    }

    /// Waits until the step that is being written is there.
    pub(super) async fn written(&mut self) -> Result<(), Error> {
        let Some(step) = &mut self.step else { return Ok(()) };
        let written = step.await;
        self.step = None;
        if let Some(send_id) = written? {
            self.send_id = Some(send_id);
        }
        Ok(())
    }

    /// Writes the pending blocks. The send does not count yet.
    pub(super) async fn write(&mut self, shared: &Shared) -> Result<(), Error> {
        self.begin_step(shared).await?;
        self.written().await
    }

    /// Writes the whole send with the entries that it skipped, unless it has no recipients: it counts then. Nothing of it is
    /// written yet.
    pub(super) async fn write_whole(&mut self, shared: &Shared, skipped: Skipped) -> Result<(), Error> {
        if self.recipients == 0 {
            return Ok(());
        }
        self.accept(shared, Some(skipped));
        self.written().await
    }

    /// Begins to write the first blocks, which are all of them if the skipped entries are known.
    fn accept(&mut self, shared: &Shared, skipped: Option<Skipped>) {
        let (blocks, parts) = self.take();
        let recipients = Recipients::Blocks(self.recipients);
        let more = skipped.is_none();
        let accept = Accept::new(Arc::clone(&self.order), recipients, skipped.unwrap_or_default());
        let written = shared.ledger.send(Accept { blocks, parts, more, ..accept });
        self.step = Some(Box::pin(async move { answer(written.await).map(Some) }));
    }

    fn take(&mut self) -> (Vec<Block>, Parts) {
        (std::mem::take(&mut self.pending), std::mem::take(&mut self.parts))
    }

    /// The send with all of its recipients, if any was written.
    pub(super) fn accepted(&self) -> Option<AcceptedSend> {
        let recipients = Recipients::Blocks(self.recipients);
        self.send_id.map(|id| AcceptedSend { id, order: Arc::clone(&self.order), recipients })
    }
}

/// Sends a request to the ledger; a ledger that is gone counts as closed.
pub(super) async fn ask<M, T>(ledger: &Door<Ledger>, message: M) -> Result<T, Error>
where
    M: Message<Result = Result<T, Error>> + Send + 'static,
    T: Send + 'static,
    Ledger: Handler<Queued<M>>,
{
    answer(ledger.send(message).await)
}

/// What the ledger answered; one that is gone counts as closed.
fn answer<T>(answer: Result<Result<T, Error>, MailboxError>) -> Result<T, Error> {
    answer.unwrap_or(Err(Error::Closed))
}
