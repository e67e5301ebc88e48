//! An active send as its channel sees it: what was handed out, what is settled, what comes next.

mod parked;
mod passing;

use uuid::Uuid;

use super::rendered::Rendered;
use super::settled::Settled;
pub(crate) use super::ticket::{Counted, PriorOutcome, Ticket};
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::message::Position;
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use domain::send::{Mark, Progress, State, TemplateUse};

/// Why a send leaves memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// The send waits in the store until something outside changes, or for a later time.
    Held,
    /// The send is over, in this state.
    Over(State),
}

/// A send at its start, or at its restart.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) rendered: Rendered,
    /// It goes although its recipient opted out.
    pub(super) confirms: bool,
    pub(super) recipients: u64,
    pub(super) source: Source,
    pub(super) template: Option<TemplateUse>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) progress: Progress,
    pub(super) settled: Settled,
}

/// The source of the next recipients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A single recipient.
    One(PhoneNumber),
    /// A single recipient: the group that the content names.
    Group,
    /// Many recipients, a part of them here; the others are in the store.
    Blocks {
        /// Ordinal of the first number here.
        first: u64,
        /// The numbers here.
        numbers: Vec<PhoneNumber>,
        /// The ordinal from which more are being read.
        loading: Option<u64>,
    },
}

/// The result of reserving messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Requested {
    /// Whether the mark moved.
    pub(super) has_moved: bool,
    /// Whether the very next message found no slot in the quota of templates.
    pub(super) is_blocked: bool,
}

#[derive(Debug)]
pub(super) struct Work {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) rendered: Rendered,
    pub(super) confirms: bool,
    recipients: u64,
    /// The next ordinal to hand out.
    next: u64,
    /// Ordinals below this may be handed out: their mark is durable.
    reserved: u64,
    /// The mark as it will be written next; at least `reserved`.
    requested: u64,
    settled: Settled,
    pub(super) template: Option<TemplateUse>,
    pub(super) expires_at: Option<Timestamp>,
    /// Tickets that are handed out or wait here for a retry.
    outstanding: u64,
    /// Parked messages, and when the first of them is due.
    parked: u64,
    parked_due: Option<Timestamp>,
    /// Whether parked messages that are due are being read.
    unparking: bool,
    leaving: Option<Leave>,
    /// Whether the state here may differ from the stored one.
    is_touched: bool,
    /// The first message, among those never handed out, that may go to a person who counts against the quota of
    /// templates already.
    counted_at: Option<u64>,
    /// Why the last of its messages was put back.
    pub(super) held_by: Option<Reason>,
    pub(super) source: Source,
}

impl Work {
    /// The work of a send from its present state on.
    pub(super) fn new(beginning: Beginning) -> Self {
        Self {
            id: beginning.id,
            company_id: beginning.company_id,
            rendered: beginning.rendered,
            confirms: beginning.confirms,
            recipients: beginning.recipients,
            next: beginning.progress.high_water,
            reserved: beginning.progress.high_water,
            requested: beginning.progress.high_water,
            settled: beginning.settled,
            template: beginning.template,
            expires_at: beginning.expires_at,
            outstanding: 0,
            parked: 0,
            parked_due: None,
            unparking: false,
            leaving: None,
            is_touched: false,
            counted_at: None,
            held_by: None,
            source: beginning.source,
        }
    }

