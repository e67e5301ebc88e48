//! One active send as its channel sees it: what was handed out, what is settled, what comes next.

mod parked;
mod passing;

use uuid::Uuid;

use super::rendered::Rendered;
use super::settled::Settled;
pub(crate) use super::ticket::{Counted, Doubt, Ticket};
use crate::clock::Timestamp;
use crate::domain::message::Position;
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Mark, Progress, State, TemplateUse};
use crate::engine::planted::{Fault, is_planted};

/// Why a send leaves memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// It waits in the store until something outside changes, or for a later moment.
    Held,
    /// It is over, in this state.
    Over(State),
}

/// A send as it begins, or begins again.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) rendered: Rendered,
    pub(super) recipients: u64,
    pub(super) source: Source,
    pub(super) template: Option<TemplateUse>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) progress: Progress,
    pub(super) settled: Settled,
}

/// Where the next recipients come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// There is one only.
    One(PhoneNumber),
    /// There is one only: the group that the content names.
    Group,
    /// A stretch of them is here; the others are in the store.
    Blocks {
        /// Ordinal of the first number here.
        first: u64,
        /// The numbers here.
        numbers: Vec<PhoneNumber>,
        /// From which ordinal more are on their way.
        loading: Option<u64>,
    },
}

/// What came of asking for messages to be reserved.
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
    recipients: u64,
    /// The next ordinal to hand out.
    next: u64,
    /// Ordinals below may be handed out: the mark that says so is durable.
    reserved: u64,
    /// The mark as it will be written next; at least `reserved`.
    requested: u64,
    settled: Settled,
    pub(super) template: Option<TemplateUse>,
    pub(super) expires_at: Option<Timestamp>,
    /// Tickets handed out, or waiting here to be tried again.
    outstanding: u64,
    /// Messages that wait in the store, and when the first of them is due.
    parked: u64,
    parked_due: Option<Timestamp>,
    /// Whether those that are due are on their way.
    unparking: bool,
    leaving: Option<Leave>,
    /// Whether the store need not have it as it is here.
    is_touched: bool,
    /// A message that somebody waits for who counts against the quota of templates already; none before it is, of
    /// those that were not handed out.
    counted_at: Option<u64>,
    /// What the last of its messages that was put back waits for.
    pub(super) held_by: Option<Reason>,
    pub(super) source: Source,
}

impl Work {
    /// A send that goes on from where it is.
    pub(super) fn new(beginning: Beginning) -> Self {
        let Beginning {
            id,
            company_id,
            rendered,
            recipients,
            source,
            template,
            expires_at,
            progress,
            settled,
        } = beginning;
        Self {
            id,
            company_id,
            rendered,
            recipients,
            next: progress.high_water,
            reserved: progress.high_water,
            requested: progress.high_water,
            settled,
            template,
            expires_at,
            outstanding: 0,
            parked: 0,
            parked_due: None,
            unparking: false,
            leaving: None,
            is_touched: false,
            counted_at: None,
            held_by: None,
            source,
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
            doubt: Doubt::None,
            has_waited: false,
            counted: None,
            taken_at: None,
        };
        self.next += 1;
        self.outstanding += 1;
        self.is_touched = true;
        Some(ticket)
    }

    /// Counts a ticket that came from the store: it waits, or its outcome is unknown.
    pub(super) const fn resume(&mut self) {
        self.outstanding += 1;
        self.is_touched = true;
    }

    /// A row for `ordinal` will be written; `over` when the message is not tried again.
    pub(super) fn settle(&mut self, ordinal: u64, over: bool) {
        self.is_touched = true;
        self.settled.add(ordinal);
        if over {
            self.outstanding = self.outstanding.saturating_sub(1);
            self.fall_asleep();
        }
    }

    /// Leaves memory: nothing of it is handed out any more, and what was only reserved is taken back. What
    /// is over stays so.
    pub(super) const fn leave(&mut self, leave: Leave) {
        if !matches!(self.leaving, Some(Leave::Over(_))) {
            self.leaving = Some(leave);
        }
        self.release();
    }

    /// Whether it leaves, and why.
    pub(super) const fn leaving(&self) -> Option<Leave> {
        self.leaving
    }

    /// What was found in the store is complete. Whether nothing is to be done here, which must be written.
    pub(super) fn settle_down(&mut self) -> bool {
        self.fall_asleep();
        self.is_done_here()
    }

    /// A send that only waits for a later moment need not be here until then.
    fn fall_asleep(&mut self) {
        if self.next == self.recipients && self.outstanding == 0 && self.parked > 0 && !self.unparking {
            self.leave(Leave::Held);
        }
    }

    /// Asks for messages to be reserved when fewer than `ahead` are left, so that twice as many are; or, where it
    /// `tops_up`, when fewer than those are. Of a template only those for whose recipients `has_slot` says yes.
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
            // Recipients that are not read yet are asked about when they are.
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

    /// Whether messages of it are under way, or wait here to be tried again.
    pub(super) const fn is_busy(&self) -> bool {
        self.outstanding > 0
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
        if self.leaving.is_none() {
            self.reserved = progress.high_water.min(self.requested);
        }
    }

    /// Whether every message has its outcome.
    pub(super) const fn is_finished(&self) -> bool {
        self.next == self.recipients && self.outstanding == 0 && self.parked == 0
    }

    /// Whether nothing of it is here any more once its mark is written.
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

    /// The ordinal from which recipients must be read, when they are needed and not on their way. They are
    /// asked for before the last of the stretch here is used.
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

    /// Recipients that were read, from ordinal `from`; empty when reading failed. Those that nobody waits for any more, because
    /// the send was gone from here meanwhile or because they came already, change nothing.
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

    /// The message at this place, when its recipient is here.
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
