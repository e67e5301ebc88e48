//! The threads of sessions.

use std::pin::Pin;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use whatsapp_rust::Runtime;
use whatsapp_rust::wacore::runtime::AbortHandle;

/// How long the library shows the first QR code, and each of the others. After the last it disconnects, even
/// while WhatsApp waits for a passkey on that connection, which may take minutes.
const SPANS_OF_CODES: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(20)];

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The runtime for the library. The library's own implementation spawns on the caller's runtime, which may have
/// a single thread that also serves requests, and may end. This one is bound to the driver's runtime.
pub(super) struct Threads {
    handle: Handle,
    /// Whether WhatsApp waits for a passkey, so that the timers of QR codes are stopped.
    at_gate: watch::Receiver<bool>,
}

impl Threads {
    pub(super) const fn new(handle: Handle, at_gate: watch::Receiver<bool>) -> Self {
        Self { handle, at_gate }
    }
}

impl Runtime for Threads {
    fn spawn(&self, future: Task) -> AbortHandle {
        let task = self.handle.spawn(future);
        AbortHandle::new(move || task.abort())
    }

    fn spawn_detached(&self, future: Task) {
        self.handle.spawn(future);
    }

    fn sleep(&self, duration: Duration) -> Task {
        let _here = self.handle.enter();
        let sleep = tokio::time::sleep(duration);
        if !SPANS_OF_CODES.contains(&duration) {
            return Box::pin(sleep);
        }
        // No other sleep of these lengths lasts while a connection waits for a passkey.
        Box::pin(held(sleep, self.at_gate.clone()))
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send>) -> Task {
        let work = self.handle.spawn_blocking(work);
        Box::pin(async move {
            // A panic in the task shows in the missing result of its work.
            let _ = work.await;
        })
    }

    fn yield_now(&self) -> Option<Task> {
        None
    }
}

/// Waits until `sleep` ends and WhatsApp no longer waits for a passkey.
async fn held(sleep: impl Future, mut at_gate: watch::Receiver<bool>) {
    sleep.await;
    // An error means that the session has ended.
    let _ = at_gate.wait_for(|is_waiting| !*is_waiting).await;
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn qr_codes_do_not_expire_while_whatsapp_waits_for_a_passkey() {
        let (gate, at_gate) = watch::channel(true);
        let mut code = Box::pin(held(ready(()), at_gate.clone()));
        assert!((&mut code).now_or_never().is_none());
        gate.send_replace(false);
        assert!(code.now_or_never().is_some());
        gate.send_replace(true);
        let mut code = Box::pin(held(ready(()), at_gate));
        assert!((&mut code).now_or_never().is_none());
        drop(gate);
        assert!(code.now_or_never().is_some(), "the session has ended");
    }
}