    /// Whether there is one recipient only.
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.source, Source::One(_) | Source::Group)
    }

    /// Whether there are messages that were never handed out.
    pub(super) const fn has_more(&self) -> bool {
        self.next < self.recipients
    }

    /// Whether a new message can be handed out now.
    pub(super) fn is_ready(&self) -> bool {
        let bound = if is_planted(Fault::MarkAfterAttempt) { self.requested } else { self.reserved };
        self.leaving.is_none() && self.next < bound && self.position(self.next).is_some()
    }

    /// Hands out the next message; `None` when [`Work::is_ready`] is false.
    pub(super) fn take(&mut self) -> Option<Ticket> {
        if !self.is_ready() {
            return None;
        }
        let Position { ordinal, recipient } = self.position(self.next)?;
        let ticket = Ticket {
            send_id: self.id,
            ordinal,
            recipient,
            attempts: 0,
            again: false,
            prior: PriorOutcome::NotTaken,
            has_waited: false,
            counted: None,
            taken_at: None,
        };
        self.next += 1;
        self.outstanding += 1;
        self.is_touched = true;
        Some(ticket)
    }

    /// Counts a ticket from the store: it waits, or its outcome is unknown.
    pub(super) const fn resume(&mut self) {
        self.outstanding += 1;
        self.is_touched = true;
    }

    /// A row for `ordinal` will be written; `over` when the message is not retried.
    pub(super) fn settle(&mut self, ordinal: u64, over: bool) {
        self.is_touched = true;
        self.settled.add(ordinal);
        if over {
            self.outstanding = self.outstanding.saturating_sub(1);
            self.fall_asleep();
        }
    }

    /// Leaves memory: no message is handed out any more, and reserved messages are taken back. An ended send stays
    /// ended.
    pub(super) const fn leave(&mut self, leave: Leave) {
        if !matches!(self.leaving, Some(Leave::Over(_))) {
            self.leaving = Some(leave);
        }
        self.release();
    }

    /// Why the send leaves, if it does.
    pub(super) const fn leaving(&self) -> Option<Leave> {
        self.leaving
    }

    /// The send is completely restored. Returns whether nothing is left to do, which has to be written.
    pub(super) fn settle_down(&mut self) -> bool {
        self.fall_asleep();
        self.is_done_here()
    }

    /// A send that only waits for a later time leaves memory until then.
    fn fall_asleep(&mut self) {
        if self.next == self.recipients && self.outstanding == 0 && self.parked > 0 && !self.unparking {
            self.leave(Leave::Held);
        }
    }

    /// Reserves messages so that `2 * ahead` are reserved. Without `tops_up`, this waits until fewer than `ahead` are
    /// left. Template messages are reserved only for recipients for whom `has_slot` returns `true`.
    pub(super) fn request(
        &mut self,
        ahead: u64,
        tops_up: bool,
        mut has_slot: impl FnMut(PhoneNumber) -> bool,
    ) -> Requested {
        let before = self.requested;
        let target = self.target(ahead, tops_up);
        if target == before {
            return Requested::default();
        }
        if self.template.is_none() {
            self.requested = target;
            self.is_touched |= target > before;
            return Requested { has_moved: target > before, is_blocked: false };
        }
        let mut is_blocked = false;
        while self.requested < target {
            // Recipients that are not read yet are reserved later.
            let Some(Position { recipient, .. }) = self.position(self.requested) else { break };
            if !recipient.is_none_or(&mut has_slot) {
                is_blocked = self.requested == self.next;
                break;
            }
            self.requested += 1;
        }
        self.is_touched |= self.requested > before;
        Requested { has_moved: self.requested > before, is_blocked }
    }

    /// Whether messages are under way, or wait here for a retry.
    pub(super) const fn is_busy(&self) -> bool {
        self.outstanding > 0
    }

    /// Takes back messages that were reserved and not handed out, so that they do not look attempted. Returns whether
    /// the mark moved.
    pub(super) const fn release(&mut self) -> bool {
        let moved = self.requested != self.next;
        self.requested = self.next;
        self.reserved = self.next;
        moved
    }

    /// The mark is durable: its messages may be handed out.
    pub(super) fn reserve(&mut self, progress: Progress) {
        if self.leaving.is_none() {
            self.reserved = progress.high_water.min(self.requested);
        }
    }

    /// Whether every message has its outcome.
    pub(super) const fn is_finished(&self) -> bool {
        self.next == self.recipients && self.outstanding == 0 && self.parked == 0
    }

    /// Whether the send can be dropped here once its mark is written.
    pub(super) const fn is_done_here(&self) -> bool {
        self.is_finished() || (self.leaving.is_some() && self.outstanding == 0)
    }

    /// The mark to write.
    pub(super) const fn mark(&self) -> Mark {
        let state = match self.leaving {
            Some(Leave::Over(state)) => state,
            Some(Leave::Held) | None if self.is_finished() => State::Finished,
            Some(Leave::Held) | None => State::Active,
        };
        let sleeps = self.leaving.is_some() && self.next == self.recipients && self.outstanding == 0;
        Mark {
            send_id: self.id,
            progress: Progress { high_water: self.requested, settled: self.settled.below() },
            state,
            due_at: if sleeps { self.parked_due } else { None },
        }
    }

    /// Messages that are not over.
    pub(super) const fn remaining(&self) -> u64 {
        self.recipients - self.next + self.outstanding + self.parked
    }

    /// The ordinal from which recipients must be read, when they are needed and not being read. They are requested
    /// before the part here is used up.
    pub(super) fn load(&mut self) -> Option<u64> {
        let (next, recipients) = (self.next, self.recipients);
        let Source::Blocks { first, numbers, loading } = &mut self.source else { return None };
        let end = *first + numbers.len() as u64;
        if loading.is_some() || end >= recipients || next + (numbers.len() as u64) / 2 < end {
            return None;
        }
        *loading = Some(end.max(next));
        *loading
    }

    /// Recipients that were read, from ordinal `from`; empty when the read failed. Recipients that are not needed any
    /// more, because the send left or they were read already, change nothing.
    pub(super) fn loaded(&mut self, from: u64, read: &[PhoneNumber]) {
        let next = self.next;
        let Source::Blocks { first, numbers, loading } = &mut self.source else { return };
        if *loading != Some(from) {
            return;
        }
        *loading = None;
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

    /// The message of this ordinal, if its recipient is here.
    fn position(&self, ordinal: u64) -> Option<Position> {
        let recipient = match &self.source {
            Source::One(_) | Source::Group if ordinal > 0 => return None,
            Source::One(number) => Some(*number),
            Source::Group => None,
            Source::Blocks { first, numbers, .. } => {
                Some(*numbers.get(usize::try_from(ordinal.checked_sub(*first)?).ok()?)?)
            }
        };
        Some(Position { ordinal, recipient })
    }
}

#[cfg(test)]
mod tests;
