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

#[derive(Default)]
struct Followed {
    callers: usize,
    /// Tasks of this process, which are not limited.
    tasks: usize,
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

/// A task that is told when a company's log has more, until this is dropped.
pub(crate) struct Follower {
    tail: Arc<Tail>,
    company: Uuid,
    changed: watch::Receiver<i64>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.tail.leave(self.company, |followed| followed.callers -= 1);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.tail.leave(self.company, |followed| followed.tasks -= 1);
    }
}

impl Follower {
    /// Waits until the company's log may have more.
    pub(crate) async fn changed(&mut self) {
        // The sender stays as long as there is a follower.
        if self.changed.changed().await.is_err() {
            std::future::pending::<()>().await;
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
    pub(crate) fn through(&self) -> watch::Receiver<i64> {
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
        let followed = callers.entry(company).or_default();
        followed.callers += 1;
        let (changed, closing) = (followed.changed.subscribe(), self.closing.subscribe());
        Ok(Seat { tail: Arc::clone(self), company, changed, closing })
    }

    /// Follows this company's log, beside the callers and without their limits. What is settled when the follower reads
    /// the log afterwards, it has to read by itself.
    pub(crate) fn follow(self: &Arc<Self>, company: Uuid) -> Follower {
        let mut callers = self.callers.lock();
        let followed = callers.entry(company).or_default();
        followed.tasks += 1;
        Follower { tail: Arc::clone(self), company, changed: followed.changed.subscribe() }
    }

    fn leave(&self, company: Uuid, leaving: impl FnOnce(&mut Followed)) {
        let mut callers = self.callers.lock();
        if let Some(followed) = callers.get_mut(&company) {
            leaving(followed);
            if followed.callers == 0 && followed.tasks == 0 {
                callers.remove(&company);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_task_follows_a_log_beside_as_many_callers_as_there_may_be() {
        let (tail, company) = (Arc::<Tail>::default(), Uuid::from_u128(1));
        let mut follower = tail.follow(company);
        let seats: Vec<_> = (0..MOST_OF_COMPANY).map(|_| tail.enter(company).unwrap()).collect();
        assert!(tail.enter(company).is_err() && tail.is_followed());
        drop(seats);
        assert!(tail.is_followed() && follower.changed().now_or_never().is_none());
        tail.callers.lock()[&company].changed.send_replace(7);
        assert!(follower.changed().now_or_never().is_some());
        drop(follower);
        assert!(!tail.is_followed());
    }
}
