//! Access to the store for requests that list, search or change records: a bounded share, and companies take turns.
//!
//! Their connections are a share of their own, so that no number of readers holds up accepting or dispatching. Whoever
//! has waited too long for a turn is told to come again.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio::time::timeout;
use uuid::Uuid;

use super::fair_line::{FairLine, Grant, Share};
use super::{Engine, Error, RETRY_AFTER};
use crate::store::Store;

/// Operators share their turns; no company has this id.
const OPERATORS: Uuid = Uuid::nil();

/// The share of requests, and the line for it.
pub(super) struct RequestShare {
    store: Store,
    line: Arc<FairLine>,
    /// One entry for each company that asked.
    turns: DashMap<Uuid, Share>,
    patience: Duration,
}

/// The store, for one request; the turn ends with it.
pub struct Records {
    store: Store,
    _turn: Grant,
}

impl Deref for Records {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl RequestShare {
    /// As many turns at once as `store` has connections; one that does not come within `patience` is given up.
    pub(super) fn new(store: Store, patience: Duration) -> Self {
        Self { line: FairLine::new(store.connections()), turns: DashMap::new(), store, patience }
    }

    async fn turn(&self, sharer: Uuid) -> Result<Records, Error> {
        let turn = self.line.stand(&mut self.turns.entry(sharer).or_default(), 1);
        match timeout(self.patience, turn.come()).await {
            Ok(Some(turn)) => Ok(Records { store: self.store.clone(), _turn: turn }),
            Ok(None) | Err(_) => {
                tracing::warn!(patience = ?self.patience, "too many requests read from the database at once");
                Err(Error::Unavailable { retry_after: RETRY_AFTER })
            }
        }
    }
}

impl Engine {
    /// The store, for what a request of this company lists or changes. Held no longer than it takes: others wait for
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when too many requests are before it.
    pub async fn records_of(&self, company_id: Uuid) -> Result<Records, Error> {
        self.0.request_share.turn(company_id).await
    }

    /// The store, for what a request of an operator lists or changes.
    ///
    /// # Errors
    ///
    /// As [`Engine::records_of`].
    pub async fn all_records(&self) -> Result<Records, Error> {
        self.0.request_share.turn(OPERATORS).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::store::Options;

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
    async fn a_turn_that_does_not_come_is_given_up_and_costs_nobody_else_one() {
        let (share, _directory) = share(Duration::from_millis(1)).await;
        let company = Uuid::now_v7();
        let first = share.turn(company).await.unwrap();
        assert!(matches!(share.turn(company).await, Err(Error::Unavailable { .. })));
        drop(first);
        assert!(share.turn(company).await.is_ok());
    }
}
