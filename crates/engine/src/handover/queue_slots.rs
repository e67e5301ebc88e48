//! How many messages of a channel wait for their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the messages of a channel that were admitted and have not been attempted.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueueSlots(Arc<AtomicUsize>);

/// The slot of one such message, given back on drop.
#[derive(Debug)]
pub(crate) struct QueueSlot(Arc<AtomicUsize>);

impl QueueSlots {
    /// The number of slots taken.
    pub(crate) fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes a slot.
    pub(crate) fn take(&self) -> QueueSlot {
        self.0.fetch_add(1, Ordering::Relaxed);
        QueueSlot(Arc::clone(&self.0))
    }
}

impl QueueSlot {
    /// The number of slots taken, this one included.
    pub(crate) fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
