//! Reading the store for channels: on a thread of its own, and a bounded number at once.
//!
//! Half of the store's connections read for channels, so that many channels with work leave the others to
//! requests. And a channel's own thread may be busy with thousands of messages: were its reads carried out
//! there, each would keep its connection until that thread comes round to it, and a thousand channels would
//! begin one by one.

use std::sync::Arc;

use actix::ArbiterHandle;
use tokio::sync::{Semaphore, oneshot};

use super::threads;
use crate::store::{Error, Result};

/// See the module.
pub(crate) struct Reader {
    thread: ArbiterHandle,
    at_once: Arc<Semaphore>,
}

impl Reader {
    /// Starts the thread; `at_once` reads run, the others stand in line.
    pub(crate) fn new(at_once: usize) -> Self {
        Self { thread: threads::start(), at_once: Arc::new(Semaphore::new(at_once.max(1))) }
    }

    /// Runs `reading` when its turn comes.
    ///
    /// # Errors
    ///
    /// Those of `reading`; [`Error::Unavailable`] when it was cut short.
    pub(crate) fn read<T, R>(&self, reading: R) -> impl Future<Output = Result<T>> + use<T, R>
    where
        T: Send + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let at_once = Arc::clone(&self.at_once);
        self.thread.spawn(async move {
            let Ok(_place) = at_once.acquire_owned().await else { return };
            // Who asked may have ended meanwhile.
            let _ = answer.send(reading.await);
        });
        async move {
            answered.await.unwrap_or_else(|_| Err(Error::Unavailable("reading was cut short".to_owned())))
        }
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.thread.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_bounded_number_reads_at_once_and_each_gets_its_own_answer() {
        actix::System::new().block_on(async {
            let reader = Reader::new(2);
            let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let read = |number: usize| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                reader.read(async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    for _ in 0..10 {
                        tokio::task::yield_now().await;
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(number)
                })
            };
            let reads: Vec<_> = (0..20).map(read).collect();
            for (number, read) in reads.into_iter().enumerate() {
                assert_eq!(read.await.unwrap(), number);
            }
            assert_eq!(most.load(Ordering::SeqCst), 2);
            reader.stop();
        });
    }

    #[test]
    fn a_read_that_is_cut_short_is_an_error_that_passes() {
        actix::System::new().block_on(async {
            let reader = Reader::new(1);
            let endless = reader.read(std::future::pending::<Result<()>>());
            reader.stop();
            assert!(endless.await.unwrap_err().is_passing());
        });
    }
}
