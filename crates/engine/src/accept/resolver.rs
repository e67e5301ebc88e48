//! The resolver actor: turns numbers, tags and segments into unique recipients, packed and written.
//!
//! Every source (the request's own numbers, each tag, each segment, the messages of a retried send) yields ascending numbers; merging
//! them removes duplicates without holding the audience. Blocks go to the ledger in steps. So an audience of millions
//! takes the memory of two steps, one that is written and one that is read meanwhile, and single sends never wait
//! longer than one step's write. The send counts only when its last block is durable. For dry runs, [`super::plan`]
//! counts the audience here.

mod again;
mod elsewhere;
mod left_out;
mod met;
mod personal;
mod segment;
mod unique;

use std::sync::Arc;

use actix::prelude::*;
use tokio::sync::mpsc;
use uuid::Uuid;

pub(crate) use self::left_out::LeftOut;
pub(crate) use self::met::Met;
pub(crate) use self::personal::{OwnValues, own_values};
pub(crate) use self::unique::Unique;
use crate::ledger::{Accept, AcceptedSend, Activate, Error, Extend, Ledger, Order, Parts, Withdraw};
use crate::mailbox::{Door, Queued};
use crate::rounds::caught;
use crate::shared::Shared;
use crate::traces::Resolving;
use crate::window_gate::WindowGate;
use connectors::fair_semaphore::Permit;
use domain::block::pack;
use domain::phone::PhoneNumber;
use domain::request::{Again, OnSkipped, Personal, Skipped};
use domain::send::{Block, Recipients};

/// The average number of audiences that a resolver writes at once; further ones wait, and companies have fair shares.
pub(crate) const AT_ONCE: usize = 4;
/// Blocks written at once.
const STEP: usize = 12;
/// The bytes of values with which fewer blocks are written at once.
const STEP_BYTES: usize = 4 * 1024 * 1024;

/// Resolve this audience, and write it as a send.
#[derive(Message)]
#[rtype(result = "Result<Resolved, Error>")]
pub(crate) struct Resolve {
    pub(crate) order: Arc<Order>,
    pub(crate) numbers: Vec<PhoneNumber>,
    pub(crate) tags: Vec<Uuid>,
    /// The tags whose contacts are left out.
    pub(crate) without: Vec<Uuid>,
    pub(crate) segments: Vec<Uuid>,
    /// Messages of an earlier send to retry.
    pub(crate) again: Option<Again>,
    /// The values that the request gives.
    pub(crate) personal: Option<Personal>,
    /// Entries of the request that are skipped already.
    pub(crate) skipped: Skipped,
}

/// A resolved audience.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The send; `None` when the audience is empty, and nothing was written.
    pub(crate) send_id: Option<Uuid>,
    /// Unique recipients.
    pub(crate) recipients: u64,
    /// Entries that were skipped.
    pub(crate) skipped: Skipped,
    /// Nothing was written, because the request wants nothing sent when somebody is skipped.
    pub(crate) is_refused: bool,
}

pub(crate) struct Resolver {
    shared: Arc<Shared>,
}

impl Resolver {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The resolver's shared parts, and the turn of this company, to be awaited.
    pub(crate) fn turn(&self, company_id: Uuid) -> (Arc<Shared>, impl Future<Output = Permit> + use<>) {
        let audiences = Arc::clone(&self.shared.audiences);
        (Arc::clone(&self.shared), async move { audiences.acquire(company_id, 1).await })
    }
}

impl Actor for Resolver {
    type Context = Context<Self>;
}

impl Handler<Resolve> for Resolver {
    type Result = ResponseFuture<Result<Resolved, Error>>;

    fn handle(&mut self, resolve: Resolve, _: &mut Self::Context) -> Self::Result {
        let (shared, turn) = self.turn(resolve.order.company_id);
        let traced = Resolving::begin(resolve.tags.len(), resolve.numbers.len());
        let writing = Writing {
            shared,
            resolve,
            resolved: Resolved::default(),
            pending: Vec::new(),
            parts: Parts::default(),
            own: None,
            refuses: false,
            met: Met::default(),
            gate: WindowGate::default(),
        };
        Box::pin(async move {
            let _turn = turn.await;
            writing.run(traced).await
        })
    }
}

