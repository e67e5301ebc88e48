//! The memory of all request bodies together and of what is made of them, shared fairly by their senders.
//!
//! A sender may hold no more than it leaves free: a single sender half of the memory, a second sender half of
//! the rest, and so on. So there is always room for another sender, and no sender can take everything. The people of
//! a company are one sender together, and among them each person may hold no more than the company has left.
//! Webhooks, whose senders are authenticated only by the body, share half of the memory in the same way, and files of programs
//! that are not known share a quarter.
//!
//! Forms of visitors, such as the one for signing in, have memory of their own, which nobody else can take. A network
//! may hold a small part of it. Where there is no room, the visitor's form that has been arriving longest makes room:
//! an honest form arrives at once.

mod held;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::pending;
use std::sync::Arc;

use metrics::Gauge;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use self::held::Held;
use super::Fault;
use super::sender::Sender;

/// The memory for forms of visitors: many thousands of ordinary ones.
pub(super) const VISITORS: usize = 4 * 1024 * 1024;

/// Bytes that request bodies may take together. Clones share them.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    held: Mutex<Held>,
    gauge: Gauge,
}

impl Budget {
    /// A budget of `most` bytes, and the memory for visitors beside it.
    pub fn new(most: usize) -> Self {
        metrics::gauge!("pombo_body_bytes_max").set((most + VISITORS) as f64);
        let held = Mutex::new(Held::new(most));
        Self(Arc::new(Shared { held, gauge: metrics::gauge!("pombo_body_bytes") }))
    }

    /// The bytes that bodies take at present.
    pub fn held(&self) -> usize {
        self.0.held.lock().total()
    }

    /// Room for this many bytes of a body that arrives.
    pub(super) fn take(&self, sender: Sender, bytes: usize) -> Result<Room, Fault> {
        let mut room = Room { budget: self.clone(), sender, bytes: 0, arriving: None };
        if let Sender::Visitor(_) = sender {
            let (stays, ended) = oneshot::channel();
            let number = self.0.held.lock().arrive(sender, stays);
            room.arriving = Some(Arriving { number, ended });
        }
        room.charge(bytes)?;
        Ok(room)
    }

    fn show(&self, held: &Held) {
        self.0.gauge.set(held.total() as f64);
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").finish_non_exhaustive()
    }
}

/// The room of a body and of what is made of it, released when it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    budget: Budget,
    sender: Sender,
    bytes: usize,
    /// While it is the room of a body that arrives and may have to make room.
    arriving: Option<Arriving>,
}

#[derive(Debug)]
struct Arriving {
    number: u64,
    /// Ends when the room was given to another body.
    ended: oneshot::Receiver<()>,
}

impl Room {
    /// Makes the room larger by this many bytes, before they are used.
    ///
    /// # Errors
    ///
    /// [`Fault::TooMuch`] when no body may ever take as much, [`Fault::NoRoom`] when the sender's share
    /// is used up at present.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Fault> {
        let own = self.arriving.as_ref().map(|arriving| arriving.number);
        let mut held = self.budget.0.held.lock();
        let wanted = self.bytes.saturating_add(bytes);
        if wanted > held.largest(self.sender) {
            return Err(Fault::TooMuch);
        }
        if own.is_some_and(|number| !held.grow_arriving(number, bytes)) {
            return Err(Fault::NoRoom);
        }
        while !held.allows(self.sender, bytes) {
            if !held.make_room(self.sender, bytes, own) {
                if let Some(number) = own {
                    held.shrink_arriving(number, bytes);
                }
                return Err(Fault::NoRoom);
            }
        }
        held.add(self.sender, bytes);
        self.bytes = wanted;
        self.budget.show(&held);
        Ok(())
    }

    /// Gives back all but this many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        // The room of a body that arrives only grows.
        let excess = if self.arriving.is_none() { self.bytes.saturating_sub(bytes) } else { 0 };
        if excess > 0 {
            let mut held = self.budget.0.held.lock();
            held.remove(self.sender, excess);
            self.bytes -= excess;
            self.budget.show(&held);
        }
    }

    /// The body has arrived: the room is its own for as long as it lasts.
    ///
    /// # Errors
    ///
    /// [`Fault::NoRoom`] when it was given to another body.
    pub(super) fn settle(&mut self) -> Result<(), Fault> {
        let Some(arriving) = self.arriving.take() else { return Ok(()) };
        let is_own = self.budget.0.held.lock().settle(arriving.number);
        if !is_own {
            self.bytes = 0;
            return Err(Fault::NoRoom);
        }
        Ok(())
    }

    /// Ready when the room was given to another body.
    pub(super) async fn made_room(&mut self) {
        match &mut self.arriving {
            // The other end is dropped, and never sends.
            Some(arriving) => drop((&mut arriving.ended).await),
            None => pending().await,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What was given to another body is not given back again.
        if self.settle().is_ok() && self.bytes > 0 {
            let mut held = self.budget.0.held.lock();
            held.remove(self.sender, self.bytes);
            self.budget.show(&held);
        }
    }
}
