//! Accepted sends on their way to the channel.
//!
//! A send can be paused, be canceled or expire as soon as it is durable. Its release may then reach the channel before
//! the send itself. A send that was overtaken in this way, or that arrives late, is not begun on arrival: the channel
//! reads it from the store.

use std::collections::VecDeque;

use uuid::Uuid;

use super::moment::Step;
use super::{Machine, restored};
use crate::ledger::AcceptedSend;
use domain::send::Recipients;
use store::sends::Size;

/// A send overtaken by its release arrives within the time of a commit's answer; no more than this many others are
/// released meanwhile.
const REMEMBERED: usize = 1_024;

/// Sends that were released before they arrived, the newest last.
#[derive(Debug, Default)]
pub(super) struct ReleasedEarly(VecDeque<Uuid>);

impl ReleasedEarly {
    /// The send has not arrived, and must not be begun when it does.
    pub(super) fn add(&mut self, send_id: Uuid) {
        self.0.retain(|id| *id != send_id);
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(send_id);
    }

    /// Whether the send was released before it arrived.
    fn take(&mut self, send_id: Uuid) -> bool {
        let place = self.0.iter().position(|id| *id == send_id);
        place.and_then(|place| self.0.remove(place)).is_some()
    }
}

impl Machine {
    /// These sends became durable.
    pub(super) fn accepted(&mut self, sends: &[AcceptedSend], is_late: bool, step: &mut Step<'_>) {
        let wall = step.wall();
        for send in sends {
            if self.released_early.take(send.id) || is_late {
                self.lanes.look_again();
                continue;
            }
            if let Some(send_at) = send.order.schedule.send_at.filter(|send_at| *send_at > wall) {
                self.queue.look_at(Some(send_at));
                continue;
            }
            let size = match send.recipients {
                Recipients::One(_) | Recipients::Group => Size::Direct,
                Recipients::Blocks(_) => Size::Bulk,
            };
            if !self.is_stopping() && self.may_begin(send, wall) && self.lanes.admits(size) {
                self.lanes.add(restored::begin(self.channel.kind, send));
            }
        }
        self.pump(step);
    }

    /// The send is released: if it is still on its way here, it is not begun when it arrives.
    pub(super) fn released(&mut self, send_id: Uuid) {
        if !self.lanes.holds(send_id) {
            self.released_early.add(send_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_of_releases_is_remembered_and_each_is_taken_once() {
        let mut released = ReleasedEarly::default();
        for send in 0..=REMEMBERED as u128 {
            released.add(Uuid::from_u128(send));
        }
        released.add(Uuid::from_u128(7));
        assert!(!released.take(Uuid::from_u128(0)), "the oldest is dropped");
        assert!(released.take(Uuid::from_u128(1)));
        assert!(!released.take(Uuid::from_u128(1)));
        assert!(released.take(Uuid::from_u128(7)));
        assert_eq!(released.0.len(), REMEMBERED - 2);
    }
}
