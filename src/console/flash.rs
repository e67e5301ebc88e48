//! Values that the next page shows once: that something was done, or a secret that is shown only once.
//!
//! They are kept in memory for some minutes, for one session. A value is removed when it is shown.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

/// The name of the sentence that something was done: the next page that is shown whole says it.
pub(super) const DONE: &str = "done";
/// How long a value is kept.
const KEPT: Duration = Duration::from_secs(10 * 60);
/// The maximum of values; beyond it the oldest is removed.
const MOST: usize = 4_096;

/// All values that are not shown yet.
#[derive(Debug, Default)]
pub(super) struct Flashes(Mutex<VecDeque<Flash>>);

#[derive(Debug)]
struct Flash {
    session: Uuid,
    name: &'static str,
    value: String,
    since: Instant,
}

impl Flashes {
    /// Keeps `value` for the next page of this session that asks for `name`.
    pub(super) fn put(&self, session: Uuid, name: &'static str, value: impl Into<String>) {
        let mut flashes = self.0.lock();
        flashes.retain(|flash| {
            flash.since.elapsed() < KEPT && !(flash.session == session && flash.name == name)
        });
        while flashes.len() >= MOST {
            flashes.pop_front();
        }
        flashes.push_back(Flash { session, name, value: value.into(), since: Instant::now() });
    }

    /// As [`Flashes::put`], unless a value of that name waits to be shown: a double click must not hide what the first
    /// click did.
    pub(super) fn put_behind(&self, session: Uuid, name: &'static str, value: impl Into<String>) {
        if !self.holds(session, name) {
            self.put(session, name, value);
        }
    }

    /// Whether a value of this name is kept for this session.
    pub(super) fn holds(&self, session: Uuid, name: &'static str) -> bool {
        let is_it =
            |flash: &Flash| flash.session == session && flash.name == name && flash.since.elapsed() < KEPT;
        self.0.lock().iter().any(is_it)
    }

    /// Removes and returns the value of this name for this session.
    pub(super) fn take(&self, session: Uuid, name: &'static str) -> Option<String> {
        let mut flashes = self.0.lock();
        let index = flashes.iter().position(|flash| flash.session == session && flash.name == name)?;
        flashes.remove(index).filter(|flash| flash.since.elapsed() < KEPT).map(|flash| flash.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_once_and_only_to_its_session() {
        let (flashes, session) = (Flashes::default(), Uuid::now_v7());
        flashes.put(session, "key", "old");
        flashes.put(session, "key", "secret");
        flashes.put(session, "done", "created");
        assert_eq!(flashes.take(Uuid::now_v7(), "key"), None);
        assert_eq!(flashes.take(session, "key").as_deref(), Some("secret"));
        assert_eq!(flashes.take(session, "key"), None);
        flashes.put_behind(session, "done", "created before");
        assert_eq!(flashes.take(session, "done").as_deref(), Some("created"));
        flashes.put_behind(session, "done", "created before");
        assert_eq!(flashes.take(session, "done").as_deref(), Some("created before"));
    }

    #[test]
    fn the_number_of_kept_values_is_bounded() {
        let flashes = Flashes::default();
        let sessions: Vec<_> = (0..=MOST).map(|_| Uuid::now_v7()).collect();
        for session in &sessions {
            flashes.put(*session, "key", "secret");
        }
        assert_eq!(flashes.take(sessions[0], "key"), None);
        assert!(flashes.take(sessions[1], "key").is_some());
    }
}