/// A send whose audience is being written.
struct Writing {
    shared: Arc<Shared>,
    resolve: Resolve,
    /// The result so far; has an id once the first step is written.
    resolved: Resolved,
    pending: Vec<Block>,
    /// The values and references of the pending recipients.
    parts: Parts,
    /// The values of the recipients, if they have any.
    own: Option<OwnValues>,
    /// Nobody gets the message when somebody is skipped.
    refuses: bool,
    /// The people who may occur once more under another number.
    met: Met,
    /// Lets only people with an open window through, where that is enforced.
    gate: WindowGate,
}

impl Writing {
    async fn run(mut self, traced: Resolving) -> Result<Resolved, Error> {
        self.resolved.skipped = std::mem::take(&mut self.resolve.skipped);
        // After a panic, the send is withdrawn as after any other failure.
        let result = caught("resolver", self.resolve()).await.unwrap_or(Err(Error::Closed));
        let Resolved { send_id, recipients, skipped, is_refused: _ } = &self.resolved;
        traced.end(*send_id, *recipients, skipped.count, result.is_ok());
        if let (Err(_), Some(send_id)) = (&result, self.resolved.send_id) {
            let _ = self.shared.ledger.send(Withdraw(send_id)).await;
        }
        result.map(|()| self.resolved)
    }

    /// Reads blocks of the audience while the previous step is written.
    async fn resolve(&mut self) -> Result<(), Error> {
        self.gate = WindowGate::of_order(&self.shared.store, &self.resolve.order)
            .await
            .map_err(|error| unread(&error))?;
        let mut numbers = std::mem::take(&mut self.resolve.numbers);
        if let Some(personal) = &self.resolve.personal {
            numbers.extend(personal.rows.phone_numbers());
            self.refuses = personal.on_skipped == OnSkipped::Refuse;
        }
        let (personal, again) = (self.resolve.personal.take(), self.resolve.again.as_ref());
        let again = again.map(|again| again.send_id);
        self.own = own_values(&self.shared, &self.resolve.order, personal, again).await?;
        let resolve = &mut self.resolve;
        let unique = Unique::new(numbers, &resolve.tags, &resolve.segments, resolve.again.take());
        let left_out = LeftOut::new(std::mem::take(&mut resolve.without));
        let (read, mut blocks) = mpsc::channel(STEP);
        let company_id = self.resolve.order.company_id;
        let reading = read_ahead(Arc::clone(&self.shared), company_id, unique, left_out, read);
        let writing = async move {
            while let Some(part) = blocks.recv().await {
                let ResolvedBlock { numbers, skipped } = part?;
                self.block(numbers, skipped).await?;
            }
            self.finish().await
        };
        // A write under way is never dropped: the send's id would be unknown.
        let ((), written) = tokio::join!(reading, writing);
        written
    }

    /// Packs `unique` without the suppressed numbers and second numbers of one person into a block; writes a step when it is full.
    async fn block(&mut self, mut unique: Vec<PhoneNumber>, mut skipped: Skipped) -> Result<(), Error> {
        let order = &self.resolve.order;
        let is_marketing = order.template.is_some_and(|template| template.is_marketing);
        let company = order.company_id;
        self.shared.suppressions.skip_suppressed(company, is_marketing, &mut unique, &mut skipped);
        let Shared { store, common, .. } = &*self.shared;
        let skipping = self.gate.skip_closed(store, &common.people, &mut unique, &mut skipped);
        skipping.await.map_err(|error| unread(&error))?;
        if let Some(own) = &mut self.own {
            own.skip_other_forms(&self.shared.people, &mut unique, &mut skipped);
            own.read(&self.shared, &unique).await?;
            own.skip_lacking(&mut unique, &mut skipped).map_err(|error| personal::unreadable(&error))?;
        }
        self.met.skip_second_forms(&self.shared.people, company, &mut unique, &mut skipped);
        if let Some(own) = &mut self.own {
            own.place(&mut skipped);
        }
        self.resolved.skipped.extend(skipped);
        let (first_ordinal, recipients) = (self.resolved.recipients, unique.len() as u64);
        self.resolved.recipients += recipients;
        if self.is_refused() {
            return Ok(());
        }
        if recipients > 0 {
            if let Some(own) = &mut self.own {
                self.parts.add(own.pack(&self.shared, first_ordinal, &unique).await?);
            }
            self.pending.push(Block { first_ordinal, recipients, packed: pack(&unique) });
        }
        if self.pending.len() < STEP && self.parts.bytes() < STEP_BYTES {
            return Ok(());
        }
        match self.resolved.send_id {
            Some(send_id) => self.extend(send_id).await,
            None => self.accept(true).await,
        }
    }

