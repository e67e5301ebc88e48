//! Changes of sends from outside their channel, and by a start or a clock that was set back.

use std::collections::HashSet;
use std::time::Duration;

use uuid::Uuid;

use super::{Model, SendRow};
use clock::Timestamp;
use domain::message::State as At;
use domain::send::{Control, Progress, Recipients, Schedule, State};
use store::Error;
use store::sends::control::SendControl;
use store::sends::reschedule::Rescheduled;

impl Model {
    /// Pauses or resumes a send, unless it is over. Returns its state.
    pub(crate) fn control_send(
        &mut self,
        company_id: Uuid,
        send_id: Uuid,
        control: Control,
    ) -> Option<SendControl> {
        let send = self.sends.get_mut(&send_id).filter(|send| send.company_id == company_id)?;
        if send.is_active() {
            send.control = control;
        }
        self.send_control(company_id, send_id)
    }

    /// Cancels a send, unless it is over. Returns its state.
    pub(crate) fn cancel_send(
        &mut self,
        company_id: Uuid,
        send_id: Uuid,
        now: Timestamp,
    ) -> Option<SendControl> {
        let send = self.sends.get(&send_id).filter(|send| send.company_id == company_id)?;
        if send.is_active() {
            self.end_send(send_id, State::Canceled, now);
        }
        self.send_control(company_id, send_id)
    }

    /// Whether a send is scheduled and has not begun.
    pub(crate) fn waits_for_its_start(&self, send_id: Uuid, now: Timestamp) -> bool {
        let is_ahead =
            |send: &SendRow| send.progress.high_water == 0 && send.send_at.is_some_and(|start| start > now);
        self.send(send_id).is_some_and(|send| send.is_active() && is_ahead(send))
    }

    /// Moves the start of a send that is scheduled and has not begun.
    pub(crate) fn reschedule_send(
        &mut self,
        company_id: Uuid,
        send_id: Uuid,
        start: Timestamp,
        now: Timestamp,
    ) -> Rescheduled {
        let own = self.sends.get_mut(&send_id).filter(|send| send.company_id == company_id);
        let Some((send, state)) = own.and_then(|send| send.state.map(|state| (send, state))) else {
            return Rescheduled::Missing;
        };
        match state {
            State::Resolving => return Rescheduled::Missing,
            state if state.is_over() => return Rescheduled::Over(state),
            _ => {}
        }
        let schedule = Schedule { send_at: send.send_at, expires_at: send.expires_at };
        if send.progress.high_water > 0 || schedule.waits_until(now).is_none() {
            return Rescheduled::Begun;
        }
        match schedule.starting_at(start, now) {
            Ok(Schedule { send_at, .. }) => (send.send_at, send.due_at) = (send_at, send_at),
            Err(refusal) => return Rescheduled::Refused(refusal),
        }
        Rescheduled::Done { channel_id: send.channel_id, note: None }
    }

    /// Ends expired sends, at most `limit`. Returns those with their channels.
    pub(crate) fn expire_sends(&mut self, now: Timestamp, limit: usize) -> Vec<(Uuid, Uuid)> {
        let is_due = |send: &SendRow| send.is_active() && send.expires_at.is_some_and(|end| end <= now);
        let due = self.sends.iter().filter(|(_, send)| is_due(send));
        let due: Vec<_> = due.map(|(id, send)| (*id, send.channel_id)).take(limit).collect();
        for (send_id, _) in &due {
            self.end_send(*send_id, State::Expired, now);
        }
        due
    }

    fn end_send(&mut self, send_id: Uuid, state: State, now: Timestamp) {
        if let Some(send) = self.sends.get_mut(&send_id) {
            send.state = Some(state);
            send.finished_at = Some(now);
            send.due_at = None;
        }
        self.end_messages(send_id, state, now);
    }

    /// Puts off messages that may have been sent, in all sends that are not over: none goes again before `until`.
    /// Returns how many messages that puts off.
    pub(crate) fn put_off_unknown(&mut self, until: Timestamp) -> u64 {
        let active = self.active();
        let mut put_off = 0;
        for ((send_id, _), row) in &mut self.messages {
            let is_doubtful = match row.state {
                At::Sending | At::Unknown => true,
                At::Queued => row.taken_at.is_some(),
                _ => false,
            };
            if is_doubtful && row.retry_at.is_some_and(|at| at < until) && active.contains(send_id) {
                row.retry_at = Some(until);
                put_off += 1;
            }
        }
        put_off
    }

