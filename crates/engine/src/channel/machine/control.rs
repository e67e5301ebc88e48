//! Messages to the channel about its sends, and about sends in the store.

use uuid::Uuid;

use super::effect::{Answer, Effect};
use super::map::Map;
use super::moment::Step;
use super::work::Leave;
use super::{Machine, admission};
use crate::machine::Caller;
use domain::message::State;
use domain::send::{self, Mark};

/// Callers that wait until the last mark of an ended send is written.
#[derive(Debug, Default)]
pub(super) struct Ending(Map<Uuid, Vec<Caller>>);

impl Ending {
    fn add(&mut self, send_id: Uuid, caller: Caller) {
        self.0.entry(send_id).or_default().push(caller);
    }

    /// These marks are written. Returns the callers that wait for one of them.
    fn written(&mut self, marks: &[Mark]) -> Vec<Caller> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let over = marks.iter().filter(|mark| mark.state.is_over());
        over.filter_map(|mark| self.0.remove(&mark.send_id)).flatten().collect()
    }
}

impl Machine {
    /// The store says that this send is paused or over: releases it.
    pub(super) fn release_send(
        &mut self,
        send_id: Uuid,
        over: Option<send::State>,
        caller: Caller,
        step: &mut Step<'_>,
    ) {
        match over {
            Some(send::State::Canceled) => {
                self.end_pending_reply(send_id, State::Canceled, None, step.wall());
            }
            Some(_) => self.end_pending_reply(send_id, State::Expired, None, step.wall()),
            // The send may be resumed before its caller gives up.
            None => {
                if let Some(pending_reply) = self.pending_reply(send_id) {
                    pending_reply.pause(true);
                }
            }
        }
        if over.is_some() {
            admission::is_over(self, send_id);
        }
        self.released(send_id);
        self.release(over.map_or(Leave::Held, Leave::Over), |work| work.id == send_id, step);
        self.queue.is_gone(send_id);
        if over.is_some() && self.leaves_over(send_id) {
            self.ending.add(send_id, caller);
        } else {
            step.push(Effect::Reply(caller, Answer::Done));
        }
        self.pump(step);
    }

    /// Whether an ended send has a mark that is not written.
    fn leaves_over(&self, send_id: Uuid) -> bool {
        self.lanes.work(send_id).is_some_and(|work| matches!(work.leaving(), Some(Leave::Over(_))))
    }

    /// These marks are written: answers the callers that wait for them.
    pub(super) fn tell_ended(&mut self, marks: &[Mark], step: &mut Step<'_>) {
        for caller in self.ending.written(marks) {
            step.push(Effect::Reply(caller, Answer::Done));
        }
    }

    /// A send in the store may go now.
    pub(super) fn look(&mut self, step: &mut Step<'_>) {
        self.lanes.look_again();
        self.pump(step);
    }

    /// The store holds these sends. The channel reads the store when it is told of an unknown send for the second time:
    /// a send that has just ended may be named once.
    pub(super) fn overlooked(&mut self, oldest: [Option<Uuid>; 2], step: &mut Step<'_>) {
        // While the quota of templates has no room, the oldest send may be one that waits for room.
        if self.queue.is_fetching() || self.is_stopping() || !self.templates_may_go(step.wall()) {
            return;
        }
        if self.queue.reported(oldest).any(|send_id| !self.lanes.holds(send_id)) {
            self.look(step);
        }
    }

    /// The wall clock was set: every time that depends on it is computed again.
    pub(super) fn clock_was_set(&mut self, step: &mut Step<'_>) {
        // When the quota refuses the next message, it says when it opens by the new clock.
        self.templates.open();
        self.templates.counted.look_at_any_time();
        self.queue.look_at_no_time();
        self.lanes.look_again();
        self.lanes.look_at_parked(step.wall());
        self.pump(step);
    }
}
