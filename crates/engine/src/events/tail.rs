//! The end of the log: one task finds what is new, and wakes those who wait for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;
use uuid::Uuid;

use domain::error::{Code, Refusal};
use store::Store;

/// How often the log is read when other processes may write to it: while somebody waits, …
const WAITED_FOR: Duration = Duration::from_millis(100);
/// … and while nobody does.
const IDLE: Duration = Duration::from_secs(1);
/// How soon the log is read again while transactions that may add to it are open.
const UNSETTLED: Duration = Duration::from_millis(20);
/// Callers that wait at the same time: each keeps a connection.
const MOST: usize = 1_000;
/// Callers of one company that wait at the same time.
const MOST_OF_COMPANY: usize = 100;

/// What is known of the log's end.
pub(crate) struct Tail {
    /// The block up to which the log is complete.
    through: watch::Sender<i64>,
    callers: Mutex<HashMap<Uuid, Followed>>,
    closing: watch::Sender<bool>,
}

struct Followed {
    callers: usize,
    /// The newest complete block when the company's log last changed.
    changed: watch::Sender<i64>,
}

impl Default for Tail {
    fn default() -> Self {
        Self { through: watch::Sender::new(0), callers: Mutex::default(), closing: watch::Sender::new(false) }
    }
}

/// A caller's place, which is free again when the caller leaves.
pub struct Seat {
    tail: Arc<Tail>,
    company: Uuid,
    changed: watch::Receiver<i64>,
    closing: watch::Receiver<bool>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut callers = self.tail.callers.lock();
        if let Some(followed) = callers.get_mut(&self.company) {
            followed.callers -= 1;
            if followed.callers == 0 {
                callers.remove(&self.company);
            }
        }
    }
}

impl Seat {
    /// Waits until the company's log may have more, at most for `patience`. Returns `false` if the service is stopping.
    pub async fn changed(&mut self, patience: Duration) -> bool {
        tokio::select! {
            _ = self.changed.changed() => true,
            _ = self.closing.wait_for(|closing| *closing) => false,
            () = tokio::time::sleep(patience) => true,
        }
    }

    /// Whether the service is stopping.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}

impl Tail {
    /// Looks at the end of the log, and waits until it may have changed. Returns the pause before the next look.
    pub(super) async fn round(&self, store: &Store) -> Duration {
        match self.look(store).await {
            Ok(true) => {}
            Ok(false) => return UNSETTLED,
            Err(error) => {
                tracing::debug!(%error, "the log of events cannot be read");
                return IDLE;
            }
        }
        let patience = if self.is_followed() { WAITED_FOR } else { IDLE };
        let _ = timeout(patience, store.event_log().written()).await;
        Duration::ZERO
    }

    /// Wakes those whose log has more. Returns whether the log is complete up to its newest block.
    async fn look(&self, store: &Store) -> store::Result<bool> {
        let before = *self.through.borrow();
        let settled = store.event_log().settle().await?;
        if settled.through > before {
            if self.is_followed() {
                let changed = store.event_log().companies_of(before, settled.through).await?;
                let callers = self.callers.lock();
                for company in changed {
                    if let Some(followed) = callers.get(&company) {
                        followed.changed.send_replace(settled.through);
                    }
                }
            }
            self.through.send_replace(settled.through);
        }
        Ok(settled.is_all)
    }

    fn is_followed(&self) -> bool {
        !self.callers.lock().is_empty()
    }

    /// The block up to which the log is complete, as it changes.
    pub(super) fn through(&self) -> watch::Receiver<i64> {
        self.through.subscribe()
    }

    /// Answers all callers, and lets no others wait.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// A place for one more caller of this company, or why there is none.
    pub(super) fn enter(self: &Arc<Self>, company: Uuid) -> Result<Seat, Refusal> {
        let mut callers = self.callers.lock();
        let of_company = callers.get(&company).map_or(0, |followed| followed.callers);
        if of_company >= MOST_OF_COMPANY
            || callers.values().map(|followed| followed.callers).sum::<usize>() >= MOST
        {
            let sentence = format!(
                "{MOST_OF_COMPANY} requests of the company, or {MOST} of all, wait for events already: ask without \
                 `wait`, or again later"
            );
            return Err(Refusal::new(Code::RateLimited, sentence));
        }
        let followed =
            callers.entry(company).or_insert_with(|| Followed { callers: 0, changed: watch::Sender::new(0) });
        followed.callers += 1;
        let (changed, closing) = (followed.changed.subscribe(), self.closing.subscribe());
        Ok(Seat { tail: Arc::clone(self), company, changed, closing })
    }
}
