//! The memory of all request bodies together, shared fairly by their senders.
//!
//! A sender may hold no more than it leaves free: a single sender half of the memory, a second sender half of
//! the rest, and so on. So there is always room for another sender, and no sender can take everything.
//! Webhooks, whose senders are authenticated only by the body, share half of the memory in the same way.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use metrics::Gauge;
use uuid::Uuid;

/// The sender of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::api) enum Sender {
    /// A company, authenticated by its key.
    Company(Uuid),
    /// An operator, authenticated by a key.
    Operator,
    /// A client at this address that sends a webhook for this company. Only the body authenticates it.
    Hook(Uuid, Peer),
}

/// The address of a client. For IPv6 it is only the network, because one owner has all addresses in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::api) struct Peer(Option<IpAddr>);

impl Peer {
    pub(in crate::api) fn new(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        }))
    }
}

/// Bytes that request bodies may take together. Clones share them.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    most: usize,
    held: Mutex<Held>,
    gauge: Gauge,
}

#[derive(Default)]
struct Held {
    all: usize,
    /// The part of these bytes that webhooks hold.
    hooks: usize,
    /// The bytes that each sender holds.
    by_sender: HashMap<Sender, usize, foldhash::quality::RandomState>,
}

impl Budget {
    /// A budget of `most` bytes.
    pub fn new(most: usize) -> Self {
        metrics::gauge!("pombo_body_bytes_max").set(most as f64);
        Self(Arc::new(Shared { most, held: Mutex::default(), gauge: metrics::gauge!("pombo_body_bytes") }))
    }

    /// Room for this many bytes; `None` when the sender's share or the budget is used up.
    pub(super) fn take(&self, sender: Sender, bytes: usize) -> Option<Room> {
        let mut room = Room { budget: self.clone(), sender, bytes: 0 };
        room.grow(bytes).then_some(room)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("most", &self.0.most).finish_non_exhaustive()
    }
}

/// The room of a body, released when it is dropped.
pub(super) struct Room {
    budget: Budget,
    sender: Sender,
    bytes: usize,
}

impl Room {
    /// Makes the room larger. Returns whether that was possible.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let Shared { most, held, gauge } = &*self.budget.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.by_sender.get(&self.sender).copied().unwrap_or_default();
        let free = most - held.all;
        let share = match self.sender {
            Sender::Hook(..) => free.min((most / 2).saturating_sub(held.hooks)),
            Sender::Company(_) | Sender::Operator => free,
        };
        if own.saturating_add(bytes) > share {
            return false;
        }
        held.all += bytes;
        if matches!(self.sender, Sender::Hook(..)) {
            held.hooks += bytes;
        }
        if bytes > 0 {
            held.by_sender.insert(self.sender, own + bytes);
        }
        gauge.set(held.all as f64);
        self.bytes += bytes;
        true
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let Shared { held, gauge, .. } = &*self.budget.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= self.bytes;
        if matches!(self.sender, Sender::Hook(..)) {
            held.hooks -= self.bytes;
        }
        gauge.set(held.all as f64);
        if let Some(own) = held.by_sender.get_mut(&self.sender) {
            *own -= self.bytes;
            if *own == 0 {
                held.by_sender.remove(&self.sender);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(number: u128) -> Sender {
        Sender::Company(Uuid::from_u128(number))
    }

    fn held(budget: &Budget) -> (usize, usize) {
        let held = budget.0.held.lock().unwrap();
        (held.all, held.by_sender.len())
    }

    #[test]
    fn each_sender_may_hold_as_much_as_is_free_beside_it() {
        let budget = Budget::new(120);
        let take = |number, pieces: usize| {
            let rooms: Vec<_> = (0..pieces).map_while(|_| budget.take(sender(number), 10)).collect();
            (rooms.len() * 10, rooms)
        };
        let (first, rooms) = take(1, 100);
        let (second, more) = take(2, 100);
        let (third, rest) = take(3, 100);
        assert_eq!((first, second, third), (60, 30, 20));
        assert_eq!(held(&budget), (110, 3));
        assert!(budget.take(sender(1), 1).is_none(), "the sender holds more than is free");
        assert!(budget.take(sender(4), 10).is_some(), "a sender that holds nothing finds room");
        drop((rooms, more, rest));
        assert_eq!(held(&budget), (0, 0));
    }

    #[test]
    fn a_room_grows_within_its_senders_share_and_nothing_takes_no_room() {
        let budget = Budget::new(100);
        let mut room = budget.take(sender(1), 0).unwrap();
        assert_eq!(held(&budget), (0, 0));
        assert!(room.grow(40) && room.grow(10));
        assert!(!room.grow(1));
        assert_eq!(held(&budget), (50, 1));
        assert!(budget.take(sender(2), 101).is_none());
        drop(room);
        assert_eq!(held(&budget), (0, 0));
    }

    #[test]
    fn webhooks_never_take_more_than_half() {
        let budget = Budget::new(120);
        let hook = |number| Sender::Hook(Uuid::from_u128(number), Peer(None));
        let rooms: Vec<_> = (0..1000).filter_map(|number| budget.take(hook(number % 100), 1)).collect();
        assert_eq!((rooms.len(), held(&budget).0), (60, 60));
        assert!(budget.take(hook(1), 1).is_none());
        assert!(budget.take(sender(1), 60).is_some());
        drop(rooms);
        assert_eq!((held(&budget), budget.0.held.lock().unwrap().hooks), ((0, 0), 0));
    }

    #[test]
    fn a_network_of_ipv6_is_one_peer() {
        let peer = |address: &str| Peer::new(Some(address.parse().unwrap()));
        assert_eq!(peer("2001:db8:1:2::7"), peer("2001:db8:1:2:ffff::9"));
        assert_ne!(peer("2001:db8:1:2::7"), peer("2001:db8:1:3::7"));
        assert_eq!(peer("::ffff:10.1.2.3"), peer("10.1.2.3"));
        assert_ne!(peer("10.1.2.3"), peer("10.1.2.4"));
    }
}
