//! Committing a batch of the ledger: all of it or nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use uuid::Uuid;

use super::{Model, SendRow};
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::block::unpack;
use domain::send::{Control, Mark, Progress, Recipients, State};
use store::Error;
use store::ledger::{Activation, BlockOf, Committed, PendingWrites};

impl Model {
    /// Writes `batch` for the process that took the lease as `epoch`; nothing of it when this fails.
    pub(crate) fn commit(
        &mut self,
        epoch: u64,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<Committed, Error> {
        let may_write = self.is_held_by(epoch) || is_planted(Fault::FenceNotChecked);
        if !may_write && needs_lease(batch) {
            return Err(Error::Fenced);
        }
        self.check(batch)?;
        self.insert_sends(batch, now);
        for BlockOf { send_id, block } in &batch.blocks {
            let numbers = unpack(&block.packed).map_err(|damage| Error::Impossible(damage.to_string()))?;
            self.blocks.insert((*send_id, block.first_ordinal), numbers);
        }
        self.insert_personal(batch);
        for Activation { send_id, recipients, skipped, instead } in &batch.activations {
            let main = (*send_id, *recipients, *skipped);
            let instead = instead.map(|instead| (instead.send_id, instead.recipients, 0));
            for (send_id, recipients, skipped) in [main].into_iter().chain(instead) {
                if let Some(send) = self.sends.get_mut(&send_id) {
                    send.state = Some(State::Active);
                    if let Recipients::Blocks(count) = &mut send.recipients {
                        *count = recipients;
                    }
                    send.skipped = skipped;
                }
            }
        }
        self.upsert_outcomes(batch, now);
        let ignored = self.receive(&batch.receipts);
        self.suppress(&batch.suppressions, now);
        self.keep_inbound(&batch.inbound);
        let overtaken = self.overtaken(batch);
        let gone = self.mark_progress(&batch.marks, now);
        Ok(Committed { gone, overtaken, ignored })
    }

    /// Refuses a batch with a row that cannot be written.
    fn check(&self, batch: &PendingWrites) -> Result<(), Error> {
        let taken = |what: &str| Error::Taken(what.to_owned());
        let missing = || Error::Missing("a send is not being resolved".to_owned());
        let mut new = HashMap::with_capacity(batch.sends.len());
        for send in &batch.sends {
            if self.sends.contains_key(&send.id) || new.insert(send.id, send.state).is_some() {
                return Err(taken("the id of a send"));
            }
        }
        let state = |id: &Uuid| new.get(id).copied().or_else(|| self.sends.get(id)?.state);
        let takes_blocks = |id: &Uuid| matches!(state(id), Some(State::Resolving | State::Active));
        let mut places = HashSet::with_capacity(batch.blocks.len());
        for BlockOf { send_id, block } in batch.blocks.iter().filter(|block| takes_blocks(&block.send_id)) {
            let place = (*send_id, block.first_ordinal);
            if self.blocks.contains_key(&place) || !places.insert(place) {
                return Err(taken("the place of a block"));
            }
        }
        if !batch.blocks.iter().all(|block| takes_blocks(&block.send_id)) {
            return Err(missing());
        }
        let mut activated = HashSet::with_capacity(batch.activations.len());
        for send_id in batch.activations.iter().flat_map(Activation::sends) {
            if state(&send_id) != Some(State::Resolving) || !activated.insert(send_id) {
                return Err(missing());
            }
        }
        Ok(())
    }

    fn insert_sends(&mut self, batch: &PendingWrites, now: Timestamp) {
        for send in &batch.sends {
            let row = SendRow {
                company_id: send.company_id,
                channel_id: send.channel_id,
                state: Some(send.state),
                control: Control::Running,
                content: send.content.clone(),
                template_id: send.template_id,
                recipients: send.recipients,
                skipped: send.skipped,
                progress: Progress::default(),
                due_at: send.schedule.send_at,
                send_at: send.schedule.send_at,
                expires_at: send.schedule.expires_at,
                created_at: now,
                finished_at: None,
            };
            self.sends.insert(send.id, row);
        }
    }

    /// Moves sends to their marks. Returns those that take none.
    fn mark_progress(&mut self, marks: &[Mark], now: Timestamp) -> Vec<Uuid> {
        let mut last: BTreeMap<Uuid, &Mark> = BTreeMap::new();
        last.extend(marks.iter().map(|mark| (mark.send_id, mark)));
        let mut gone = Vec::new();
        for (send_id, mark) in last {
            match self.sends.get_mut(&send_id).filter(|send| send.takes_marks(now)) {
                Some(send) => send.mark(mark, now),
                None => gone.push(send_id),
            }
            if matches!(mark.state, State::Canceled | State::Expired) {
                self.end_messages(send_id, mark.state, now);
            }
        }
        gone
    }
}

impl SendRow {
    /// Whether it is accepted, and has begun, may begin, or might have begun when it ended.
    fn takes_marks(&self, now: Timestamp) -> bool {
        let until = self.finished_at.filter(|_| !self.is_active()).unwrap_or(now);
        let has_come = self.send_at.is_none_or(|start| start <= until);
        self.is_accepted() && (self.progress.high_water > 0 || has_come)
    }

    fn mark(&mut self, mark: &Mark, now: Timestamp) {
        self.progress = mark.progress;
        self.due_at = mark.due_at;
        if mark.state.is_over() && self.finished_at.is_none() {
            self.finished_at = Some(now);
        }
        if self.is_active() {
            self.state = Some(mark.state);
        }
    }
}

/// Whether only the holder of the lease may write it: a batch that accepts sends or records dispatching.
const fn needs_lease(batch: &PendingWrites) -> bool {
    let accepts = !batch.sends.is_empty() || !batch.blocks.is_empty() || !batch.activations.is_empty();
    accepts || !batch.outcomes.is_empty() || !batch.marks.is_empty() || batch.is_empty()
}
