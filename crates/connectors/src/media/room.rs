//! Limits how many links are fetched at once, and the memory of their files. Companies have fair shares of
//! both.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use super::refusal;
use crate::fair_semaphore::{FairSemaphore, Permit};
use domain::error::Refusal;

/// One picture is decoded at a time: decoding takes many times the memory of the file.
const DECODERS: usize = 1;

/// The shared permits.
pub(super) struct Room {
    links: Arc<FairSemaphore>,
    /// One permit for each KiB.
    memory: Arc<FairSemaphore>,
    decoders: Arc<FairSemaphore>,
    patience: Duration,
}

/// The memory of one file, released when this is dropped.
pub struct Taken(Permit);

impl Room {
    /// Room for `links` links at once, whose files take `memory` bytes together. No caller waits longer than
    /// `patience`.
    pub(super) fn new(links: usize, memory: usize, patience: Duration) -> Self {
        Self {
            links: FairSemaphore::new(links),
            memory: FairSemaphore::new(kibibytes(memory)),
            decoders: FairSemaphore::new(DECODERS),
            patience,
        }
    }

    /// A permit for one link of this company.
    pub(super) async fn place(&self, company: Uuid) -> Result<Permit, Refusal> {
        self.in_time(&self.links, company, 1).await
    }

    /// Memory for a file of `bytes` bytes.
    pub(super) async fn memory(&self, company: Uuid, bytes: usize) -> Result<Taken, Refusal> {
        self.in_time(&self.memory, company, kibibytes(bytes)).await.map(Taken)
    }

    /// The permit to decode a picture; `None` when the wait is too long.
    pub(super) async fn decoder(&self, company: Uuid) -> Option<Permit> {
        self.in_time(&self.decoders, company, 1).await.ok()
    }

    async fn in_time(
        &self,
        shared: &Arc<FairSemaphore>,
        company: Uuid,
        permits: usize,
    ) -> Result<Permit, Refusal> {
        timeout(self.patience, shared.acquire(company, permits)).await.map_err(|_| refusal::busy())
    }
}

impl Taken {
    /// Releases the memory that a file of `bytes` bytes does not need.
    pub(super) fn shrink(&mut self, bytes: usize) {
        self.0.shrink(kibibytes(bytes));
    }
}

fn kibibytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(5);

    const ONE: Uuid = Uuid::from_u128(1);
    const OTHER: Uuid = Uuid::from_u128(2);

    #[tokio::test]
    async fn memory_is_released_when_a_file_is_smaller_than_reserved_and_when_it_is_dropped() {
        let room = Room::new(1, 8 * 1024, PATIENCE);
        let mut first = room.memory(ONE, 8 * 1024).await.unwrap();
        assert_eq!(room.memory(OTHER, 1).await.err(), Some(refusal::busy()));
        first.shrink(1025);
        let second = room.memory(OTHER, 6 * 1024).await.unwrap();
        assert_eq!(room.memory(OTHER, 1).await.err(), Some(refusal::busy()));
        drop((first, second));
        assert!(room.memory(ONE, 8 * 1024).await.is_ok());
    }

    #[tokio::test]
    async fn a_link_that_waits_too_long_for_a_permit_is_refused() {
        let room = Room::new(1, 1024, PATIENCE);
        let place = room.place(ONE).await.unwrap();
        assert_eq!(room.place(ONE).await.err(), Some(refusal::busy()));
        drop(place);
        assert!(room.place(ONE).await.is_ok());
    }

    #[tokio::test]
    async fn a_company_whose_files_are_slow_leaves_permits_and_memory_to_others() {
        let room = Room::new(4, 8 * 1024, PATIENCE);
        let (mut places, mut files) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            places.push(room.place(ONE).await.unwrap());
            files.push(room.memory(ONE, 2 * 1024).await.unwrap());
        }
        assert!(room.place(ONE).await.is_err() && room.memory(ONE, 2 * 1024).await.is_err());
        assert!(room.place(OTHER).await.is_ok());
        assert!(room.memory(OTHER, 4 * 1024).await.is_ok());
    }
}
