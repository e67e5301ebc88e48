//! The resolver actor: turns numbers, tags and segments into unique recipients, packed and written.
//!
//! Every source (the request's own numbers, each tag, each segment, the messages of a retried send) yields ascending numbers; merging
//! them removes duplicates without holding the audience. Blocks go to the ledger in steps. So an audience of millions
//! takes the memory of two steps, one that is written and one that is read meanwhile, and single sends never wait
//! longer than one step's write. The send counts only when its last block is durable, and one for people whose window is
//! closed counts together with it. For dry runs, [`super::plan`] counts the audience here.

mod again;
mod building;
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

use self::building::{Building, ask};
pub(crate) use self::left_out::LeftOut;
pub(crate) use self::met::Met;
pub(crate) use self::personal::{OwnValues, own_values};
pub(crate) use self::unique::Unique;
use crate::ledger::{Activate, Error, Order, Withdraw};
use crate::rounds::caught;
use crate::shared::Shared;
use crate::traces::Resolving;
use crate::window_gate::WindowGate;
use crate::{SentInstead, window_gate};
use connectors::fair_semaphore::Permit;
use domain::phone::PhoneNumber;
use domain::request::{Again, OnSkipped, Personal, Skipped};

/// The average number of audiences that a resolver writes at once; further ones wait, and companies have fair shares.
pub(crate) const AT_ONCE: usize = 4;
/// Blocks written at once.
const STEP: usize = 12;

/// Resolve this audience, and write it as a send.
#[derive(Message)]
#[rtype(result = "Result<Resolved, Error>")]
pub(crate) struct Resolve {
    pub(crate) order: Arc<Order>,
    /// The send of the template that goes to people whose window is closed, who are skipped without one.
    pub(crate) instead: Option<Arc<Order>>,
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
    /// Its unique recipients.
    pub(crate) recipients: u64,
    /// The send of the template that goes to people whose window is closed, which is the same one when all are such people.
    pub(crate) instead: Option<SentInstead>,
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
            main: Building::new(Arc::clone(&resolve.order)),
            instead: resolve.instead.clone().map(Building::new),
            resolve,
            skipped: Skipped::default(),
            refuses: false,
            is_refused: false,
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
    main: Building,
    /// The send of the template that goes to people whose window is closed.
    instead: Option<Building>,
    skipped: Skipped,
    /// Nobody gets the message when somebody is skipped.
    refuses: bool,
    is_refused: bool,
    /// The people who may occur once more under another number.
    met: Met,
    /// Lets only people with an open window through, where that is enforced.
    gate: WindowGate,
}

impl Writing {
    async fn run(mut self, traced: Resolving) -> Result<Resolved, Error> {
        self.skipped = std::mem::take(&mut self.resolve.skipped);
        // After a panic, the send is withdrawn as after any other failure.
        let result = caught("resolver", self.resolve()).await.unwrap_or(Err(Error::Closed));
        traced.end(self.main.send_id, self.main.recipients, self.skipped.count, result.is_ok());
        if let Some(instead) = &self.instead {
            traced.end(instead.send_id, instead.recipients, 0, result.is_ok());
        }
        if result.is_err() {
            self.withdraw().await;
        }
        result.map(|()| self.resolved())
    }

    fn resolved(self) -> Resolved {
        let Self { main, instead, skipped, is_refused, .. } = self;
        let instead = instead.and_then(|instead| {
            Some(SentInstead { send_id: instead.send_id?, recipients: instead.recipients })
        });
        let (send_id, recipients) = match (main.send_id, instead) {
            (None, Some(instead)) => (Some(instead.send_id), instead.recipients),
            (send_id, _) => (send_id, main.recipients),
        };
        Resolved { send_id, recipients, instead, skipped, is_refused }
    }

