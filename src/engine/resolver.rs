//! The resolver actor: turns numbers and tags into unique recipients, packed and written.
//!
//! Every source (the request's own numbers, each tag) yields ascending numbers; merging them removes
//! repeats without holding the audience. Blocks go to the ledger in steps, so that an audience of millions
//! takes the memory of one step, and single sends never wait longer than one step's write. The send counts
//! only when its last block is durable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use actix::prelude::*;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::ledger::{Accept, AcceptedSend, Activate, Error, Extend, Ledger, Listener, Order, Withdraw};
use super::shared::Shared;
use crate::domain::block::pack;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::Skipped;
use crate::domain::send::{Block, Recipients};
use crate::store::{self, Store};

/// Numbers read at once from all tags of an audience together, and from each of many at least.
const CHUNK: usize = 50_000;
const LEAST_CHUNK: usize = 2_000;
/// Audiences that one resolver writes at once; more wait.
const AT_ONCE: usize = 4;
/// Blocks written at once.
const STEP: usize = 12;

/// Resolve this audience, and write it as a send if it is meant.
#[derive(Message)]
#[rtype(result = "Result<Resolved, Error>")]
pub(crate) struct Resolve {
    pub(crate) order: Arc<Order>,
    pub(crate) numbers: Vec<PhoneNumber>,
    pub(crate) tags: Vec<Uuid>,
    /// Entries of the request that are left out already.
    pub(crate) skipped: Skipped,
    /// Who hears of the send; `None` only counts.
    pub(crate) channel: Option<Listener>,
}

/// An audience as it was found.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The send, when one was written; none is when nobody is in the audience.
    pub(crate) send_id: Option<Uuid>,
    /// Unique recipients.
    pub(crate) recipients: u64,
    /// Entries that were left out.
    pub(crate) skipped: Skipped,
}

/// See the module.
pub(crate) struct Resolver {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
}

impl Resolver {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Actor for Resolver {
    type Context = Context<Self>;
}

impl Handler<Resolve> for Resolver {
    type Result = ResponseFuture<Result<Resolved, Error>>;

    fn handle(&mut self, resolve: Resolve, _: &mut Self::Context) -> Self::Result {
        let writing = Writing {
            shared: Arc::clone(&self.shared),
            resolve,
            resolved: Resolved::default(),
            pending: Vec::new(),
        };
        let places = Arc::clone(&self.places);
        Box::pin(async move {
            let _place = places.acquire_owned().await.map_err(|_| Error::Closed)?;
            writing.run().await
        })
    }
}

/// A send whose audience is being written.
struct Writing {
    shared: Arc<Shared>,
    resolve: Resolve,
    /// What was found so far; has an id once the first step is written.
    resolved: Resolved,
    pending: Vec<Block>,
}

impl Writing {
    async fn run(mut self) -> Result<Resolved, Error> {
        self.resolved.skipped = std::mem::take(&mut self.resolve.skipped);
        let result = self.resolve().await;
        if let (Err(_), Some(send_id)) = (&result, self.resolved.send_id) {
            let _ = self.shared.ledger.send(Withdraw(send_id)).await;
        }
        result.map(|()| self.resolved)
    }

    async fn resolve(&mut self) -> Result<(), Error> {
        let (shared, block_size) = (Arc::clone(&self.shared), self.shared.engine.block_size);
        let mut numbers = std::mem::take(&mut self.resolve.numbers);
        numbers.sort_unstable();
        let mut sources = vec![Source { tag: None, chunk: numbers, next: 0, more: false }];
        sources.extend(self.resolve.tags.iter().map(|tag| Source {
            tag: Some(*tag),
            chunk: Vec::new(),
            next: 0,
            more: true,
        }));
        let chunk = (CHUNK / sources.len()).max(LEAST_CHUNK);
        let mut unique = Vec::with_capacity(block_size);
        let mut last = None;
        loop {
            for source in &mut sources {
                source.refill(&shared.store, self.resolve.order.company_id, chunk).await.map_err(
                    |error| {
                        tracing::error!(%error, "reading the contacts of a tag failed");
                        if error.is_passing() { Error::Unavailable } else { Error::Closed }
                    },
                )?;
            }
            sources.retain(|source| source.next < source.chunk.len());
            if sources.is_empty() {
                break;
            }
            while merge(&mut sources, &mut unique, &mut last, block_size) {
                self.block(&mut unique).await?;
            }
        }
        if !unique.is_empty() {
            self.block(&mut unique).await?;
        }
        self.finish().await
    }

    /// Packs `unique` without those who are left out into a block; writes a step when it is full.
    async fn block(&mut self, unique: &mut Vec<PhoneNumber>) -> Result<(), Error> {
        let order = &self.resolve.order;
        let is_marketing = order.template.is_some_and(|template| template.is_marketing);
        let skipped = &mut self.resolved.skipped;
        self.shared.suppressions.leave_out(order.company_id, is_marketing, unique, skipped);
        let (first_ordinal, recipients) = (self.resolved.recipients, unique.len() as u64);
        self.resolved.recipients += recipients;
        if recipients > 0 && self.resolve.channel.is_some() {
            self.pending.push(Block { first_ordinal, recipients, packed: pack(unique) });
        }
        unique.clear();
        if self.pending.len() < STEP {
            return Ok(());
        }
        let blocks = std::mem::take(&mut self.pending);
        match self.resolved.send_id {
            Some(send_id) => ask(&self.shared.ledger, Extend { send_id, blocks }).await,
            None => self.accept(blocks, true).await,
        }
    }

