//! Messages that wait in memory for a retry, by the time when they are due.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Instant;

use uuid::Uuid;

use super::map::Map;
use super::work::Ticket;
use domain::message::Key;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Entries that are no longer members are skipped.
    heap: BinaryHeap<Reverse<Entry>>,
    members: Map<Key, WaitingTicket>,
    arrivals: u64,
    /// Members that wait because of trouble at the provider.
    troubled: usize,
}

#[derive(Debug, Clone, Copy)]
struct WaitingTicket {
    arrival: u64,
    is_troubled: bool,
}

/// Ordered by the time when it is due, then by arrival.
#[derive(Debug, Clone, Copy)]
struct Entry {
    due: Instant,
    arrival: u64,
    ticket: Ticket,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.arrival).cmp(&(other.due, other.arrival))
    }
}

impl Waiting {
    /// The number of waiting messages.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The number of messages that wait because of trouble at the provider.
    pub(super) const fn troubled(&self) -> usize {
        self.troubled
    }

    /// The message waits until `due`.
    pub(super) fn add(&mut self, ticket: Ticket, due: Instant, is_troubled: bool) {
        self.remove(ticket.key());
        self.arrivals += 1;
        let arrival = self.arrivals;
        self.members.insert(ticket.key(), WaitingTicket { arrival, is_troubled });
        self.troubled += usize::from(is_troubled);
        self.heap.push(Reverse(Entry { due, arrival, ticket }));
    }

    /// Removes a message. Returns whether it waited.
    pub(super) fn remove(&mut self, key: Key) -> bool {
        let member = self.members.remove(&key);
        self.troubled -= usize::from(member.is_some_and(|member| member.is_troubled));
        member.is_some()
    }

    /// When the first one is due.
    pub(super) fn next_due(&mut self) -> Option<Instant> {
        while let Some(Reverse(first)) = self.heap.peek() {
            if self.is_member(first) {
                return Some(first.due);
            }
            self.heap.pop();
        }
        None
    }

    /// When the first one of a send is due.
    pub(super) fn first_due(&self, send_id: Uuid) -> Option<Instant> {
        let entries = self.heap.iter().map(|Reverse(entry)| entry);
        let own = entries.filter(|entry| entry.ticket.send_id == send_id && self.is_member(entry));
        own.map(|entry| entry.due).min()
    }

    /// Takes the first one, if it is due.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Ticket> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        self.remove(entry.ticket.key());
        Some(entry.ticket)
    }

    /// Takes out all messages of a send, with the times when they would have been due.
    pub(super) fn drain(&mut self, send_id: Uuid) -> Vec<(Ticket, Instant)> {
        if !self.members.keys().any(|key| key.send_id == send_id) {
            return Vec::new();
        }
        let mut drained = Vec::new();
        for Reverse(entry) in std::mem::take(&mut self.heap) {
            if !self.is_member(&entry) {
                continue;
            }
            if entry.ticket.send_id == send_id {
                self.remove(entry.ticket.key());
                drained.push((entry.ticket, entry.due));
            } else {
                self.heap.push(Reverse(entry));
            }
        }
        drained
    }

    fn is_member(&self, entry: &Entry) -> bool {
        self.members.get(&entry.ticket.key()).is_some_and(|member| member.arrival == entry.arrival)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::channel::machine::work::PriorOutcome;
    use domain::phone::PhoneNumber;

    fn ticket(send: u128, ordinal: u64) -> Ticket {
        let recipient = PhoneNumber::from_u64(5_511_900_000_000);
        Ticket {
            send_id: Uuid::from_u128(send),
            ordinal,
            recipient,
            attempts: 1,
            again: true,
            prior: PriorOutcome::NotTaken,
            has_waited: true,
            counted: None,
            taken_at: None,
        }
    }

    #[test]
    fn messages_come_in_the_order_of_their_times_and_none_comes_early() {
        let (mut waiting, now) = (Waiting::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        waiting.add(ticket(1, 0), after(2), false);
        waiting.add(ticket(1, 1), after(1), true);
        assert_eq!((waiting.len(), waiting.troubled()), (2, 1));
        assert_eq!(waiting.pop(now), None);
        assert_eq!(waiting.pop(after(5)), Some(ticket(1, 1)));
        assert_eq!(waiting.pop(after(5)), Some(ticket(1, 0)));
        assert_eq!((waiting.len(), waiting.troubled(), waiting.next_due()), (0, 0, None));
    }

    #[test]
    fn a_message_waits_once_until_the_moment_it_was_given_last() {
        let (mut waiting, now) = (Waiting::default(), Instant::now());
        waiting.add(ticket(1, 0), now, true);
        waiting.add(ticket(1, 0), now + Duration::from_secs(9), false);
        assert_eq!((waiting.pop(now), waiting.len(), waiting.troubled()), (None, 1, 0));
        assert!(waiting.remove(ticket(1, 0).key()));
        assert!(!waiting.remove(ticket(1, 0).key()));
        assert_eq!(waiting.next_due(), None);
    }

    #[test]
    fn a_send_takes_its_messages_along() {
        let (mut waiting, now) = (Waiting::default(), Instant::now());
        for send in [1, 2, 1] {
            waiting.add(ticket(send, waiting.len() as u64), now, false);
        }
        waiting.add(ticket(1, 9), now + Duration::from_secs(9), false);
        assert!(waiting.remove(ticket(1, 9).key()));
        assert_eq!(waiting.first_due(Uuid::from_u128(1)), Some(now));
        assert_eq!(waiting.drain(Uuid::from_u128(1)).len(), 2);
        assert_eq!(waiting.first_due(Uuid::from_u128(1)), None);
        assert_eq!(waiting.pop(now), Some(ticket(2, 1)));
    }
}
