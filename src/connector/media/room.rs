//! How much is fetched at once: links, and the memory that their files take.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::refusal;
use crate::error::Refusal;

/// One picture is decoded at a time: decoding takes many times the memory of the file.
const DECODERS: usize = 1;

/// What there is to share.
pub(super) struct Room {
    links: Semaphore,
    /// One permit for each KiB.
    memory: Arc<Semaphore>,
    decoders: Semaphore,
    patience: Duration,
}

/// The memory that one file takes, given back when this is dropped.
pub(super) struct Taken(OwnedSemaphorePermit);

impl Room {
    /// For so many links at once whose files take so many bytes together; nobody waits longer than `patience`.
    pub(super) fn new(links: usize, memory: usize, patience: Duration) -> Self {
        Self {
            links: Semaphore::new(links),
            memory: Arc::new(Semaphore::new(kibibytes(memory) as usize)),
            decoders: Semaphore::new(DECODERS),
            patience,
        }
    }

    /// A place for one link.
    pub(super) async fn place(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        in_time(timeout(self.patience, self.links.acquire()).await)
    }

    /// Memory for a file of so many bytes.
    pub(super) async fn memory(&self, bytes: usize) -> Result<Taken, Refusal> {
        let memory = Arc::clone(&self.memory).acquire_many_owned(kibibytes(bytes));
        in_time(timeout(self.patience, memory).await).map(Taken)
    }

    /// The turn to decode a picture; `None` when others take too long.
    pub(super) async fn decoder(&self) -> Option<SemaphorePermit<'_>> {
        in_time(timeout(self.patience, self.decoders.acquire()).await).ok()
    }
}

impl Taken {
    /// Gives back what a file of so many bytes does not need.
    pub(super) fn shrink(&mut self, bytes: usize) {
        let surplus = self.0.num_permits().saturating_sub(kibibytes(bytes) as usize);
        drop(self.0.split(surplus));
    }
}

/// Nobody closes these semaphores, so that only the wait can fail.
fn in_time<T, E>(permit: Result<Result<T, AcquireError>, E>) -> Result<T, Refusal> {
    permit.ok().and_then(Result::ok).ok_or_else(refusal::busy)
}

fn kibibytes(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(5);

    #[tokio::test]
    async fn memory_is_given_back_when_a_file_is_smaller_than_feared_and_when_it_is_done_with() {
        let room = Room::new(1, 8 * 1024, PATIENCE);
        let mut first = room.memory(8 * 1024).await.unwrap();
        assert_eq!(room.memory(1).await.err(), Some(refusal::busy()));
        first.shrink(1025);
        let second = room.memory(6 * 1024).await.unwrap();
        assert_eq!(room.memory(1).await.err(), Some(refusal::busy()));
        drop((first, second));
        assert!(room.memory(8 * 1024).await.is_ok());
    }

    #[tokio::test]
    async fn a_link_waits_for_its_place_and_not_for_ever() {
        let room = Room::new(1, 1024, PATIENCE);
        let place = room.place().await.unwrap();
        assert_eq!(room.place().await.err(), Some(refusal::busy()));
        drop(place);
        assert!(room.place().await.is_ok());
    }
}