    async fn accept(&mut self, blocks: Vec<Block>, more: bool) -> Result<(), Error> {
        let Some(channel) = self.resolve.channel.clone() else { return Ok(()) };
        let accept = Accept {
            order: Arc::clone(&self.resolve.order),
            recipients: Recipients::Blocks(self.resolved.recipients),
            skipped: if more { Skipped::default() } else { self.resolved.skipped.clone() },
            blocks,
            more,
            channel,
        };
        self.resolved.send_id = Some(ask(&self.shared.ledger, accept).await?);
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), Error> {
        let blocks = std::mem::take(&mut self.pending);
        let Some(send_id) = self.resolved.send_id else {
            return if self.resolved.recipients == 0 { Ok(()) } else { self.accept(blocks, false).await };
        };
        if !blocks.is_empty() {
            ask(&self.shared.ledger, Extend { send_id, blocks }).await?;
        }
        let Some(channel) = self.resolve.channel.clone() else { return Ok(()) };
        let send = AcceptedSend {
            id: send_id,
            order: Arc::clone(&self.resolve.order),
            recipients: Recipients::Blocks(self.resolved.recipients),
        };
        ask(&self.shared.ledger, Activate { send, skipped: self.resolved.skipped.clone(), channel }).await
    }
}

/// Asks the ledger; a ledger that is gone is closed.
async fn ask<M, T>(ledger: &Addr<Ledger>, message: M) -> Result<T, Error>
where
    M: Message<Result = Result<T, Error>> + Send + 'static,
    T: Send + 'static,
    Ledger: Handler<M>,
{
    ledger.send(message).await.unwrap_or(Err(Error::Closed))
}

/// Ascending numbers, a chunk at a time.
struct Source {
    /// Where more comes from.
    tag: Option<Uuid>,
    chunk: Vec<PhoneNumber>,
    /// Position in the chunk.
    next: usize,
    more: bool,
}

impl Source {
    /// Reads the next chunk when this one is used up.
    async fn refill(&mut self, store: &Store, company_id: Uuid, chunk: usize) -> store::Result<()> {
        let Some(tag) = self.tag else { return Ok(()) };
        if self.next < self.chunk.len() || !self.more {
            return Ok(());
        }
        let after = self.chunk.last().copied();
        let limit = u32::try_from(chunk).unwrap_or(u32::MAX);
        self.chunk = store.tag_phones(company_id, tag, after, limit).await?;
        self.next = 0;
        self.more = self.chunk.len() >= chunk;
        Ok(())
    }
}

/// Moves numbers from `sources` to `unique`, ascending and without repeats, until `unique` holds `enough`
/// (true) or a source that may have more runs dry (false). `last` is the number moved last.
fn merge(
    sources: &mut [Source],
    unique: &mut Vec<PhoneNumber>,
    last: &mut Option<PhoneNumber>,
    enough: usize,
) -> bool {
    if sources.iter().any(|source| source.more && source.next == source.chunk.len()) {
        return false;
    }
    let head = |(index, source): (usize, &Source)| Some(Reverse((*source.chunk.get(source.next)?, index)));
    let mut heads: BinaryHeap<_> = sources.iter().enumerate().filter_map(head).collect();
    while let Some(Reverse((number, index))) = heads.pop() {
        let source = &mut sources[index];
        source.next += 1;
        if *last != Some(number) {
            unique.push(number);
            *last = Some(number);
        }
        match source.chunk.get(source.next) {
            Some(next) => heads.push(Reverse((*next, index))),
            None if source.more => return unique.len() >= enough,
            None => {}
        }
        if unique.len() >= enough {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn numbers(values: &[u64]) -> Vec<PhoneNumber> {
        values.iter().filter_map(|value| PhoneNumber::from_u64(1_000_000 + value)).collect()
    }

    proptest! {
        #[test]
        fn merging_gives_each_number_once_and_in_order(
            lists in prop::collection::vec(prop::collection::btree_set(0_u64..60, 0..30), 0..5),
            enough in 1_usize..10,
        ) {
            let mut sources: Vec<_> = lists
                .iter()
                .map(|list| Source { tag: None, chunk: numbers(&list.iter().copied().collect::<Vec<_>>()), next: 0, more: false })
                .collect();
            let (mut all, mut unique, mut last) = (Vec::new(), Vec::new(), None);
            while merge(&mut sources, &mut unique, &mut last, enough) {
                prop_assert_eq!(unique.len(), enough);
                all.append(&mut unique);
            }
            all.append(&mut unique);
            let expected: BTreeSet<u64> = lists.into_iter().flatten().collect();
            prop_assert_eq!(all, numbers(&expected.into_iter().collect::<Vec<_>>()));
        }
    }

    #[test]
    fn merging_stops_where_a_source_may_have_more() {
        let mut sources = [
            Source { tag: None, chunk: numbers(&[1, 2]), next: 0, more: true },
            Source { tag: None, chunk: numbers(&[2, 3, 9]), next: 0, more: false },
        ];
        let (mut unique, mut last) = (Vec::new(), None);
        assert!(!merge(&mut sources, &mut unique, &mut last, 100));
        assert_eq!(unique, numbers(&[1, 2]));
        assert!(!merge(&mut sources, &mut unique, &mut last, 1), "and waits until it was read");
        assert_eq!(unique, numbers(&[1, 2]));
    }
}
