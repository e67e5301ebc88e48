//! Requests to end the test: one for an early end with a report, a second for an immediate end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Notify;

use super::program::Program;

/// Listens for Ctrl-C and the service manager's signal from its creation. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop(Arc<Heard>);

#[derive(Debug, Default)]
struct Heard {
    times: AtomicU32,
    again: Notify,
}

impl Stop {
    /// Needs a running actix system.
    pub(super) fn listen(program: &impl Program) -> Self {
        let stop = Self::default();
        let heard = Arc::clone(&stop.0);
        let (program, mut asked) = (program.clone(), program.asked_to_end());
        actix::spawn(async move {
            while asked.as_mut().await.is_ok() {
                asked = program.asked_to_end();
                heard.times.fetch_add(1, Ordering::Relaxed);
                heard.again.notify_waiters();
            }
        });
        stop
    }

    /// Whether an end was requested.
    pub(super) fn is_asked(&self) -> bool {
        self.0.times.load(Ordering::Relaxed) > 0
    }

    /// Whether an immediate end was requested, without further waiting.
    pub(super) fn is_urgent(&self) -> bool {
        self.0.times.load(Ordering::Relaxed) > 1
    }

    /// Waits until an end is requested, or requested again.
    pub(super) async fn asked(&self) {
        self.0.again.notified().await;
    }
}
