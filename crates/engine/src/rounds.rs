//! Rounds of background work, which go on when one of them panics.
//!
//! A panic ends its task, and with it all later work of the task. Work that the service cannot do without runs here: a
//! panic is logged, and costs only the round that it happened in.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use actix::ArbiterHandle;
use futures_util::FutureExt as _;
use store::Store;

/// Delay before the next round after one that panicked.
const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);
/// How often a step checks whether others write, and how long it waits for them at most: a busy service is never idle.
const GIVE_WAY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// The result of `work`; `None` when it panicked, which is logged under its name.
pub(crate) async fn caught<T>(name: &'static str, work: impl Future<Output = T>) -> Option<T> {
    // After a panic only shared state is used again, and its locks recover.
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => Some(result),
        Err(panic) => {
            let sentence = panic_message(&*panic);
            tracing::error!(
                work = name,
                sentence,
                "background work panicked because of a defect; it goes on"
            );
            metrics::counter!("pombo_panics_total", "work" => name).increment(1);
            None
        }
    }
}

/// The words of a panic that was caught; `no message` when its value is no text.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Waits while others write, for a bounded time.
pub(crate) async fn give_way(store: &Store) {
    let (each, most) = GIVE_WAY;
    let until = Instant::now() + most;
    while store.retention().is_writing() && Instant::now() < until {
        tokio::time::sleep(each).await;
    }
}

/// Runs `round` on `thread` until the thread ends: at once, and again after each pause that it returns.
pub(crate) fn repeat(
    thread: &ArbiterHandle,
    name: &'static str,
    mut round: impl AsyncFnMut() -> Duration + Send + 'static,
) {
    thread.spawn_fn(move || {
        actix::spawn(async move {
            loop {
                let pause = caught(name, async { round().await }).await;
                tokio::time::sleep(pause.unwrap_or(PAUSE_AFTER_PANIC)).await;
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn work_goes_on_after_a_round_that_panicked_and_keeps_its_state() {
        actix::System::new().block_on(async {
            let thread = actix::Arbiter::new();
            let (tell, mut told) = mpsc::unbounded_channel();
            let mut rounds = 0;
            repeat(&thread.handle(), "test", async move || {
                rounds += 1;
                tell.send(rounds).unwrap();
                tokio::task::yield_now().await;
                assert!(rounds != 2, "the second round panics");
                Duration::from_millis(1)
            });
            for expected in 1..=4 {
                assert_eq!(told.recv().await, Some(expected));
            }
            thread.stop();
        });
    }

    #[test]
    fn work_that_panics_before_it_waits_for_anything_is_caught_too() {
        let caught = actix::System::new().block_on(caught("test", async { panic!("at once") }));
        assert_eq!(caught, None::<()>);
    }
}
