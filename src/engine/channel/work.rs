//! One active send as its channel sees it: what was handed out, what is settled, what comes next.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::connector::cloud_api::Rendered;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Mark, Progress, State};

/// A message to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) send_id: Uuid,
    pub(super) ordinal: u64,
    pub(super) recipient: PhoneNumber,
    /// How often it was tried before, as far as that counts.
    pub(super) attempts: u16,
    /// Whether it has, or may have, a row in the ledger already.
    pub(super) again: bool,
}

/// Where the next recipients come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// There is one only.
    One(PhoneNumber),
    /// A stretch of them is here; the others are in the store.
    Blocks {
        /// Ordinal of the first number here.
        first: u64,
        /// The numbers here.
        numbers: Vec<PhoneNumber>,
        /// Whether more are on their way.
        loading: bool,
    },
}

/// See the module.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) rendered: Rendered,
    recipients: u64,
    /// The next ordinal to hand out.
    next: u64,
    /// Ordinals below may be handed out: the mark that says so is durable.
    reserved: u64,
    /// The mark as it will be written next; at least `reserved`.
    requested: u64,
    settled: Settled,
    /// Tickets handed out or waiting to be tried again.
    outstanding: u64,
    pub(super) source: Source,
}

impl Work {
    /// A send that goes on from `progress`. `recorded` are the ordinals beyond `progress.settled` that have
    /// a row in the ledger.
    pub(super) fn new(
        id: Uuid,
        company_id: Uuid,
        rendered: Rendered,
        recipients: u64,
        source: Source,
        progress: Progress,
        recorded: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut settled = Settled { below: progress.settled, beyond: BTreeSet::new() };
        for ordinal in recorded {
            settled.add(ordinal);
        }
        Self {
            id,
            company_id,
            rendered,
            recipients,
            next: progress.high_water,
            reserved: progress.high_water,
            requested: progress.high_water,
            settled,
            outstanding: 0,
            source,
        }
    }

    /// Whether there is one recipient only.
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.source, Source::One(_))
    }

    /// Whether there are messages that were never handed out.
    pub(super) const fn has_more(&self) -> bool {
        self.next < self.recipients
    }

    /// Whether a new message can be handed out now.
    pub(super) fn is_ready(&self) -> bool {
        self.next < self.reserved && self.recipient(self.next).is_some()
    }

    /// Hands out the next message; `None` when [`Work::is_ready`] is false.
    pub(super) fn take(&mut self) -> Option<Ticket> {
        if self.next >= self.reserved {
            return None;
        }
        let recipient = self.recipient(self.next)?;
        let ticket = Ticket { send_id: self.id, ordinal: self.next, recipient, attempts: 0, again: false };
        self.next += 1;
        self.outstanding += 1;
        Some(ticket)
    }

    /// Counts a ticket that came from the store: it waits, or its outcome is unknown.
    pub(super) const fn resume(&mut self) {
        self.outstanding += 1;
    }

    /// A row for `ordinal` will be written; `over` when the message is not tried again.
    pub(super) fn settle(&mut self, ordinal: u64, over: bool) {
        self.settled.add(ordinal);
        if over {
            self.outstanding = self.outstanding.saturating_sub(1);
        }
    }

    /// Asks for `ahead` more messages to be reserved when fewer than that are left. Whether the mark moved.
    pub(super) fn request(&mut self, ahead: u64) -> bool {
        if self.requested == self.recipients || self.requested - self.next >= ahead {
            return false;
        }
        self.requested = (self.next + 2 * ahead).min(self.recipients);
        true
    }

    /// Takes back what was reserved and not handed out, so that nothing looks attempted that was not.
    /// Whether the mark moved.
    pub(super) const fn release(&mut self) -> bool {
        let moved = self.requested != self.next;
        self.requested = self.next;
        self.reserved = self.next;
        moved
    }

    /// The mark that was written: its messages may be handed out.
    pub(super) fn reserve(&mut self, progress: Progress) {
        self.reserved = progress.high_water.min(self.requested);
    }

    /// Whether every message has its outcome.
    pub(super) const fn is_finished(&self) -> bool {
        self.next == self.recipients && self.outstanding == 0
    }

    /// The mark to write.
    pub(super) const fn mark(&self) -> Mark {
        Mark {
            send_id: self.id,
            progress: Progress { high_water: self.requested, settled: self.settled.below },
            state: if self.is_finished() { State::Finished } else { State::Active },
            due_at: None,
        }
    }

    /// The ordinal from which recipients must be read, when they are needed and not on their way. They are
    /// asked for before the last of the stretch here is used.
    pub(super) fn load(&mut self) -> Option<u64> {
        let (next, recipients) = (self.next, self.recipients);
        let Source::Blocks { first, numbers, loading } = &mut self.source else { return None };
        let end = *first + numbers.len() as u64;
        if *loading || end >= recipients || next + (numbers.len() as u64) / 2 < end {
            return None;
        }
        *loading = true;
        Some(end.max(next))
    }

    /// Recipients that were read, from ordinal `first`; empty when reading failed.
    pub(super) fn loaded(&mut self, from: u64, read: &[PhoneNumber]) {
        let next = self.next;
        let Source::Blocks { first, numbers, loading } = &mut self.source else { return };
        *loading = false;
        let end = *first + numbers.len() as u64;
        if from == end {
            let used = usize::try_from(next.saturating_sub(*first)).unwrap_or(0).min(numbers.len());
            numbers.drain(..used);
            *first += used as u64;
            numbers.extend_from_slice(read);
        } else if !read.is_empty() {
            *first = from;
            *numbers = read.to_vec();
        }
    }

    fn recipient(&self, ordinal: u64) -> Option<PhoneNumber> {
        match &self.source {
            Source::One(number) => (ordinal == 0).then_some(*number),
            Source::Blocks { first, numbers, .. } => {
                numbers.get(usize::try_from(ordinal.checked_sub(*first)?).ok()?).copied()
            }
        }
    }
}

