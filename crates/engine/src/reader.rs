//! Reads the store for channels, on a thread of its own, with as many reads at once as the store has connections.
//!
//! These connections are reserved for channels: requests and the acceptance of sends do not delay a channel's reads,
//! and a channel's reads do not delay them. A channel's own thread may be busy with thousands of messages: if its reads
//! ran there, each would keep its connection until that thread gets to it, and a thousand channels would start one by
//! one.

use std::sync::Arc;

use actix::ArbiterHandle;
use tokio::sync::{Semaphore, oneshot};

use crate::threads;
use store::{Error, Result, Store};

pub(crate) struct Reader {
    thread: ArbiterHandle,
    at_once: Arc<Semaphore>,
    store: Store,
}

impl Reader {
    /// Starts the thread. As many reads run at once as `store` has connections; the others wait in a queue.
    pub(crate) fn new(store: Store) -> Self {
        let at_once = Arc::new(Semaphore::new(store.connections()));
        Self { thread: threads::start(), at_once, store }
    }

    /// The store to read from.
    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }

    /// Runs `reading` when its turn comes.
    ///
    /// # Errors
    ///
    /// Those of `reading`; [`Error::Unavailable`] when it was interrupted.
    pub(crate) fn read<T, R>(&self, reading: R) -> impl Future<Output = Result<T>> + use<T, R>
    where
        T: Send + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let at_once = Arc::clone(&self.at_once);
        self.thread.spawn(async move {
            let Ok(_place) = at_once.acquire_owned().await else { return };
            // The caller may have ended meanwhile.
            let _ = answer.send(reading.await);
        });
        async move {
            answered.await.unwrap_or_else(|_| Err(Error::Unavailable("the read was interrupted".to_owned())))
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
    use store::{Options, Purpose};

    /// A reader with this many connections to an empty database.
    async fn reader(at_once: u32) -> (Reader, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            url: format!("sqlite://{}", directory.path().join("pombo.db").display()),
            connections: 3 * at_once,
            acquire_timeout: std::time::Duration::from_secs(60),
            statement_timeout: std::time::Duration::ZERO,
            synchronous_full: false,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap().reserved_for(Purpose::Dispatch);
        assert_eq!(store.connections(), at_once as usize);
        (Reader::new(store), directory)
    }

    #[test]
    fn a_bounded_number_reads_at_once_and_each_gets_its_own_answer() {
        actix::System::new().block_on(async {
            let (reader, _directory) = reader(2).await;
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
    fn an_interrupted_read_is_a_temporary_error() {
        actix::System::new().block_on(async {
            let (reader, _directory) = reader(1).await;
            let endless = reader.read(std::future::pending::<Result<()>>());
            reader.stop();
            assert!(endless.await.unwrap_err().is_passing());
        });
    }
}
