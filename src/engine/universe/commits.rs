//! Commits of the ledger, and what the database makes of them.

use std::time::Duration;

use super::ledger::{Accepting, Commit, Fare, Open};
use super::world::{Event, World};
use crate::engine::channel::machine::{Input, LeaseLost};
use crate::engine::ledger::Written;
use crate::store::Error;
use crate::store::ledger::{Committed, Receipt};

impl World {
    /// Begins a commit, if there is something to write and none is under way.
    pub(super) fn commit(&mut self) {
        let Some(process) = &mut self.process else { return };
        let Some(open) = process.ledger.begin() else { return };
        let life = process.life;
        let trouble = self.plan.trouble;
        let fare = if self.goes_wrong(trouble.commit_fails) {
            Fare::Fails
        } else if self.goes_wrong(trouble.commit_in_doubt) {
            Fare::InDoubt { is_written: self.dice.happens(500) }
        } else {
            Fare::Done
        };
        let mut applies = Duration::from_micros(self.dice.between(200, 6_000));
        if self.goes_wrong(trouble.commit_hangs) {
            applies += self.dice.time(Duration::from_millis(100), Duration::from_secs(15));
        }
        let reports = applies + Duration::from_micros(self.dice.between(50, 2_000));
        if let Some(process) = &mut self.process {
            process.ledger.current = Some(Commit { open, fare, result: None });
        }
        self.after(applies, Event::CommitApplies { life });
        self.after(reports, Event::CommitReports { life });
    }

    /// The database commits, or does not.
    pub(super) fn commit_applies(&mut self, life: u64) {
        let wall = self.clock.wall();
        let Some(process) = self.process.as_mut().filter(|process| process.life == life) else { return };
        let epoch = process.epoch;
        let Some(commit) = &mut process.ledger.current else { return };
        if matches!(commit.fare, Fare::Fails | Fare::InDoubt { is_written: false }) {
            return;
        }
        let result = self.model.commit(epoch, &commit.open.batch, wall);
        if result.is_ok() {
            self.watch.committed(&self.model, &commit.open.batch);
        }
        commit.result = Some(result);
    }

    /// The process hears what became of its commit.
    pub(super) fn commit_reports(&mut self) {
        let Some(process) = &mut self.process else { return };
        let Some(Commit { open, fare, result }) = process.ledger.current.take() else { return };
        match (fare, result) {
            (Fare::Done, Some(Ok(found))) => {
                process.ledger.failures = 0;
                self.written(open, found);
            }
            (_, Some(Err(Error::Fenced))) => self.fenced(open),
            (_, Some(Err(error))) => {
                self.watch.break_("the ledger writes only what the store can take", error.to_string());
            }
            (fare, Some(Ok(_)) | None) => self.not_written(open, fare),
        }
    }

    /// Tells everybody that what they wait for is written.
    fn written(&mut self, open: Open, found: Committed) {
        let Open { batch, accepts, records, heard, found: mut all, .. } = open;
        self.watch.marked(&self.model, &batch.marks, self.clock.elapsed());
        all.add(found);
        let written = Written { gone: all.gone, overtaken: all.overtaken };
        for Accepting { channel, send } in accepts {
            self.accepted(&send);
            self.inform(channel, Input::Accepted { sends: vec![send], is_late: false });
        }
        for channel in records {
            // The machine counts on this answer since it handed the record over.
            self.tell_written(channel, Ok(written.clone()));
        }
        let mut heard: Vec<_> = heard.into_iter().collect();
        heard.sort_unstable_by_key(|(channel, _)| *channel);
        for (channel, messages) in heard {
            self.inform(channel, Input::Heard(messages));
        }
    }

    fn tell_written(&mut self, channel: usize, result: Result<Written, LeaseLost>) {
        let Some(process) = &self.process else { return };
        let (life, input) = (process.life, Box::new(Input::Written(result)));
        let wait = Duration::from_micros(self.dice.below(300));
        self.after(wait, Event::Tell { life, channel, input, is_answer: true });
    }

    /// A commit is said to have failed: outcomes and marks are kept, everybody else hears of it.
    fn not_written(&mut self, mut open: Open, fare: Fare) {
        let in_doubt = matches!(fare, Fare::InDoubt { .. });
        let accepts = std::mem::take(&mut open.accepts);
        let receipts = std::mem::take(&mut open.receipts);
        let Some(process) = &mut self.process else { return };
        if in_doubt {
            process.ledger.doubts.extend(accepts);
        } else {
            self.watch.refused(accepts.iter().map(|accepting| accepting.send.id));
        }
        let (life, wait) = (process.life, process.ledger.failed(open));
        self.after(wait, Event::LedgerTries { life });
        self.tell_again(receipts);
        self.begin_settling();
    }

    /// The provider repeats what was not taken in.
    pub(super) fn tell_again(&mut self, receipts: Vec<(usize, Receipt)>) {
        for (channel, receipt) in receipts {
            let wait = self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
            self.after(wait, Event::Webhook { channel, receipt: Box::new(receipt) });
        }
    }

    pub(super) fn ledger_tries(&mut self) {
        if let Some(process) = &mut self.process {
            process.ledger.rests = false;
        }
    }

    /// Another process took over: nothing more can be written.
    fn fenced(&mut self, open: Open) {
        let Some(process) = &mut self.process else { return };
        process.ledger.closed = true;
        let Open { accepts, mut records, receipts, .. } = open;
        records.append(&mut process.ledger.open.records);
        let life = process.life;
        for channel in records {
            self.tell_written(channel, Err(LeaseLost));
        }
        self.watch.refused(accepts.iter().map(|accepting| accepting.send.id));
        self.tell_again(receipts);
        let end = self.dice.time(Duration::from_millis(1), Duration::from_secs(2));
        self.after(end, Event::Ends { life });
    }

    fn begin_settling(&mut self) {
        let Some(process) = &mut self.process else { return };
        if process.ledger.doubts.is_empty() || process.ledger.is_settling {
            return;
        }
        process.ledger.is_settling = true;
        let life = process.life;
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_secs(2));
        self.after(wait, Event::Settles { life });
    }

    /// Sends whose commit may or may not have gone through are there from now on, or never will be.
    pub(super) fn settle(&mut self) {
        let wall = self.clock.wall();
        let Some(process) = &mut self.process else { return };
        process.ledger.is_settling = false;
        if process.ledger.current.is_some() {
            // The database answers when the commit under way is over.
            self.begin_settling();
            return;
        }
        let doubts = std::mem::take(&mut process.ledger.doubts);
        let ids: Vec<_> = doubts.iter().map(|accepting| accepting.send.id).collect();
        let accepted = self.model.settle(&ids, wall);
        for Accepting { channel, send } in doubts {
            if accepted.contains(&send.id) {
                self.accepted(&send);
                self.inform(channel, Input::Accepted { sends: vec![send], is_late: true });
            } else {
                self.watch.refused([send.id].into_iter());
            }
        }
    }

    /// The provider tells of a message. It tells it again until it is taken in.
    pub(super) fn webhook(&mut self, channel: usize, receipt: Receipt) {
        let now = self.clock.elapsed();
        match &mut self.process {
            Some(process) if process.stands_until <= now && !process.ledger.closed => {
                process.ledger.hear(channel, receipt);
            }
            Some(_) | None => self.tell_again(vec![(channel, receipt)]),
        }
    }
}
