//! Admission: whether a message of a web session whose caller waits may be accepted, and what its caller is told.

use std::collections::{BTreeMap, HashSet};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::dispatch::Later;
use super::effect::{Answer, Effect};
use super::input::{Admit, AdmitLookup, Failed, WebActivity};
use super::lookup_pacing::{Lookup, LookupPacing};
use super::moment::Step;
use super::retries::Retry;
use super::web_pacing::{Asker, TooSoon, WebPacing};
use super::work::Leave;
use super::{Machine, STORE_PAUSE};
use crate::handover::{Admitted, HandOver, PendingReply};
use crate::machine::Caller;
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::channel::Kind;
use domain::limit::Spent;
use domain::message::{Failure, State};
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use domain::send;
use domain::tier::QUOTA_SPAN;

/// The answer to a message whose recipient got another one too recently.
pub(crate) const PAIR_SENTENCE: &str = "the recipient got another message too recently (option pair_interval \
                                        of the channel's tier): try again later";

/// Admission of messages to a web session.
#[derive(Default)]
pub(super) struct Admission {
    /// `None` until the session's recent activity is read.
    pub(super) web_pacing: Option<WebPacing>,
    /// `None` as long.
    lookups: Option<LookupPacing>,
    /// A read of the recent activity is in progress.
    is_learning: bool,
    /// What waits for that read.
    waiting: Vec<Unadmitted>,
}

/// What waits until the recent activity is read.
enum Unadmitted {
    /// A request for admission.
    Request(AdmissionRequest, Caller),
    /// A message that keeps its turn was found in the store.
    Kept(Uuid),
    /// A message is over.
    Over(Uuid),
}

/// A request for admission.
pub(super) enum AdmissionRequest {
    /// Of a message.
    Message(Admit),
    /// Of a lookup.
    Lookup(AdmitLookup),
}

impl Admission {
    /// Takes over when the phone was linked.
    pub(super) fn linked(&mut self, at: Option<Timestamp>) {
        if let Some(web_pacing) = &mut self.web_pacing {
            web_pacing.linked(at);
        }
    }

    /// The recent activity may be read again.
    pub(super) const fn may_learn(&mut self) {
        self.is_learning = false;
    }
}

impl Machine {
    /// A caller asks for admission. The answer waits until the session's recent activity is read.
    pub(super) fn asked_in(&mut self, asked: AdmissionRequest, caller: Caller, step: &mut Step<'_>) {
        if self.admission.web_pacing.is_none() {
            self.admission.waiting.push(Unadmitted::Request(asked, caller));
            return;
        }
        let answer = match asked {
            AdmissionRequest::Message(admit) => Answer::Admission(self.admit(admit, step)),
            AdmissionRequest::Lookup(lookup) => Answer::Lookup(admit_lookup(self, lookup, step)),
        };
        step.push(Effect::Reply(caller, answer));
    }

    /// Admits a message, or says when to retry.
    fn admit(&mut self, admit: Admit, step: &Step<'_>) -> Result<Admitted, TooSoon> {
        let Admit { stranger, patience, tried } = admit;
        let (now, wall) = (step.now(), step.wall());
        check_pause(self, patience, now)?;
        let Some(web_pacing) = &mut self.admission.web_pacing else { return Err(is_starting()) };
        // A restriction that the supervisor heard of earlier, perhaps in another process.
        if let Some(until) = machines::web_session::restricted_until(self.link.connection()) {
            web_pacing.restrict(until);
        }
        let mut admitted = web_pacing.admit(Asker { stranger, patience }, &self.tier, now, wall)?;
        let wait =
            tried.map_or(Duration::ZERO, |recipient| self.recipient_pacing.wait(recipient, false, now));
        if wait > patience {
            let sentence = PAIR_SENTENCE.to_owned();
            return Err(TooSoon { retry_after: wait, sentence, spent: Spent::pause(wait) });
        }
        admitted.wait = admitted.wait.max(wait);
        Ok(admitted)
    }

    /// Reads the session's recent activity before the first message goes.
    pub(super) fn learn_web_pacing(&mut self, step: &mut Step<'_>) {
        let Admission { web_pacing, is_learning, .. } = &mut self.admission;
        if web_pacing.is_some() || *is_learning || self.channel.kind != Kind::WebSession {
            return;
        }
        *is_learning = true;
        step.push(Effect::ReadWebActivity { since: step.wall().minus(QUOTA_SPAN) });
    }

    /// The session's recent activity is read.
    pub(super) fn web_pacing_learned(&mut self, result: Result<WebActivity, Failed>, step: &mut Step<'_>) {
        let Ok(WebActivity { mut attempts, strangers, asked, kept }) = result else {
            // Reading stays marked as in progress until the retry, so that a channel that reconnects does not read a
            // second time.
            self.retries.add(Retry::WebActivity, step.now());
            return;
        };
        if is_planted(Fault::DailyCapNotRestored) {
            attempts.clear();
        }
        self.admission.is_learning = false;
        let linked_at = self.channel.linked_at;
        self.admission.web_pacing =
            Some(WebPacing::new(linked_at, attempts, strangers, &self.tier, step.now()));
        self.admission.lookups = Some(LookupPacing::new(asked));
        let mut kept: BTreeMap<_, _> = kept.into_iter().collect();
        let mut requests = Vec::new();
        for waiting in mem::take(&mut self.admission.waiting) {
            match waiting {
                Unadmitted::Request(asked, caller) => requests.push((asked, caller)),
                Unadmitted::Kept(send_id) => {
                    kept.entry(send_id).or_default();
                }
                Unadmitted::Over(send_id) => {
                    kept.remove(&send_id);
                }
            }
        }
        // What was admitted before counts for what is admitted now.
        for (send_id, stranger) in kept {
            keep_turn(self, send_id, stranger);
        }
        for (asked, caller) in requests {
            self.asked_in(asked, caller, step);
        }
        self.pump(step);
    }

