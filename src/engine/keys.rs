//! API keys in memory, so that a request does not ask the database who it is.

use dashmap::DashMap;

use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Timestamp;
use crate::store::api_key::KeyRecord;
use crate::store::{Result, Store};
use crate::vault::api_key;

/// The most keys remembered; more begin anew.
const CAPACITY: usize = 10_000;

/// Keys that were found, each with the revision at which it was read: when any key is added or revoked,
/// all are read again.
#[derive(Default)]
pub(super) struct Keys {
    found: DashMap<[u8; 32], (i64, KeyRecord)>,
    revision: AtomicI64,
}

impl Keys {
    /// Forgets what was read before this revision.
    pub(super) fn forget_before(&self, revision: i64) {
        self.revision.store(revision, Ordering::Release);
        self.found.retain(|_, (read, _)| *read >= revision);
    }

    /// The key, when it is known and still opens something.
    pub(super) async fn find(&self, store: &Store, plain: &str) -> Result<Option<KeyRecord>> {
        let hash = api_key::hash(plain);
        // Read before the database is: a key revoked meanwhile is read again next time.
        let revision = self.revision.load(Ordering::Acquire);
        let known = self.found.get(&hash).filter(|entry| entry.0 == revision).map(|entry| entry.1.clone());
        let is_valid = |record: &KeyRecord| record.is_valid(Timestamp::now());
        if known.is_some() {
            return Ok(known.filter(is_valid));
        }
        let Some(record) = store.find_api_key(&hash).await?.filter(is_valid) else { return Ok(None) };
        if self.found.len() >= CAPACITY {
            self.found.clear();
        }
        self.found.insert(hash, (revision, record.clone()));
        Ok(Some(record))
    }
}
