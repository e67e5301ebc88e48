//! Stores when sessions were last used, to the minute: in the background of the request, at most once a
//! minute for each session.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use uuid::Uuid;

use clock::Timestamp;
use store::Store;

/// The precision of a last use.
const MINUTE: Duration = Duration::from_secs(60);
/// The maximum of sessions that are kept; beyond it all are removed.
const CAPACITY: usize = 10_000;

/// When each session's last use was last written.
#[derive(Default)]
pub(super) struct LastUses(Mutex<HashMap<Uuid, Timestamp>>);

impl LastUses {
    /// Whether a session's use has to be written now. `known` is the time in the database.
    fn is_due(&self, session_id: Uuid, known: Timestamp, now: Timestamp) -> bool {
        let is_old = |written: Timestamp| written.plus(MINUTE) <= now;
        if !is_old(known) {
            return false;
        }
        let mut written = self.0.lock();
        if written.get(&session_id).is_some_and(|written| !is_old(*written)) {
            return false;
        }
        if written.len() >= CAPACITY {
            written.clear();
        }
        written.insert(session_id, now);
        true
    }

    /// Notes that a session is used. The request does not wait for the write; a failed write is retried a
    /// minute later.
    pub(super) fn note(&self, store: &Store, session_id: Uuid, known: Timestamp, now: Timestamp) {
        if !self.is_due(session_id, known, now) {
            return;
        }
        let store = store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.sessions().touch(session_id, now).await {
                tracing::debug!(%error, "cannot write the last use of a session");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_written_once_a_minute() {
        let uses = LastUses::default();
        let (id, start) = (Uuid::from_u128(1), Timestamp::from_millis(1_000_000));
        let at = |seconds| start.plus(Duration::from_secs(seconds));
        assert!(!uses.is_due(id, start, at(59)), "the database knows");
        assert!(uses.is_due(id, start, at(60)));
        assert!(!uses.is_due(id, start, at(61)), "a write is in progress");
        assert!(uses.is_due(id, start, at(120)), "the write may have failed");
        assert!(uses.is_due(Uuid::from_u128(2), start, at(61)));
    }
}
