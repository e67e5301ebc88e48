//! The one timer of a channel, and the one place that computes it.

use std::time::Instant;

use super::effect::Effect;
use super::moment::Step;
use super::{Life, Machine};
use crate::planted::{Fault, is_planted};

/// The time at which the shell was last asked to wake the machine.
#[derive(Debug, Default)]
pub(super) struct Timer {
    set: Option<Instant>,
}

impl Timer {
    /// The timer fired.
    pub(super) const fn fired(&mut self) {
        self.set = None;
    }

    /// The time to ask the shell for, so that the machine is woken at `at`; `None` when the last request is early
    /// enough.
    fn ask(&mut self, at: Option<Instant>, now: Instant) -> Option<Instant> {
        let at = at.filter(|at| self.set.is_none_or(|set| set > *at || set <= now))?;
        self.set = Some(at);
        Some(at)
    }
}

impl Machine {
    /// The requested time has come.
    pub(super) fn woken(&mut self, step: &mut Step<'_>) {
        self.timer.fired();
        self.pump(step);
    }

    /// Carries out the retries, probes and periodic reads that are due, whatever the input is.
    pub(super) fn catch_up(&mut self, step: &mut Step<'_>) {
        for retry in self.retries.due(step.now()) {
            if !self.is_over() {
                self.try_once_more(retry, step);
            }
        }
        if self.is_over() {
            return;
        }
        if self.link.take_due_probe(step.now()) {
            self.probe(step);
        }
        if self.queue.take_due_survey(step.now()) {
            self.look_into_store(step);
        }
    }

    /// Asks the shell to wake the machine at the first time at which there is something to do without an input.
    pub(super) fn set_timer(&mut self, step: &mut Step<'_>) {
        let next = match self.life {
            Life::Over => return,
            Life::Stopping(_) => self.next_chore(),
            Life::Running if is_planted(Fault::TimerNotSet) => self.next_chore(),
            Life::Running => self.next_chore().into_iter().chain(self.next_pump(step)).min(),
        };
        if let Some(at) = self.timer.ask(next, step.now()) {
            step.push(Effect::WakeAt(at));
        }
    }

    /// When the next retry, probe or read is due.
    fn next_chore(&self) -> Option<Instant> {
        let moments = [self.retries.next(), self.link.probe_at(), Some(self.queue.survey_at())];
        moments.into_iter().flatten().min()
    }

    /// When a message may go, or a send expires.
    fn next_pump(&mut self, step: &Step<'_>) -> Option<Instant> {
        let (now, wall) = (step.now(), step.wall());
        let until = self.held.as_ref().and_then(|held| held.until);
        // An overdue message waits for something else, which comes as an input.
        let due = if self.link.can_send() { self.lanes.next_due() } else { None };
        let due = due.filter(|due| *due > now);
        let unpark = self.lanes.next_unpark(self.templates_may_go(wall));
        let (closed, quiet) = (self.templates.closed_until(), self.tier.quiet_until(wall));
        let later = [self.lanes.next_expiry(), unpark, self.queue.next_look(), closed, quiet];
        let later = later.into_iter().flatten().min().map(|at| now + at.from_now(wall));
        [until, due, later].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_shell_is_asked_again_only_for_an_earlier_moment_or_after_the_last_one_passed() {
        let (mut timer, now) = (Timer::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(timer.ask(None, now), None);
        assert_eq!(timer.ask(Some(after(5)), now), Some(after(5)));
        assert_eq!(timer.ask(Some(after(9)), now), None, "it is woken before");
        assert_eq!(timer.ask(Some(after(2)), now), Some(after(2)));
        assert_eq!(timer.ask(Some(after(9)), after(3)), Some(after(9)), "the one before has passed");
        timer.fired();
        assert_eq!(timer.ask(Some(after(12)), after(9)), Some(after(12)));
    }
}
