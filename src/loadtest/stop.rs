//! Whether somebody asked for the end: once for an early one with a report, twice for an immediate one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use crate::app::shutdown;

/// Listens for Ctrl-C and the service manager's signal from the moment that it is made. Clones hear the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    times: AtomicU32,
    again: Notify,
}

impl Stop {
    /// Needs a running actix system.
    pub(super) fn listen() -> Self {
        let stop = Self::default();
        let heard = Arc::clone(&stop.0);
        let mut asked = Box::pin(shutdown::requested());
        actix::spawn(async move {
            while asked.as_mut().await.is_ok() {
                asked.set(shutdown::requested());
                heard.times.fetch_add(1, Ordering::Relaxed);
                heard.again.notify_waiters();
            }
        });
        stop
    }

    /// Whether it was asked for.
    pub(super) fn is_asked(&self) -> bool {
        self.0.times.load(Ordering::Relaxed) > 0
    }

    /// Whether it was asked for twice: nothing is waited for then.
    pub(super) fn is_urgent(&self) -> bool {
        self.0.times.load(Ordering::Relaxed) > 1
    }

    /// Waits until it is asked for, or asked for once more.
    pub(super) async fn asked(&self) {
        self.0.again.notified().await;
    }
}