    /// The pending reply of a send whose caller waits, or that keeps its turn.
    pub(super) fn pending_reply(&self, send_id: Uuid) -> Option<Arc<PendingReply>> {
        // Only web sessions have pending replies; other channels skip the look-up.
        if self.channel.kind == Kind::WebSession { self.common.pending_replies.find(send_id) } else { None }
    }

    /// A message or its send is over: tells its caller, unless the message was handed over before.
    pub(super) fn end_pending_reply(
        &self,
        send_id: Uuid,
        state: State,
        failure: Option<&Failure>,
        wall: Timestamp,
    ) {
        if state.is_open() && state != State::Unknown {
            return;
        }
        let Some(pending_reply) = self.pending_reply(send_id) else { return };
        match (state, failure) {
            (State::Failed, Some(failure)) => pending_reply.tell(HandOver::Failed(failure.clone()), wall),
            (State::Expired, _) => pending_reply.expire(|| self.why_nothing_goes(), wall),
            (State::Canceled | State::Suppressed, _) => pending_reply.cancel(wall),
            (State::Sent | State::Delivered | State::Read, _) => pending_reply.has_arrived(wall),
            _ => pending_reply.tell(HandOver::Unknown, wall),
        }
    }

    /// The engine stops: tells the callers of messages that are not under way, and puts those messages back so that
    /// they are not started later either. Messages that keep their turn go later, perhaps in another process.
    pub(super) fn end_pending_replies(&mut self, step: &mut Step<'_>) {
        if self.channel.kind != Kind::WebSession {
            return;
        }
        let over = Leave::Over(send::State::Expired);
        let pending_replies = self.common.pending_replies.of(self.channel.id).into_iter();
        let given_up: HashSet<_> = pending_replies
            .filter(|(_, pending_reply)| pending_reply.give_up(step.wall()) && !pending_reply.keeps_turn())
            .map(|(send_id, _)| send_id)
            .collect();
        for ticket in self.lanes.leave(over, step.clocks(), |work| given_up.contains(&work.id)) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn), step);
        }
    }

    /// Nothing can be written any more. Callers of messages that are not under way are told that the outcome is
    /// unknown: a mark may be durable, and the next process then treats the message as unknown and may attempt it.
    pub(super) fn lose_pending_replies(&self, step: &Step<'_>) {
        for (_, pending_reply) in self.common.pending_replies.of(self.channel.id) {
            pending_reply.lose(step.wall());
        }
    }

    /// Whether the caller of this message is gone, although the message was certainly not handed over. Such a message
    /// is not started: its caller got an error, or no answer.
    pub(super) fn is_abandoned(&self, send_id: Uuid) -> bool {
        self.channel.kind == Kind::WebSession && self.pending_reply(send_id).is_none()
    }

    fn why_nothing_goes(&self) -> Reason {
        if !self.link.can_send() {
            return self.link.refusal();
        }
        self.held.as_ref().map_or(Reason::Turn, |held| held.reason)
    }
}

/// A message from the store keeps its turn: it counts among those that wait, and its recipient among the strangers, as when
/// it was admitted.
pub(super) fn keep_turn(machine: &mut Machine, send_id: Uuid, stranger: Option<PhoneNumber>) {
    match &machine.admission.web_pacing {
        Some(web_pacing) => {
            machine.common.pending_replies.keep(machine.channel.id, send_id, web_pacing.keep(stranger));
        }
        None => machine.admission.waiting.push(Unadmitted::Kept(send_id)),
    }
}

/// A message is over. If the recent activity is being read, what was read may say that it waits.
pub(super) fn is_over(machine: &mut Machine, send_id: Uuid) {
    if machine.channel.kind == Kind::WebSession && machine.admission.web_pacing.is_none() {
        machine.admission.waiting.push(Unadmitted::Over(send_id));
    }
}

/// Admits a lookup, or says when to retry.
fn admit_lookup(machine: &mut Machine, lookup: AdmitLookup, step: &mut Step<'_>) -> Result<Lookup, TooSoon> {
    let (clocks, chance) = (step.clocks(), step.chance());
    check_pause(machine, lookup.patience, clocks.0)?;
    let restricted_until = machines::web_session::restricted_until(machine.link.connection());
    let Admission { web_pacing: Some(web_pacing), lookups: Some(lookups), .. } = &mut machine.admission
    else {
        return Err(is_starting());
    };
    restricted_until.into_iter().for_each(|until| web_pacing.restrict(until));
    web_pacing.restricts(lookup.is_stranger, clocks.1)?;
    let cap = web_pacing.cap(&machine.tier, clocks.1);
    lookups.admit(lookup, (&*machine.tier, cap), clocks, chance)
}

/// Refuses what would wait for the end of a pause for longer than this.
fn check_pause(machine: &Machine, patience: Duration, now: Instant) -> Result<(), TooSoon> {
    let Some((reason, until)) = machine.pause.holds(now + patience) else { return Ok(()) };
    let sentence = machine.sentence(reason, now);
    Err(TooSoon { retry_after: until - now, sentence, spent: Spent::pause(until - now) })
}

/// The refusal while the recent activity is not known.
fn is_starting() -> TooSoon {
    TooSoon {
        retry_after: STORE_PAUSE,
        sentence: "the channel is starting".to_owned(),
        spent: Spent::pause(STORE_PAUSE),
    }
}
