//! The rules of everything that becomes durable.

use std::time::Duration;

use super::super::model::{Model, SendRow};
use super::Watch;
use domain::message::{Key, State as At};
use domain::send::{Mark, Recipients, State};
use store::ledger::PendingWrites;

impl Watch {
    /// What a process asked the database to write before it crashed became durable after all: messages that wait for
    /// another attempt were surely not sent, whatever was known of them at the crash.
    pub(in crate::universe) fn committed_after_crash(&mut self, batch: &PendingWrites) {
        for row in batch.outcomes.iter().filter(|row| row.outcome.state == At::Queued) {
            let key = Key { send_id: row.send_id, ordinal: row.outcome.position.ordinal };
            if let Some(attempted) = self.attempted.get_mut(&key) {
                attempted.is_held = false;
            }
        }
    }

    /// A batch became durable.
    pub(in crate::universe) fn committed(&mut self, model: &Model, batch: &PendingWrites) {
        let outcomes = batch
            .outcomes
            .iter()
            .map(|row| Key { send_id: row.send_id, ordinal: row.outcome.position.ordinal });
        for key in outcomes.chain(batch.receipts.iter().map(|receipt| receipt.key)) {
            let Some(row) = model.message(key) else { continue };
            let before = self.rows.insert(key, row.state);
            if let Some(before) = before.filter(|before| !before.is_open())
                && before.advanced_by(row.state) != row.state
            {
                self.break_("states only move forward", format!("{key}: {before:?}, then {:?}", row.state));
            }
            self.compare_events(model, key);
        }
        for mark in &batch.marks {
            let send_id = mark.send_id;
            let Some(send) = model.send(send_id) else { continue };
            let progress = send.progress;
            let highest = self.highest.get(&send_id).copied().unwrap_or(0);
            if progress.high_water < highest {
                let what = format!("{send_id}: {progress:?}, attempted up to {highest}");
                self.break_("no mark goes back below what was attempted", what);
            }
            let before = self.high_water.insert(send_id, progress.high_water).unwrap_or(0);
            let is_held_by_nobody = send.template_id.is_none()
                && !self.has_nodes
                && send.is_active()
                && !self.steered.contains(&send_id)
                && !self.is_stopping;
            if progress.high_water < before && is_held_by_nobody {
                let what = format!("{send_id}: {before}, then {progress:?}");
                self.break_("what holds a template holds no other send", what);
            }
            let settled = self.settled.insert(send_id, progress.settled).unwrap_or(0);
            if progress.settled < settled {
                self.break_("what is settled stays so", format!("{send_id}: {settled}, then {progress:?}"));
            }
            let mut new = settled..progress.settled;
            if let Some(ordinal) =
                new.find(|ordinal| model.message(Key { send_id, ordinal: *ordinal }).is_none())
            {
                self.break_("what is settled has a row", format!("{send_id}: {ordinal} has none"));
            }
            let state = send.state.unwrap_or(State::Resolving);
            let before = self.ended.insert(send_id, state);
            if before.is_some_and(|before| before.is_over() && before != state) {
                self.break_("a send that is over stays so", format!("{send_id}: {before:?}, then {state:?}"));
            }
        }
    }

    /// The process hears that these marks are durable.
    pub(in crate::universe) fn marked(&mut self, model: &Model, marks: &[Mark], now: Duration) {
        for mark in marks.iter().filter(|mark| mark.progress.high_water == 1) {
            let is_single = |send: &SendRow| matches!(send.recipients, Recipients::One(_));
            let accepted = self.accepted.get_mut(&mark.send_id);
            if let Some(accepted) = accepted.filter(|_| model.send(mark.send_id).is_some_and(is_single)) {
                accepted.marked_at.get_or_insert(now);
                self.marked.insert(mark.send_id);
            }
        }
    }
}
