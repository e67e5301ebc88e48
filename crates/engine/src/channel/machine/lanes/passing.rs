//! Reserving the messages that go next, and passing over people for whom the quota of templates has no slot.
//!
//! While templates may not go, template sends with one recipient queue behind other sends, so that the other sends wait
//! only for their own marks.

use std::collections::VecDeque;

use uuid::Uuid;

use super::Lanes;
use crate::channel::machine::map::Set;
use crate::channel::machine::work::{Leave, Requested, Work};
use domain::message::Position;
use domain::phone::PhoneNumber;

/// The most people of a send that are passed over at once: each gets a row in the next record.
const PASSED_AT_ONCE: u64 = 500;

/// Messages that found no slot in the quota of templates.
#[derive(Debug, Default)]
pub(in crate::channel::machine) struct PassedOver {
    /// Whether there are any.
    pub(in crate::channel::machine) is_blocked: bool,
    /// Sends none of whose recipients is known to have a slot.
    pub(in crate::channel::machine) sends: Set<Uuid>,
    /// Messages of other sends, with send and company: they are parked in the store.
    pub(in crate::channel::machine) people: Vec<(Uuid, Uuid, Position)>,
}

impl Lanes {
    /// The recipients of template messages that may be handed out by their marks, marks on their way to the store
    /// included.
    pub(in crate::channel::machine) fn marked_people(&self) -> impl Iterator<Item = PhoneNumber> {
        self.works.values().filter(|work| work.template.is_some()).flat_map(Work::marked)
    }

    /// The recipients of the template messages that [`Lanes::reserve_ahead`] would reserve next if all had slots.
    pub(in crate::channel::machine) fn next_people(&self, tops_up: bool) -> Vec<PhoneNumber> {
        let templates = |id: &Uuid| self.works.get(id).filter(|work| work.template.is_some());
        let ahead = usize::try_from(self.bounds.ahead).unwrap_or(usize::MAX);
        let direct = self.direct.order.iter().take(ahead).skip(self.direct_requested).filter_map(templates);
        let direct = direct.flat_map(|work| work.next_to_request(1, false));
        let share = self.bulk_share();
        let bulk = self.bulk.order.iter().filter(|_| !self.is_quiet).filter_map(templates);
        direct.chain(bulk.flat_map(|work| work.next_to_request(share, tops_up))).collect()
    }

    /// How many messages of each bulk send are reserved ahead.
    fn bulk_share(&self) -> u64 {
        (self.bounds.ahead / (2 * self.bulk.order.len() as u64).max(1)).max(1)
    }

    /// [`Lanes::reserve_ahead`] for everything but templates.
    pub(in crate::channel::machine) fn reserve_others_ahead(&mut self, tops_up: bool) {
        self.put_templates_last();
        let share = self.bulk_share();
        let Self { bounds, works, direct, bulk, direct_requested, moved, is_quiet, .. } = self;
        let ahead = usize::try_from(bounds.ahead).unwrap_or(usize::MAX);
        let is_other = |work: &&mut Work| work.template.is_none();
        for id in direct.order.iter().take(ahead).skip(*direct_requested) {
            let Some(work) = works.get_mut(id).filter(is_other) else { break };
            if work.request(1, false, |_| false).has_moved {
                moved.insert(*id);
            }
            *direct_requested += 1;
        }
        for id in bulk.order.iter().filter(|_| !*is_quiet) {
            let Some(work) = works.get_mut(id).filter(is_other) else { continue };
            if work.request(share, tops_up, |_| false).has_moved {
                moved.insert(*id);
            }
        }
    }

    /// Reserves, with the next marks, the messages that are handed out next: up to the allowed number for the direct
    /// lane and, in equal shares, for the bulk lane; template messages only to recipients for whom `has_slot` returns
    /// `true`. Without `tops_up`, a share is filled up only once half of it is used. Returns the messages that found no
    /// slot.
    pub(in crate::channel::machine) fn reserve_ahead(
        &mut self,
        tops_up: bool,
        mut has_slot: impl FnMut(PhoneNumber) -> bool,
    ) -> PassedOver {
        let share = self.bulk_share();
        let Self { bounds, works, direct, bulk, direct_requested, moved, parked, queued, is_quiet, .. } =
            self;
        let ahead = usize::try_from(bounds.ahead).unwrap_or(usize::MAX);
        let mut passed = PassedOver::default();
        let mut place = (*direct_requested).min(direct.order.len());
        while place < direct.order.len().min(ahead) {
            let id = direct.order[place];
            if let Some(work) = works.get_mut(&id) {
                let Requested { has_moved, is_blocked } = work.request(1, false, &mut has_slot);
                if is_blocked {
                    passed.sends.insert(id);
                    direct.order.remove(place);
                    continue;
                }
                if has_moved {
                    moved.insert(id);
                }
            }
            place += 1;
        }
        *direct_requested = place;
        for id in bulk.order.iter().filter(|_| !*is_quiet) {
            let Some(work) = works.get_mut(id) else { continue };
            let requested = work.request(share, tops_up, &mut has_slot);
            if requested.has_moved {
                moved.insert(*id);
            }
            if !requested.is_blocked {
                continue;
            }
            passed.is_blocked = true;
            let people = work.pass_over(PASSED_AT_ONCE, &mut has_slot);
            queued.less(people.len() as u64);
            if !people.is_empty() {
                moved.insert(*id);
                parked.insert(*id);
                passed.people.extend(people.into_iter().map(|person| (*id, work.company_id, person)));
            } else if !work.is_busy() {
                passed.sends.insert(*id);
            }
        }
        passed.is_blocked |= !passed.sends.is_empty();
        passed
    }

    /// These sends wait in the store for a slot. A send whose state is fully stored leaves memory at once.
    pub(in crate::channel::machine) fn send_back(&mut self, sends: &Set<Uuid>) {
        for id in sends {
            let Some(work) = self.works.get_mut(id) else { continue };
            self.queued.discount(work);
            if work.is_as_stored() && !self.moved.contains(id) {
                // Only the recipients that were read are known to be new: the search in the store looks at the others.
                if !work.is_direct() {
                    self.bulk.look_again();
                }
                self.works.remove(id);
                self.parked.remove(*id);
            } else {
                work.leave(Leave::Held);
                self.moved.insert(*id);
            }
        }
        if !sends.is_empty() {
            self.reorder();
        }
    }

    /// Takes back the marks of templates that were not handed out.
    pub(in crate::channel::machine) fn take_back_templates(&mut self) {
        for work in self.works.values_mut().filter(|work| work.template.is_some()) {
            if work.release() {
                self.moved.insert(work.id);
            }
        }
        self.put_templates_last();
    }

    /// Moves other sends with one recipient before template sends, none of which is marked. The order within each kind
    /// stays.
    fn put_templates_last(&mut self) {
        let Self { works, direct, direct_requested, .. } = self;
        let is_other = |id: &Uuid| works.get(id).is_none_or(|work| work.template.is_none());
        *direct_requested = direct.order.iter().take(*direct_requested).filter(|id| is_other(id)).count();
        let (others, templates): (VecDeque<_>, VecDeque<_>) = direct.order.drain(..).partition(is_other);
        direct.order = others;
        direct.order.extend(templates);
    }

    /// This message of the send goes to a person who counts against the quota of templates already.
    pub(in crate::channel::machine) fn counted_at(&mut self, send_id: Uuid, ordinal: u64) {
        if let Some(work) = self.works.get_mut(&send_id) {
            work.is_counted_at(ordinal);
        }
    }
}

#[cfg(test)]
mod tests;
