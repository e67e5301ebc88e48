//! Records that requests list, search and change: readers by noun, each bound to one company, and operators' over all
//! of them.
//!
//! [`Engine::company`] gives access to one company's records: each call carries the company's id into the query itself,
//! so that no handler can forget it or name the store. [`Engine::operator`] gives access across companies. Every method
//! fails as any query does: [`Error::Unavailable`] when the database is away, [`Error::Internal`] for a defect.
//!
//! Requests have a bounded share of the database's connections, so that no number of them holds up accepting or
//! dispatching, and companies take turns. A caller that waited too long for a turn is asked to retry.

pub mod changes;
pub mod channels;
pub mod companies;
pub mod contacts;
pub mod country;
pub mod imports;
pub mod keys;
pub mod messages;
pub mod sends;
pub mod suppressions;
pub mod tags;
pub mod templates;
pub mod tiers;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio::time::timeout;
use uuid::Uuid;

use self::changes::Changes;
use self::channels::{AllChannels, Channels};
use self::companies::{Companies, Company};
use self::contacts::Contacts;
use self::imports::Imports;
use self::keys::Keys;
use self::messages::Messages;
use self::sends::Sends;
use self::suppressions::Suppressions;
use self::tags::Tags;
use self::templates::Templates;
use self::tiers::Tiers;
use super::fair_queue::{FairQueue, Grant, Share};
use super::{Engine, Error, RETRY_AFTER};
use store::Store;

/// Operators share their turns; no company has this id.
const OPERATORS: Uuid = Uuid::nil();

/// The connections for lists and searches, and the queue for them.
pub(super) struct RequestShare {
    store: Store,
    queue: Arc<FairQueue>,
    /// One entry for each company that asked.
    turns: DashMap<Uuid, Share>,
    patience: Duration,
}

/// The store, for one request; the turn ends with it. Only the engine itself can reach it.
pub(super) struct Records {
    store: Store,
    _turn: Grant,
}

/// One company's records, for one request. Others wait until it is dropped.
pub struct CompanyRecords {
    records: Records,
    company: Uuid,
}

/// All companies' records, for one request of an operator. Others wait until it is dropped.
pub struct OperatorRecords(Records);

impl Deref for Records {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl CompanyRecords {
    fn store(&self) -> &Store {
        &self.records
    }

    /// The company itself.
    pub async fn details(&self) -> Result<Option<Company>, Error> {
        Ok(self.store().company(self.company).await?)
    }

    /// Its sends.
    pub const fn sends(&self) -> Sends<'_> {
        Sends(self)
    }

    /// The messages of its sends.
    pub const fn messages(&self) -> Messages<'_> {
        Messages(self)
    }

    /// Its contacts.
    pub const fn contacts(&self) -> Contacts<'_> {
        Contacts(self)
    }

    /// Its tags.
    pub const fn tags(&self) -> Tags<'_> {
        Tags(self)
    }

    /// Its imports of contacts.
    pub const fn imports(&self) -> Imports<'_> {
        Imports(self)
    }

    /// The recipients that its sends skip.
    pub const fn suppressions(&self) -> Suppressions<'_> {
        Suppressions(self)
    }

    /// Its channels.
    pub const fn channels(&self) -> Channels<'_> {
        Channels(self)
    }

    /// The templates of its business accounts.
    pub const fn templates(&self) -> Templates<'_> {
        Templates(self)
    }

    /// Its API keys.
    pub const fn keys(&self) -> Keys<'_> {
        Keys(self)
    }
}

impl OperatorRecords {
    fn store(&self) -> &Store {
        &self.0
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), Error> {
        Ok(self.store().ping().await?)
    }

    /// The records of the company with this id, in the operators' turn.
    pub fn company(self, id: Uuid) -> CompanyRecords {
        CompanyRecords { records: self.0, company: id }
    }

    /// Every company.
    pub const fn companies(&self) -> Companies<'_> {
        Companies(self)
    }

    /// The channels of every company.
    pub const fn channels(&self) -> AllChannels<'_> {
        AllChannels(self)
    }

    /// Every tier.
    pub const fn tiers(&self) -> Tiers<'_> {
        Tiers(self)
    }

    /// The record of changes.
    pub const fn changes(&self) -> Changes<'_> {
        Changes(self)
    }
}

impl RequestShare {
    /// As many turns at once as `store` has connections; a request waits for its turn at most for `patience`.
    pub(super) fn new(store: Store, patience: Duration) -> Self {
        Self { queue: FairQueue::new(store.connections()), turns: DashMap::new(), store, patience }
    }

    async fn turn(&self, sharer: Uuid) -> Result<Records, Error> {
        let turn = self.queue.enqueue(&mut self.turns.entry(sharer).or_default(), 1);
        match timeout(self.patience, turn.come()).await {
            Ok(Some(turn)) => Ok(Records { store: self.store.clone(), _turn: turn }),
            Ok(None) | Err(_) => {
                tracing::warn!(patience = ?self.patience, "too many requests wait to read the database");
                Err(Error::Unavailable { retry_after: RETRY_AFTER })
            }
        }
    }
}

impl Engine {
    /// The records of this company, for one request. Drop them as soon as possible: others wait for them.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when too many requests wait.
    pub async fn company(&self, id: Uuid) -> Result<CompanyRecords, Error> {
        Ok(CompanyRecords { records: self.records_of(id).await?, company: id })
    }

    /// All companies' records, for one request of an operator.
    pub async fn operator(&self) -> Result<OperatorRecords, Error> {
        Ok(OperatorRecords(self.all_records().await?))
    }

    /// The store, for the engine's work on a request of this company.
    pub(super) async fn records_of(&self, company_id: Uuid) -> Result<Records, Error> {
        self.0.request_share.turn(company_id).await
    }

    /// The store, for the engine's work on a request of an operator.
    pub(super) async fn all_records(&self) -> Result<Records, Error> {
        self.0.request_share.turn(OPERATORS).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use store::Options;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A share with one connection.
    async fn share(patience: Duration) -> (RequestShare, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            url: format!("sqlite://{}", directory.path().join("pombo.db").display()),
            connections: 3,
            acquire_timeout: PATIENCE,
            statement_timeout: Duration::ZERO,
            synchronous_full: false,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap();
        assert_eq!(store.connections(), 1);
        (RequestShare::new(store, patience), directory)
    }

    #[actix::test]
    async fn a_company_with_many_requests_lets_another_one_take_its_turn() {
        let (share, _directory) = share(PATIENCE).await;
        let (many, one) = (Uuid::now_v7(), Uuid::now_v7());
        let first = share.turn(many).await.unwrap();
        let mut waiting: Vec<_> = (0..50).map(|_| Box::pin(share.turn(many))).collect();
        assert!(waiting.iter_mut().all(|turn| turn.now_or_never().is_none()));
        let mut other = Box::pin(share.turn(one));
        assert!((&mut other).now_or_never().is_none());
        drop(first);
        assert!((&mut waiting[0]).now_or_never().is_none());
        assert!(other.now_or_never().is_some_and(|turn| turn.is_ok()), "it stood behind fifty others");
        assert!((&mut waiting[0]).now_or_never().is_some_and(|turn| turn.is_ok()));
    }

    #[actix::test]
    async fn a_wait_for_a_turn_that_times_out_takes_no_turn_from_others() {
        let (share, _directory) = share(Duration::from_millis(1)).await;
        let company = Uuid::now_v7();
        let first = share.turn(company).await.unwrap();
        assert!(matches!(share.turn(company).await, Err(Error::Unavailable { .. })));
        drop(first);
        assert!(share.turn(company).await.is_ok());
    }
}