    /// Whether nothing of the send is written, because somebody is skipped.
    const fn is_refused(&self) -> bool {
        self.refuses && self.resolved.skipped.count > 0
    }

    async fn extend(&mut self, send_id: Uuid) -> Result<(), Error> {
        let (blocks, parts) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.parts));
        let company_id = self.resolve.order.company_id;
        ask(&self.shared.ledger, Extend { send_id, company_id, blocks, parts }).await
    }

    async fn accept(&mut self, more: bool) -> Result<(), Error> {
        let (blocks, parts) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.parts));
        let recipients = Recipients::Blocks(self.resolved.recipients);
        let skipped = if more { Skipped::default() } else { self.resolved.skipped.clone() };
        let accept = Accept::new(Arc::clone(&self.resolve.order), recipients, skipped);
        let accept = Accept { blocks, parts, more, ..accept };
        self.resolved.send_id = Some(ask(&self.shared.ledger, accept).await?);
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), Error> {
        if self.is_refused() {
            self.resolved.is_refused = true;
            if let Some(send_id) = self.resolved.send_id.take() {
                let _ = self.shared.ledger.send(Withdraw(send_id)).await;
            }
            return Ok(());
        }
        let Some(send_id) = self.resolved.send_id else {
            return if self.resolved.recipients == 0 { Ok(()) } else { self.accept(false).await };
        };
        if !self.pending.is_empty() {
            self.extend(send_id).await?;
        }
        let send = AcceptedSend {
            id: send_id,
            order: Arc::clone(&self.resolve.order),
            recipients: Recipients::Blocks(self.resolved.recipients),
        };
        ask(&self.shared.ledger, Activate { send, skipped: self.resolved.skipped.clone() }).await
    }
}

/// The next part of an audience.
struct ResolvedBlock {
    numbers: Vec<PhoneNumber>,
    /// Numbers that were skipped on the way.
    skipped: Skipped,
}

/// Reads an audience a block at a time until it ends, a read fails, or the receiver is gone.
async fn read_ahead(
    shared: Arc<Shared>,
    company_id: Uuid,
    mut unique: Unique,
    left_out: LeftOut,
    blocks: mpsc::Sender<Result<ResolvedBlock, Error>>,
) {
    let size = shared.engine.block_size;
    loop {
        let mut numbers = Vec::with_capacity(size);
        let read = unique.next(&shared.store, company_id, size, &mut numbers).await;
        let mut skipped = unique.take_skipped();
        let read = match read {
            Ok(false) if skipped.count == 0 => return,
            Ok(_) => left_out
                .skip(&shared.store, &shared.people, company_id, &mut numbers, &mut skipped)
                .await
                .map(|()| ResolvedBlock { numbers, skipped }),
            Err(error) => Err(error),
        };
        let read = read.map_err(|error| unread(&error));
        let is_over = read.is_err();
        if blocks.send(read).await.is_err() || is_over {
            return;
        }
    }
}

/// The audience cannot be read, which is logged.
fn unread(error: &store::Error) -> Error {
    tracing::error!(%error, "cannot read an audience");
    if error.is_passing() { Error::Unavailable } else { Error::Closed }
}

/// Sends a request to the ledger; a ledger that is gone counts as closed.
async fn ask<M, T>(ledger: &Door<Ledger>, message: M) -> Result<T, Error>
where
    M: Message<Result = Result<T, Error>> + Send + 'static,
    T: Send + 'static,
    Ledger: Handler<Queued<M>>,
{
    ledger.send(message).await.unwrap_or(Err(Error::Closed))
}
