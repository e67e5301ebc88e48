//! API keys in memory, so that a request does not ask the database who it is: neither with a key that opens something,
//! nor again and again with one that does not.

use dashmap::DashMap;

use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Timestamp;
use crate::store::api_key::KeyRecord;
use crate::store::{Result, Store};
use crate::vault::api_key;

/// The most keys remembered that open something, and the most that do not; when there are more, all are dropped.
const CAPACITY: usize = 10_000;

/// Keys that were looked up, each with the revision at which it was read: when any key is added or revoked,
/// all are read again.
#[derive(Default)]
pub(super) struct Keys {
    found: DashMap<[u8; 32], (i64, KeyRecord)>,
    /// Apart, so that guesses cannot crowd out the keys of companies.
    unknown: DashMap<[u8; 32], i64>,
    revision: AtomicI64,
}

impl Keys {
    /// Forgets what was read before this revision.
    pub(super) fn forget_before(&self, revision: i64) {
        self.revision.store(revision, Ordering::Release);
        self.found.retain(|_, (read, _)| *read >= revision);
        self.unknown.retain(|_, read| *read >= revision);
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
        if self.unknown.get(&hash).is_some_and(|read| *read == revision) {
            return Ok(None);
        }
        let Some(record) = store.find_api_key(&hash).await?.filter(is_valid) else {
            if self.unknown.len() >= CAPACITY {
                self.unknown.clear();
            }
            self.unknown.insert(hash, revision);
            return Ok(None);
        };
        if self.found.len() >= CAPACITY {
            self.found.clear();
        }
        self.found.insert(hash, (revision, record.clone()));
        Ok(Some(record))
    }
}