    /// Ends the waiting messages of ended sends. Returns in how many sends.
    pub(crate) fn end_left_messages(&mut self, now: Timestamp) -> u64 {
        let waits = self.messages.iter().filter(|(_, row)| row.retry_at.is_some());
        let with_waiting: HashSet<_> = waits.map(|((send_id, _), _)| *send_id).collect();
        let over = self.sends.iter().filter_map(|(id, send)| Some((*id, send.state?)));
        let over = over.filter(|(_, state)| matches!(state, State::Canceled | State::Expired));
        let over: Vec<_> = over.filter(|(id, _)| with_waiting.contains(id)).collect();
        for (send_id, state) in &over {
            self.end_messages(*send_id, *state, now);
        }
        over.len() as u64
    }

    /// Makes rows that wait by the service's own decision wait as long after `now` as was intended. Returns how many
    /// rows moved.
    pub(crate) fn clock_went_back(&mut self, now: Timestamp, longest_hold: Duration) -> u64 {
        let active = self.active();
        let mut waiting = 0;
        for ((send_id, _), row) in &mut self.messages {
            let Some(retry_at) = row.retry_at.filter(|_| row.updated_at > now) else { continue };
            if active.contains(send_id) {
                let wait = retry_at.millis() - row.updated_at.millis();
                row.retry_at = Some(Timestamp::from_millis(now.millis() + wait));
                row.updated_at = now;
                waiting += 1;
            }
        }
        if waiting > 0 {
            for send in self.sends.values_mut().filter(|send| send.is_active()) {
                let is_schedule = send.send_at.is_some() && send.due_at == send.send_at;
                if send.due_at.is_some_and(|due| due > now) && !is_schedule {
                    send.due_at = None;
                }
            }
        }
        waiting + self.templates_went_back(now) + self.suppressions_went_back(now, longest_hold)
    }

    /// Permanently withdraws those of these sends that are not accepted. Returns the accepted ones.
    pub(crate) fn settle(&mut self, sends: &[Uuid], now: Timestamp) -> HashSet<Uuid> {
        for send_id in sends {
            match self.sends.get_mut(send_id) {
                None => {
                    self.sends.insert(*send_id, SendRow::withdrawn(now));
                }
                Some(send) if send.state == Some(State::Resolving) => {
                    let SendRow { skipped, progress, control, finished_at, .. } = *send;
                    *send = SendRow { skipped, progress, control, finished_at, ..SendRow::withdrawn(now) };
                }
                Some(_) => {}
            }
            if self.send(*send_id).is_some_and(|send| send.state.is_none()) {
                self.remove_blocks(*send_id);
            }
        }
        sends.iter().copied().filter(|id| self.send(*id).is_some_and(SendRow::is_accepted)).collect()
    }

    /// Removes sends whose audience was still being written when the previous process ended, for the one that took the
    /// lease as `epoch`. Returns how many.
    pub(crate) fn remove_unresolved(&mut self, epoch: u64) -> Result<u64, Error> {
        if !self.is_held_by(epoch) {
            return Err(Error::Fenced);
        }
        Ok(self.remove_unresolved_by(|_| true))
    }

    /// Removes sends whose audience is not complete and for which `is_abandoned` holds. Returns how many.
    pub(crate) fn remove_unresolved_by(&mut self, is_abandoned: impl Fn(Uuid) -> bool) -> u64 {
        let unresolved = self.sends.iter().filter(|(_, send)| send.state == Some(State::Resolving));
        let unresolved: Vec<_> = unresolved.map(|(id, _)| *id).filter(|id| is_abandoned(*id)).collect();
        for send_id in &unresolved {
            self.remove_blocks(*send_id);
            self.sends.remove(send_id);
        }
        unresolved.len() as u64
    }

    fn remove_blocks(&mut self, send_id: Uuid) {
        self.blocks.retain(|(id, _), _| *id != send_id);
        self.personal.remove(send_id);
    }

    fn active(&self) -> HashSet<Uuid> {
        self.sends.iter().filter(|(_, send)| send.is_active()).map(|(id, _)| *id).collect()
    }

    fn send_control(&self, company_id: Uuid, send_id: Uuid) -> Option<SendControl> {
        let send = self.send(send_id).filter(|send| send.company_id == company_id && send.is_accepted())?;
        Some(SendControl {
            channel_id: send.channel_id,
            state: send.state?,
            control: send.control,
            note: None,
        })
    }
}

impl SendRow {
    /// A row that keeps a send from being written.
    const fn withdrawn(now: Timestamp) -> Self {
        Self {
            company_id: Uuid::nil(),
            channel_id: Uuid::nil(),
            state: None,
            control: Control::Running,
            content: String::new(),
            template_id: None,
            recipients: Recipients::Blocks(0),
            skipped: 0,
            progress: Progress { high_water: 0, settled: 0 },
            due_at: None,
            send_at: None,
            expires_at: None,
            created_at: now,
            finished_at: None,
        }
    }
}
