//! The world under its lock, and waits for its changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use whatsapp_rust::wacore::libsignal::protocol::KeyPair;

use super::world::World;

/// The timeout of a test's waits.
const PATIENCE: Duration = Duration::from_secs(15);

/// What all connections share.
pub(super) struct Server {
    /// The server's own key, which known clients have stored.
    pub(super) key: KeyPair,
    /// `127.0.0.1:PORT`, where files are kept.
    pub(super) media_host: String,
    /// Where tasks run.
    pub(super) runtime: Handle,
    world: Mutex<World>,
    /// Wakes waiting tests after each change of the world.
    changes: watch::Sender<()>,
    last_number: AtomicU64,
}

impl Server {
    pub(super) fn new(media_host: String, runtime: Handle) -> Self {
        Self {
            key: KeyPair::generate(&mut rand::rng()),
            media_host,
            runtime,
            world: Mutex::default(),
            changes: watch::Sender::new(()),
            last_number: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Reads the world.
    pub(super) fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        look(&self.lock())
    }

    /// Changes the world, and wakes waiting tests.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changes.send_replace(());
        changed
    }

    /// A number that nothing else has.
    pub(super) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Waits until a condition is true.
    ///
    /// # Panics
    ///
    /// If it stays false for 15 s; the message names the condition and the events instead.
    pub(super) async fn wait_for<T>(&self, what: &str, mut look: impl FnMut(&World) -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        let waiting = async {
            loop {
                // Marked before the check, so that no change between the two is missed.
                changes.mark_unchanged();
                if let Some(found) = self.look(&mut look) {
                    return found;
                }
                let _ = changes.changed().await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, waiting).await;
        found.unwrap_or_else(|_| {
            panic!("timed out after {PATIENCE:?} waiting for {what}; {}", self.look(World::summary))
        })
    }

    /// Records something that the server did not understand: it fails the test.
    pub(super) fn fault(&self, fault: String) {
        self.change(|world| world.faults.push(fault));
    }
}