/// Which ordinals have a row in the ledger: all below a bound, and some beyond it.
#[derive(Debug)]
struct Settled {
    below: u64,
    beyond: BTreeSet<u64>,
}

impl Settled {
    fn add(&mut self, ordinal: u64) {
        if ordinal > self.below {
            self.beyond.insert(ordinal);
            return;
        }
        if ordinal == self.below {
            self.below += 1;
            while self.beyond.remove(&self.below) {
                self.below += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::content::Content;

    fn work(recipients: u64, progress: Progress) -> Work {
        let numbers = (0..recipients).filter_map(|n| PhoneNumber::from_u64(1_000_000 + n)).collect();
        let source = Source::Blocks { first: 0, numbers, loading: false };
        let rendered = Rendered::new(&Content::Text { body: "hi".to_owned() });
        Work::new(Uuid::nil(), Uuid::nil(), rendered, recipients, source, progress, [])
    }

    #[test]
    fn nothing_is_handed_out_before_its_mark_is_durable() {
        let mut work = work(10, Progress::default());
        assert_eq!(work.take(), None);
        assert!(work.request(3));
        assert_eq!(work.take(), None, "asking is not enough");
        work.reserve(work.mark().progress);
        assert_eq!(std::iter::from_fn(|| work.take()).count(), 6);
        assert_eq!(work.mark().progress.high_water, 6);
    }

    #[test]
    fn a_send_is_finished_when_its_last_outcome_is_in_whatever_the_order() {
        let mut work = work(3, Progress::default());
        work.request(3);
        work.reserve(work.mark().progress);
        let tickets: Vec<_> = std::iter::from_fn(|| work.take()).collect();
        work.settle(tickets[2].ordinal, true);
        work.settle(tickets[0].ordinal, false);
        assert_eq!(work.mark().progress.settled, 1);
        work.settle(tickets[1].ordinal, true);
        assert!(!work.is_finished(), "one waits to be tried again");
        work.settle(tickets[0].ordinal, true);
        assert_eq!(work.mark().progress, Progress { high_water: 3, settled: 3 });
        assert_eq!(work.mark().state, State::Finished);
    }

    #[test]
    fn a_graceful_stop_takes_back_what_was_not_handed_out() {
        let mut work = work(10, Progress::default());
        work.request(4);
        work.reserve(work.mark().progress);
        work.take();
        assert!(work.release());
        assert_eq!(work.mark().progress.high_water, 1);
        assert_eq!(work.take(), None);
    }

    #[test]
    fn the_next_recipients_are_read_before_the_last_are_used() {
        let mut work = work(4, Progress::default());
        work.recipients = 8;
        work.request(8);
        work.reserve(work.mark().progress);
        assert_eq!(work.load(), None);
        work.take();
        work.take();
        assert_eq!(work.load(), Some(4));
        assert_eq!(work.load(), None, "once");
        let more: Vec<_> = (4..8).filter_map(|n| PhoneNumber::from_u64(1_000_000 + n)).collect();
        work.loaded(4, &more);
        let rest: Vec<_> =
            std::iter::from_fn(|| work.take()).map(|ticket| ticket.recipient.as_u64()).collect();
        assert_eq!(rest, (1_000_002..1_000_008).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn what_is_settled_is_exactly_what_was_added(order in Just((0_u64..40).collect::<Vec<_>>()).prop_shuffle(), part in 0_usize..40) {
            let mut settled = Settled { below: 0, beyond: BTreeSet::new() };
            for ordinal in &order[..part] {
                settled.add(*ordinal);
                settled.add(*ordinal);
            }
            let added: BTreeSet<_> = order[..part].iter().copied().collect();
            let below = (0..).find(|ordinal| !added.contains(ordinal)).unwrap();
            prop_assert_eq!(settled.below, below);
            prop_assert_eq!(settled.beyond.len() as u64, part as u64 - below);
        }
    }
}
