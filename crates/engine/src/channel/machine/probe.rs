//! Probing: asks the provider about the number. At first, probes are repeated with growing pauses until the provider
//! reports on the number; then they are rare. While the channel is disconnected or blocked, they are repeated with
//! growing pauses until it can send again.

use std::time::Duration;

use super::Machine;
use super::connection::Stage;
use super::effect::Effect;
use super::moment::Step;
use crate::planted::{Fault, is_planted};
use connectors::{Disposition, Health};
use domain::channel::{Channel, Kind, Level, Status};

/// The first wait before a channel that the provider has not reported on is probed again.
const UNCONFIRMED: Duration = Duration::from_secs(30);
/// The first and the longest wait before a channel that cannot send is probed again.
const REFUSED: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(30 * 60));

/// A webhook causes no further probe sooner than this.
const AFTER_NEWS: Duration = Duration::from_secs(1);

/// The number's level, if the provider reported one: to this process, or to an earlier one.
pub(super) const fn level_said(channel: &Channel, said: Option<Level>) -> Option<Level> {
    if said.is_some() { said } else { channel.level }
}

/// The number's level; [`Level::Standard`] while the provider has not reported one. A web session has none.
pub(super) fn level(channel: &Channel, said: Option<Level>) -> Option<Level> {
    let is_limited = channel.kind == Kind::BusinessAccount;
    is_limited.then(|| level_said(channel, said).unwrap_or(Level::Standard))
}

impl Machine {
    /// The number's level, or the assumed one; `None` for a web session.
    pub(super) fn level(&self) -> Option<Level> {
        level(&self.channel, self.link.level)
    }

    /// Whether the provider reported the number's level.
    pub(super) fn is_level_known(&self) -> bool {
        level_said(&self.channel, self.link.level).is_some()
    }

    /// Probes at once when the provider has not confirmed the channel, has not reported its level, or sent a webhook
    /// about it, and when a canary is due. Otherwise the probe comes later.
    pub(super) fn begin_probing(&mut self, step: &mut Step<'_>) {
        let is_known = self.link.status() == Status::Connected && self.is_level_known();
        let is_due = self.link.canary.due_in(step.wall()).is_some_and(|wait| wait.is_zero());
        if self.link.probe.has_news || is_due || (self.link.accepts() && !is_known) {
            self.probe(step);
        } else {
            self.probe_later(step);
        }
        self.follow_templates(step);
    }

    pub(super) fn probe_later(&mut self, step: &mut Step<'_>) {
        let usual = self.common.probe_interval;
        let wait = match self.link.status() {
            // The next message of a connecting channel shows whether it can send; more probes would not.
            Status::Connecting if self.link.is_described && !is_planted(Fault::ProbedForEver) => usual,
            Status::Connected if self.link.is_described || self.is_level_known() => usual,
            Status::Connected | Status::Connecting | Status::Pairing => {
                let doublings = self.link.probe.unanswered.saturating_sub(1).min(10);
                let doublings = if is_planted(Fault::ProbedForEver) { 0 } else { doublings };
                UNCONFIRMED.saturating_mul(1 << doublings).min(usual.max(UNCONFIRMED))
            }
            Status::Disconnected | Status::Blocked => {
                let (first, longest) = REFUSED;
                first.saturating_mul(1 << self.link.refusals.min(10)).min(longest)
            }
        };
        // Spreads the probes of channels that started together.
        let wait = wait.mul_f64(0.75 + step.chance() / 4.0);
        let wait = match self.link.canary.due_in(step.wall()) {
            // Unless the provider reported that the number cannot send, the trial's time decides.
            Some(due_in) if !self.link.accepts() && self.link.refusals == 0 => due_in.max(UNCONFIRMED),
            Some(due_in) if !self.link.accepts() => due_in.max(wait),
            // A canary needs a healthy answer first, once it is due.
            Some(due_in) if !self.link.canary.is_half_open() => wait.min(due_in.max(UNCONFIRMED)),
            Some(_) | None => wait,
        };
        self.link.probe.next = Some(step.now() + wait);
    }

    /// A webhook says that the number changed: probes it, one probe at a time.
    pub(super) fn take_up_news(&mut self, step: &mut Step<'_>) {
        self.link.probe.has_news = true;
        if self.link.probe.stage == Stage::Idle {
            self.probe_for_news(step);
        }
    }

    fn probe_for_news(&mut self, step: &mut Step<'_>) {
        let since = self.link.probe.begun.map(|begun| step.now().saturating_duration_since(begun));
        match since.and_then(|since| AFTER_NEWS.checked_sub(since)) {
            Some(wait) => self.link.probe.next = Some(step.now() + wait),
            None => self.probe(step),
        }
    }

    pub(super) fn probe(&mut self, step: &mut Step<'_>) {
        // Without a connector, the probe begins as soon as there is one.
        if self.link.probe.stage != Stage::Idle || !self.link.can_ask() {
            return;
        }
        self.link.probe.stage = Stage::Queued;
        if self.account.want_question(step.moment()) {
            self.ask(step);
        }
    }

    /// It is the channel's turn to ask among the channels of its account.
    pub(super) fn may_ask(&mut self, step: &mut Step<'_>) {
        match self.link.probe.stage {
            Stage::Idle => self.account.end_question(step.moment()),
            Stage::Queued => self.ask(step),
            Stage::Asked => {}
        }
    }

    fn ask(&mut self, step: &mut Step<'_>) {
        let probe = &mut self.link.probe;
        probe.stage = Stage::Asked;
        probe.is_for_news = std::mem::take(&mut probe.has_news);
        probe.begun = Some(step.now());
        let turn = self.common.questions.turn(step.now());
        step.push(Effect::Probe { generation: self.link.generation(), turn });
    }

    /// A probe ended, with or without an answer.
    pub(super) fn probed(&mut self, generation: u64, health: Health, step: &mut Step<'_>) {
        if generation != self.link.generation() {
            return;
        }
        self.link.probe.stage = Stage::Idle;
        self.account.end_question(step.moment());
        self.diagnose(health, self.link.probe.is_for_news, step);
        if self.link.probe.has_news {
            self.probe_for_news(step);
        } else {
            self.probe_later(step);
        }
        self.pump(step);
    }

    fn diagnose(&mut self, health: Health, is_news: bool, step: &mut Step<'_>) {
        match health {
            Health::Healthy(number) => {
                self.link.refusals = 0;
                self.link.probe.unanswered = 0;
                self.link.is_described = true;
                // The level comes first: from the next line on messages may go.
                self.learn_level(number.level, step);
                self.recover(is_news, step);
                // Written for the next process, and for people to see.
                step.push(Effect::SaveNumber(number));
            }
            Health::Refused(
                disposition @ (Disposition::Disconnect | Disposition::Block | Disposition::Restrict),
                failure,
            ) => {
                self.learn_level(None, step);
                self.link.refusals = self.link.refusals.saturating_add(1);
                self.shut(disposition, &failure, step);
            }
            Health::Refused(_, failure) | Health::Unknown(failure) => {
                self.learn_level(None, step);
                self.link.probe.unanswered = self.link.probe.unanswered.saturating_add(1);
                tracing::debug!(channel.id = %self.channel.id, channel.name = %self.channel.name, reason = failure.sentence, "the probe of the number got no answer");
            }
        }
    }

    fn learn_level(&mut self, level: Option<Level>, step: &mut Step<'_>) {
        self.link.learn_level(level);
        self.retune(step);
    }
}