    /// Reads blocks of the audience while the previous step is written.
    async fn resolve(&mut self) -> Result<(), Error> {
        self.gate = WindowGate::of_order(&self.shared.store, &self.main.order)
            .await
            .map_err(|error| unread(&error))?;
        let mut numbers = std::mem::take(&mut self.resolve.numbers);
        if let Some(personal) = &self.resolve.personal {
            numbers.extend(personal.rows.phone_numbers());
            self.refuses = personal.on_skipped == OnSkipped::Refuse;
        }
        let (personal, again) = (self.resolve.personal.take(), self.resolve.again.as_ref());
        let again = again.map(|again| again.send_id);
        for send in self.instead.iter_mut().chain([&mut self.main]) {
            send.own = own_values(&self.shared, &send.order, personal.clone(), again).await?;
        }
        let resolve = &mut self.resolve;
        let unique = Unique::new(numbers, &resolve.tags, &resolve.segments, resolve.again.take());
        let left_out = LeftOut::new(std::mem::take(&mut resolve.without));
        let (read, mut blocks) = mpsc::channel(STEP);
        let company_id = self.main.order.company_id;
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

    /// Packs `unique` without the suppressed numbers and second numbers of one person into a block, and the numbers of people
    /// whose window is closed into one of the other send, if there is one.
    async fn block(&mut self, mut unique: Vec<PhoneNumber>, mut skipped: Skipped) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let (people, company) = (&*shared.people, self.main.order.company_id);
        self.main.skip_suppressed(&shared, &mut unique, &mut skipped);
        let taking = self.gate.take_closed(&shared.store, people, &mut unique);
        let mut closed = taking.await.map_err(|error| unread(&error))?;
        match &self.instead {
            Some(instead) => instead.skip_suppressed(&shared, &mut closed, &mut skipped),
            None => window_gate::skip(&std::mem::take(&mut closed), &mut skipped),
        }
        self.main.skip_lacking(&shared, &mut unique, &mut skipped).await?;
        if let Some(instead) = &mut self.instead {
            instead.skip_lacking(&shared, &mut closed, &mut skipped).await?;
        }
        for numbers in [&mut unique, &mut closed] {
            self.met.skip_second_forms(people, company, numbers, &mut skipped);
        }
        if let Some(own) = &mut self.main.own {
            own.place(&mut skipped);
        }
        self.skipped.extend(skipped);
        if self.is_to_be_refused() {
            return Ok(());
        }
        self.main.push(&shared, &unique).await?;
        if let Some(instead) = &mut self.instead {
            instead.push(&shared, &closed).await?;
        }
        Ok(())
    }

    /// Whether nothing of the send is written, because somebody is skipped.
    const fn is_to_be_refused(&self) -> bool {
        self.refuses && self.skipped.count > 0
    }

    async fn finish(&mut self) -> Result<(), Error> {
        if self.is_to_be_refused() {
            self.is_refused = true;
            self.withdraw().await;
            return Ok(());
        }
        for send in [&mut self.main].into_iter().chain(&mut self.instead) {
            send.written().await?;
        }
        let shared = Arc::clone(&self.shared);
        let skipped = self.skipped.clone();
        let instead = self.instead.as_mut().filter(|instead| instead.recipients > 0);
        if instead.is_none() && self.main.send_id.is_none() {
            return self.main.write_whole(&shared, skipped).await;
        }
        self.main.write(&shared).await?;
        let mut beside = None;
        if let Some(instead) = instead {
            instead.write(&shared).await?;
            beside = instead.accepted();
        }
        let activate = match (self.main.accepted(), beside) {
            (Some(send), instead) => Activate { instead, ..Activate::new(send, skipped) },
            (None, Some(send)) => Activate { is_instead: true, ..Activate::new(send, skipped) },
            (None, None) => return Ok(()),
        };
        ask(&shared.ledger, activate).await
    }

    /// Removes what was written.
    async fn withdraw(&mut self) {
        for send in [&mut self.main].into_iter().chain(&mut self.instead) {
            // A step that is still being written may make the send.
            let _ = send.written().await;
            if let Some(send_id) = send.send_id.take() {
                let _ = self.shared.ledger.send(Withdraw(send_id)).await;
            }
        }
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
