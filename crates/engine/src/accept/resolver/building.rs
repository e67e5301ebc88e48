//! A send whose recipients are written in steps.

use std::sync::Arc;

use actix::prelude::*;
use uuid::Uuid;

use super::{OwnValues, STEP, personal};
use crate::ledger::{Accept, AcceptedSend, Error, Extend, Ledger, Order, Parts};
use crate::mailbox::{Door, Queued};
use crate::shared::Shared;
use domain::block::pack;
use domain::phone::PhoneNumber;
use domain::request::Skipped;
use domain::send::{Block, Recipients};

/// The bytes of values with which fewer blocks are written at once.
const STEP_BYTES: usize = 4 * 1024 * 1024;

/// A send whose recipients are being written.
pub(super) struct Building {
    pub(super) order: Arc<Order>,
    /// Its id, once the first step is written.
    pub(super) send_id: Option<Uuid>,
    /// Its recipients so far.
    pub(super) recipients: u64,
    pending: Vec<Block>,
    /// The values and references of the pending recipients.
    parts: Parts,
    /// The values of the recipients, if they have any.
    pub(super) own: Option<OwnValues>,
}

impl Building {
    pub(super) fn new(order: Arc<Order>) -> Self {
        Self { order, send_id: None, recipients: 0, pending: Vec::new(), parts: Parts::default(), own: None }
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

    /// Packs the next recipients into a block, and writes a step when it is full.
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
        self.write(shared).await
    }

    /// Writes the pending blocks. The send does not count yet.
    pub(super) async fn write(&mut self, shared: &Shared) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let Some(send_id) = self.send_id else { return self.accept(shared, None).await };
        let (blocks, parts) = self.take();
        let company_id = self.order.company_id;
        ask(&shared.ledger, Extend { send_id, company_id, blocks, parts }).await
    }

    /// Writes the whole send with the entries that it skipped, unless it has no recipients: it counts then.
    pub(super) async fn write_whole(&mut self, shared: &Shared, skipped: Skipped) -> Result<(), Error> {
        if self.recipients == 0 { Ok(()) } else { self.accept(shared, Some(skipped)).await }
    }

    /// Writes the first blocks, which are all of them if the skipped entries are known.
    async fn accept(&mut self, shared: &Shared, skipped: Option<Skipped>) -> Result<(), Error> {
        let (blocks, parts) = self.take();
        let recipients = Recipients::Blocks(self.recipients);
        let more = skipped.is_none();
        let accept = Accept::new(Arc::clone(&self.order), recipients, skipped.unwrap_or_default());
        let accept = Accept { blocks, parts, more, ..accept };
        self.send_id = Some(ask(&shared.ledger, accept).await?);
        Ok(())
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
    ledger.send(message).await.unwrap_or(Err(Error::Closed))
}
