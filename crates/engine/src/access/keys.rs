//! API keys in memory, so that requests do not query the database for their keys: neither for valid keys nor,
//! repeatedly, for unknown ones. The time of a key's last use is written later, to the minute.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use uuid::Uuid;

use crate::Engine;
use clock::Timestamp;
use store::api_keys::KeyRecord;
use store::{Result, Store};
use vault::api_key;

/// The most valid keys in memory, and the most unknown ones; when there are more, all are dropped.
const CAPACITY: usize = 10_000;
/// How often the last uses of keys are written.
pub(crate) const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// The precision of a last use.
const MINUTE: Duration = Duration::from_secs(60);

/// Keys that were read, each with the revision of the read: when any key is added or revoked, all are read again.
#[derive(Default)]
pub(crate) struct Keys {
    found: DashMap<[u8; 32], KnownKey>,
    /// Separate, so that guessed keys cannot push out the keys of companies.
    unknown: DashMap<[u8; 32], i64>,
    revision: AtomicI64,
    /// Last uses that are not written yet.
    uses: DashMap<Uuid, Timestamp>,
}

struct KnownKey {
    revision: i64,
    record: KeyRecord,
    /// The last use that was noted, in milliseconds.
    noted: AtomicI64,
}

impl Keys {
    /// Invalidates keys that were read before this revision. A revision that was overtaken by a later one changes nothing.
    pub(crate) fn forget_before(&self, revision: i64) {
        let revision = revision.max(self.revision.fetch_max(revision, Ordering::AcqRel));
        self.found.retain(|_, known| known.revision >= revision);
        self.unknown.retain(|_, read| *read >= revision);
    }

    /// The key, if it is valid. It counts as used.
    pub(crate) async fn find(&self, store: &Store, plain: &str) -> Result<Option<KeyRecord>> {
        let (hash, now) = (api_key::hash(plain), Timestamp::now());
        // The revision is read before the key, so that a key that is revoked meanwhile is read again next time.
        let revision = self.revision.load(Ordering::Acquire);
        if let Some(known) = self.found.get(&hash).filter(|known| known.revision == revision) {
            let is_valid = known.record.is_valid(now);
            if is_valid {
                self.note(&known, now);
            }
            return Ok(is_valid.then(|| known.record.clone()));
        }
        if self.unknown.get(&hash).is_some_and(|read| *read == revision) {
            return Ok(None);
        }
        let found = store.keys().find(&hash).await?;
        let Some(record) = found.filter(|record| record.is_valid(now)) else {
            if self.unknown.len() >= CAPACITY {
                self.unknown.clear();
            }
            self.unknown.insert(hash, revision);
            return Ok(None);
        };
        if self.found.len() >= CAPACITY {
            self.found.clear();
        }
        let noted = AtomicI64::new(record.last_used_at.map_or(0, Timestamp::millis));
        let known = KnownKey { revision, record: record.clone(), noted };
        self.note(&known, now);
        self.found.insert(hash, known);
        Ok(Some(record))
    }

    /// Notes a use to be written, at most one a minute for each key.
    fn note(&self, known: &KnownKey, now: Timestamp) {
        let noted = known.noted.load(Ordering::Relaxed);
        if Timestamp::from_millis(noted).plus(MINUTE) > now || self.uses.len() >= CAPACITY {
            return;
        }
        known.noted.store(now.millis(), Ordering::Relaxed);
        self.uses.insert(known.record.id, now);
    }

    /// Whether this process saw a use of the key.
    pub(crate) fn is_used(&self, id: Uuid) -> bool {
        let is_noted = |known: &KnownKey| known.record.id == id && known.noted.load(Ordering::Relaxed) > 0;
        self.uses.contains_key(&id) || self.found.iter().any(|known| is_noted(known.value()))
    }

    /// Takes the uses to write. A use whose write fails is noted again a minute later.
    fn take_uses(&self) -> Vec<(Uuid, Timestamp)> {
        let mut uses = Vec::new();
        self.uses.retain(|id, at| {
            uses.push((*id, *at));
            false
        });
        uses
    }
}

impl Engine {
    /// Writes the last uses of keys.
    pub(crate) async fn write_key_uses(&self) {
        let uses = self.0.keys.take_uses();
        if uses.is_empty() {
            return;
        }
        if let Err(error) = self.store().keys().note_uses(&uses).await {
            tracing::debug!(%error, "cannot write the last use of keys");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::scope::Scopes;

    #[test]
    fn a_use_is_noted_once_a_minute_and_written_once() {
        let keys = Keys::default();
        let (id, start) = (Uuid::from_u128(1), Timestamp::from_millis(10_000_000));
        let record = KeyRecord {
            id,
            company_id: Uuid::nil(),
            name: "shop".into(),
            tier: "standard".into(),
            is_company_disabled: false,
            expires_at: None,
            revoked_at: None,
            scopes: Scopes::ALL,
            last_used_at: Some(start),
            channels: None,
        };
        let known = KnownKey { revision: 0, record, noted: AtomicI64::new(start.millis()) };
        let at = |seconds| start.plus(Duration::from_secs(seconds));
        for (seconds, uses) in
            [(59, vec![]), (60, vec![(id, at(60))]), (119, vec![]), (120, vec![(id, at(120))])]
        {
            keys.note(&known, at(seconds));
            assert_eq!(keys.take_uses(), uses, "after {seconds} s");
        }
    }
}
