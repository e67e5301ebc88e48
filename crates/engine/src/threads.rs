//! Threads for actors.

use actix::{Arbiter, ArbiterHandle};
use tokio::runtime::Builder;

/// Starts a thread for actors.
///
/// Unlike the thread of [`Arbiter::new`] it stays in the context of its runtime until it ends. A thread that ends drops
/// the tasks that are under way on it, and some of those need the context for that: a query gives its connection back
/// in a new task, and would panic without one.
#[expect(clippy::expect_used, reason = "like `Arbiter::new`: a service that gets no threads cannot start")]
pub(super) fn start() -> ArbiterHandle {
    let runtime = || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // Entered for as long as the thread lives, and not only while the runtime drives it.
        std::mem::forget(runtime.enter());
        Ok(runtime)
    };
    Arbiter::try_with_tokio_rt(runtime).expect("the system provides no thread for actors").handle()
}
