//! The actors that are no longer in the directory and may still have messages in flight: their channels go to another
//! node, or are being removed. The end of the service waits for them as for the others.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::Handle;

/// No more than there are running actors: each is in here until it has ended, or is back in the directory.
#[derive(Default)]
pub(super) struct Leaving(Mutex<Actors>);

#[derive(Default)]
struct Actors {
    by_number: HashMap<u64, Handle>,
    last: u64,
}

impl Leaving {
    /// Adds an actor. Returns the number under which it can be removed.
    pub(super) fn add(&self, actor: Handle) -> u64 {
        let mut actors = self.0.lock();
        actors.last += 1;
        let number = actors.last;
        actors.by_number.insert(number, actor);
        number
    }

    /// Removes an actor that has ended, or that is in the directory again.
    pub(super) fn remove(&self, number: u64) {
        self.0.lock().by_number.remove(&number);
    }

    /// Those that have not ended yet.
    pub(super) fn all(&self) -> Vec<Handle> {
        self.0.lock().by_number.values().cloned().collect()
    }
}
