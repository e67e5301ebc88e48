//! Retries: messages that wait until they are due, and messages that may go now.

use std::time::Instant;

use uuid::Uuid;

use super::{Lanes, size};
use crate::channel::machine::lane::Lane;
use crate::channel::machine::work::Ticket;
use crate::planted::{Fault, is_planted};
use domain::message::Key;
use store::sends::Size;

impl Lanes {
    /// Puts a message back until `due`; `is_troubled` when the provider is in trouble, so that fewer new messages are
    /// started. Returns `false` when there is no room: then the message waits in the store.
    pub(in crate::channel::machine) fn defer(
        &mut self,
        ticket: Ticket,
        due: Instant,
        is_troubled: bool,
    ) -> bool {
        let waiting: usize = self.both().map(|lane| lane.waiting.len()).sum();
        if !is_troubled && waiting >= 2 * self.bounds.deferred {
            return false;
        }
        self.recorded.insert(ticket.key());
        self.lane_of(&ticket).waiting.add(ticket, due, is_troubled);
        true
    }

    /// A message that waited in the store waits here until `due`, unless it is here already.
    pub(in crate::channel::machine) fn resume(&mut self, ticket: Ticket, due: Instant) -> bool {
        if self.recorded.contains(&ticket.key()) {
            return false;
        }
        self.count(ticket.send_id);
        self.recorded.insert(ticket.key());
        self.lane_of(&ticket).waiting.add(ticket, due, false);
        true
    }

    /// Takes the next due message of this size; its retry has to be announced first.
    pub(in crate::channel::machine) fn due(&mut self, size: Size, now: Instant) -> Option<Ticket> {
        self.lane(size).waiting.pop(now)
    }

    /// When the first message waiting here is due.
    pub(in crate::channel::machine) fn next_due(&mut self) -> Option<Instant> {
        let Self { direct, bulk, .. } = self;
        [direct, bulk].into_iter().filter_map(|lane| lane.waiting.next_due()).min()
    }

    /// Messages that may be retried now.
    pub(in crate::channel::machine) fn again_now(&self) -> impl Iterator<Item = &Ticket> {
        self.both().flat_map(|lane| &lane.again)
    }

    /// The number of messages of this size that may be retried now.
    pub(in crate::channel::machine) fn again(&mut self, size: Size) -> usize {
        self.lane(size).again.len()
    }

    /// The message may be retried now.
    pub(in crate::channel::machine) fn try_again(&mut self, ticket: Ticket) {
        self.lane_of(&ticket).again.push_back(ticket);
    }

    /// A receipt says that the provider has the message. Returns whether it waited here; if so, it is over.
    pub(in crate::channel::machine) fn heard(&mut self, key: Key) -> bool {
        let Self { direct, bulk, .. } = self;
        let waited = [direct, bulk].into_iter().any(|lane| {
            let place = lane.again.iter().position(|ticket| ticket.key() == key);
            lane.waiting.remove(key) || place.and_then(|place| lane.again.remove(place)).is_some()
        });
        if waited {
            self.over(key);
        }
        waited
    }

    /// Whether so many messages of this size wait because of trouble at the provider that no new ones may start.
    pub(in crate::channel::machine) fn is_troubled(&self, size: Size) -> bool {
        let lane = match size {
            Size::Direct => &self.direct,
            Size::Bulk => &self.bulk,
        };
        lane.waiting.troubled() >= self.bounds.deferred
    }

    /// The size of the message's send.
    pub(in crate::channel::machine) fn size_of(&self, ticket: &Ticket) -> Size {
        self.works.get(&ticket.send_id).map_or(Size::Direct, size)
    }

    /// Whether a message may be retried now.
    pub(super) fn has_again(&self) -> bool {
        !self.direct.again.is_empty() || (!self.is_quiet && !self.bulk.again.is_empty())
    }

    /// Takes the next message of this size that may be retried now.
    pub(super) fn take_again(&mut self, size: Size) -> Option<Ticket> {
        let early = if is_planted(Fault::BulkTriedAgainFirst) && !self.is_quiet {
            self.bulk.again.pop_front()
        } else {
            None
        };
        early.or_else(|| self.lane(size).again.pop_front())
    }

    /// Drops the waiting messages of sends that are no longer in the store.
    pub(super) fn forget_again(&mut self, gone: &[Uuid]) {
        let Self { direct, bulk, .. } = self;
        for lane in [direct, bulk] {
            for send_id in gone {
                lane.waiting.drain(*send_id);
            }
            lane.again.retain(|ticket| !gone.contains(&ticket.send_id));
        }
    }

    /// When the first message of a send that waits here is due.
    pub(super) fn first_due(&self, send_id: Uuid) -> Option<Instant> {
        self.both().filter_map(|lane| lane.waiting.first_due(send_id)).min()
    }

    fn lane_of(&mut self, ticket: &Ticket) -> &mut Lane {
        let size = self.size_of(ticket);
        self.lane(size)
    }

    pub(super) fn both(&self) -> impl Iterator<Item = &Lane> {
        [&self.direct, &self.bulk].into_iter()
    }
}
