//! Messages of a web session that a caller waits for: whether they may come in, and what their senders are told.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::dispatch::Later;
use super::effect::{Answer, Effect};
use super::input::{Admit, Failed, WebActivity};
use super::moment::Step;
use super::retries::Retry;
use super::rhythm::{Asker, Rhythm, TooSoon};
use super::work::Leave;
use super::{Machine, STORE_PAUSE};
use crate::clock::Timestamp;
use crate::domain::channel::Kind;
use crate::domain::limit::Spent;
use crate::domain::message::{Failure, State};
use crate::domain::outlook::Reason;
use crate::domain::send;
use crate::domain::tier::QUOTA_SPAN;
use crate::engine::machine::Caller;
use crate::engine::planted::{Fault, is_planted};
use crate::engine::web_session::{self, Admitted, Errand, HandOver};

/// Why a message to a person who just got another one does not go.
pub(crate) const PAIR_SENTENCE: &str = "the recipient got another message too short a time ago (option pair_interval \
                                        of the channel's tier): try again later";

/// Who may come in to a web session.
#[derive(Default)]
pub(super) struct Admission {
    /// Once it is known what the session did lately.
    pub(super) rhythm: Option<Rhythm>,
    /// That is being read.
    is_learning: bool,
    /// Messages that ask to be let in before that is known.
    asked: Vec<(Admit, Caller)>,
}

impl Admission {
    /// When a phone was linked, as is known now.
    pub(super) fn linked(&mut self, at: Option<Timestamp>) {
        if let Some(rhythm) = &mut self.rhythm {
            rhythm.linked(at);
        }
    }

    /// What the session did lately may be read again.
    pub(super) const fn may_learn(&mut self) {
        self.is_learning = false;
    }
}

impl Machine {
    /// A caller asks whether a message may come in. The answer waits until it is known what the session did lately.
    pub(super) fn asked_in(&mut self, admit: Admit, caller: Caller, step: &mut Step<'_>) {
        if self.admission.rhythm.is_none() {
            self.admission.asked.push((admit, caller));
            return;
        }
        let answer = Answer::Admission(self.admit(admit, step));
        step.push(Effect::Reply(caller, answer));
    }

    /// Lets a message in, or says when it may be retried.
    fn admit(&mut self, admit: Admit, step: &Step<'_>) -> Result<Admitted, TooSoon> {
        let Admit { stranger, patience, tried } = admit;
        let (now, wall) = (step.now(), step.wall());
        if let Some((reason, until)) = self.pause.holds(now + patience) {
            let sentence = self.sentence(reason, now);
            return Err(TooSoon { retry_after: until - now, sentence, spent: Spent::pause(until - now) });
        }
        let Some(rhythm) = &mut self.admission.rhythm else {
            return Err(TooSoon {
                retry_after: STORE_PAUSE,
                sentence: "the channel is just starting".to_owned(),
                spent: Spent::pause(STORE_PAUSE),
            });
        };
        // What its keeper heard before, perhaps in another process.
        if let Some(until) = web_session::restricted_until(self.link.connection()) {
            rhythm.restrict(until);
        }
        let mut admitted = rhythm.admit(Asker { stranger, patience }, &self.tier, now, wall)?;
        let wait = tried.map_or(Duration::ZERO, |recipient| self.pairs.wait(recipient, false, now));
        if wait > patience {
            let sentence = PAIR_SENTENCE.to_owned();
            return Err(TooSoon { retry_after: wait, sentence, spent: Spent::pause(wait) });
        }
        admitted.wait = admitted.wait.max(wait);
        Ok(admitted)
    }

    /// Reads what the session did lately, before the first message goes.
    pub(super) fn learn_rhythm(&mut self, step: &mut Step<'_>) {
        let Admission { rhythm, is_learning, .. } = &mut self.admission;
        if rhythm.is_some() || *is_learning || self.channel.kind != Kind::WebSession {
            return;
        }
        *is_learning = true;
        step.push(Effect::ReadWebActivity { since: step.wall().minus(QUOTA_SPAN) });
    }

    /// It is known what the session did lately.
    pub(super) fn rhythm_learned(&mut self, result: Result<WebActivity, Failed>, step: &mut Step<'_>) {
        let Ok(WebActivity { mut attempts, strangers }) = result else {
            // Until then, so that a channel that is connected again does not ask a second time.
            self.retries.add(Retry::WebActivity, step.now());
            return;
        };
        if is_planted(Fault::DailyCapNotRestored) {
            attempts.clear();
        }
        self.admission.is_learning = false;
        let linked_at = self.channel.linked_at;
        self.admission.rhythm = Some(Rhythm::new(linked_at, attempts, strangers, &self.tier, step.now()));
        for (admit, caller) in mem::take(&mut self.admission.asked) {
            let answer = Answer::Admission(self.admit(admit, step));
            step.push(Effect::Reply(caller, answer));
        }
        self.pump(step);
    }

    /// The errand of a send whose caller waits.
    pub(super) fn errand(&self, send_id: Uuid) -> Option<Arc<Errand>> {
        // Only web sessions have some, and the others have many messages.
        if self.channel.kind == Kind::WebSession { self.common.errands.find(send_id) } else { None }
    }

    /// A message is over, or its send is: its caller is told, unless it was handed over before.
    pub(super) fn end_errand(&self, send_id: Uuid, state: State, failure: Option<&Failure>, wall: Timestamp) {
        if state.is_open() && state != State::Unknown {
            return;
        }
        let Some(errand) = self.errand(send_id) else { return };
        match (state, failure) {
            (State::Failed, Some(failure)) => errand.tell(HandOver::Failed(failure.clone()), wall),
            (State::Expired, _) => errand.expire(|| self.why_nothing_goes(), wall),
            (State::Canceled, _) => errand.cancel(wall),
            (State::Sent | State::Delivered | State::Read, _) => errand.has_arrived(wall),
            _ => errand.tell(HandOver::Unknown, wall),
        }
    }

    /// The engine stops: messages whose callers wait and that are not under way are not begun later either, because
    /// the callers are told now.
    pub(super) fn end_errands(&mut self, step: &mut Step<'_>) {
        if self.channel.kind != Kind::WebSession {
            return;
        }
        let over = Leave::Over(send::State::Expired);
        let errands = self.common.errands.of(self.channel.id).into_iter();
        let given_up: HashSet<_> =
            errands.filter(|(_, errand)| errand.give_up(step.wall())).map(|(send_id, _)| send_id).collect();
        for ticket in self.lanes.leave(over, step.clocks(), |work| given_up.contains(&work.id)) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn), step);
        }
    }

    /// Nothing can be written any more. Callers of messages that are not under way are told that the outcome is unknown: a
    /// mark may be durable, and the next process then takes its message to be in doubt and may attempt it.
    pub(super) fn lose_errands(&self, step: &Step<'_>) {
        for (_, errand) in self.common.errands.of(self.channel.id) {
            errand.lose(step.wall());
        }
    }

    /// Whether this message of a web session, which was certainly not handed over, has lost its caller: then it is not
    /// begun, because its caller read an error, or nothing.
    pub(super) fn is_abandoned(&self, send_id: Uuid) -> bool {
        self.channel.kind == Kind::WebSession && self.errand(send_id).is_none()
    }

    fn why_nothing_goes(&self) -> Reason {
        if !self.link.can_send() {
            return self.link.refusal();
        }
        self.held.as_ref().map_or(Reason::Turn, |held| held.reason)
    }
}
