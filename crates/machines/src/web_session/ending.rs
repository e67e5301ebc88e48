//! The end of a session: its remaining events, and what its end means.

use std::mem;
use std::time::Duration;

use super::effect::{Answer, Effect, Effects};
use super::end_policy::{self, Then, Verdict};
use super::{Machine, Phase};
use crate::planted::{Fault, is_planted};
use crate::{Caller, Moment};
use domain::channel::{Connection, Status};
use domain::web_session::End;

/// How long reading the remaining events of a stopped session may take; they are ready.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(5);

/// What comes after a session that was told to end.
pub(super) enum After {
    /// The session ended like this.
    Ended(End),
    /// The pairing ended like this, unless the phone accepts at this very moment.
    Pairing(End),
    /// The session showed a code that nobody requested.
    UnexpectedCode,
    /// The phone was unlinked, or the pairing given up.
    Unlinked(Option<Caller>),
    /// The engine stops.
    Left,
}

impl Machine {
    /// Tells the session to end.
    pub(super) fn stop(&mut self, after: After, effects: &mut Effects) {
        let unlinks = matches!(after, After::Unlinked(_)) && self.is_linked;
        self.phase = Phase::Ending { after, until: None };
        effects.push(Effect::Stop { unlinks });
    }

    /// From now on the session's remaining events are read: WhatsApp sends them once.
    pub(super) fn stopped(&mut self, at: Moment) {
        if let Phase::Ending { until, .. } = &mut self.phase {
            *until = Some(at.monotonic + LAST_WORDS);
        }
    }

    /// A session that was told to end has ended.
    pub(super) fn over(&mut self, at: Moment, effects: &mut Effects) {
        match mem::replace(&mut self.phase, Phase::Over) {
            Phase::Ending { after: After::Ended(end), .. } => self.ended(&end, at, effects),
            // The phone accepted at this very moment.
            Phase::Ending { after: After::Pairing(_), .. } if self.is_linked => {
                self.forget(Then::OpenAfter(Duration::ZERO), at, effects);
            }
            Phase::Ending { after: After::Pairing(end), .. } => self.ended(&end, at, effects),
            Phase::Ending { after: After::UnexpectedCode, .. } => self.unexpected_code(at, effects),
            Phase::Ending { after: After::Unlinked(done), .. } => self.unlinked(done, at, effects),
            Phase::Ending { after: After::Left, .. } if !self.is_linked => self.unlinked(None, at, effects),
            Phase::Ending { after: After::Left, .. } if self.write_again_at.is_some() => {
                self.phase = Phase::Leaving;
                self.write(effects);
                if self.writing.is_none() {
                    self.forget(Then::Close, at, effects);
                }
            }
            Phase::Ending { after: After::Left, .. } => self.forget(Then::Close, at, effects),
            other => self.phase = other,
        }
    }

    /// Carries out what the end of a session means.
    pub(super) fn ended(&mut self, end: &End, at: Moment, effects: &mut Effects) {
        let Verdict { status, reason, then } = end_policy::after(end, self.is_linked, self.failures, at.wall);
        let code = reason.as_ref().map(|reason| reason.code.as_str()).unwrap_or_default();
        tracing::warn!(channel.id = %self.channel, channel.name = %self.name, code, "the web session ended");
        self.failures = self.failures.saturating_add(1);
        let to = Connection { status, reason, since: at.wall };
        if end.voids_records() || !self.is_linked {
            return self.wipe(to, None, effects);
        }
        self.settle(to, then, effects);
    }

    /// Writes the channel's state before anything else is done, and retries until that succeeds.
    fn settle(&mut self, to: Connection, then: Then, effects: &mut Effects) {
        self.next_connection = Some(to);
        self.phase = Phase::Settling { then };
        self.write(effects);
    }

    /// Handles a code of a session that nobody is pairing. If no phone was ever linked, the process ended in the middle
    /// of a pairing, and the records are worthless. If one was, the records no longer hold its device: they stay,
    /// because a person may restore them, and the phone may still list the device.
    fn unexpected_code(&mut self, at: Moment, effects: &mut Effects) {
        if self.linked_at.is_none() {
            return self.unlinked(None, at, effects);
        }
        tracing::error!(channel.id = %self.channel, channel.name = %self.name, "the web session's keys name no phone any more");
        let reason = Some(end_policy::link_lost());
        let to = Connection { status: Status::Disconnected, reason, since: at.wall };
        self.settle(to, Then::Close, effects);
    }

    /// The phone was unlinked on purpose.
    pub(super) fn unlinked(&mut self, done: Option<Caller>, at: Moment, effects: &mut Effects) {
        if is_planted(Fault::SendsAfterUnlink) && self.is_linked {
            if let Some(caller) = done {
                effects.push(Effect::Reply(caller, Answer::Done));
            }
            return self.forget(Then::OpenAfter(Duration::ZERO), at, effects);
        }
        let to = Connection { status: Status::Pairing, reason: None, since: at.wall };
        self.wipe(to, done, effects);
    }

    /// Drops the session, and begins what comes next.
    pub(super) fn forget(&mut self, then: Then, at: Moment, effects: &mut Effects) {
        effects.push(Effect::Forget);
        self.wait(then, at, effects);
    }
}
