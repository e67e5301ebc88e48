//! The threads that sessions work on.

use std::pin::Pin;
use std::time::Duration;

use tokio::runtime::Handle;
use whatsapp_rust::Runtime;
use whatsapp_rust::wacore::runtime::AbortHandle;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The library's own one spawns on the runtime of whoever calls, which may be one thread that also serves requests
/// and that ends. This one is bound to the driver's.
pub(super) struct Threads(pub(super) Handle);

impl Runtime for Threads {
    fn spawn(&self, future: Task) -> AbortHandle {
        let task = self.0.spawn(future);
        AbortHandle::new(move || task.abort())
    }

    fn spawn_detached(&self, future: Task) {
        self.0.spawn(future);
    }

    fn sleep(&self, duration: Duration) -> Task {
        let _here = self.0.enter();
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send>) -> Task {
        let work = self.0.spawn_blocking(work);
        Box::pin(async move {
            // A panic in there is told by the work's own result, which never comes.
            let _ = work.await;
        })
    }

    fn yield_now(&self) -> Option<Task> {
        None
    }
}
