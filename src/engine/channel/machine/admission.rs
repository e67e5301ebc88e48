//! Messages of a web session that somebody waits for: whether they may come in, and what their senders are told.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::dispatch::Later;
use super::rhythm::{Asker, Rhythm, TooSoon};
use super::work::Leave;
use super::{ChannelActor, STORE_PAUSE};
use crate::clock::Timestamp;
use crate::domain::channel::Kind;
use crate::domain::limit::Spent;
use crate::domain::message::{Failure, State};
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;
use crate::domain::send;
use crate::domain::tier::QUOTA_SPAN;
use crate::engine::web_session::{self, Admitted, Errand, HandOver};
use crate::store;

/// May a message come in that somebody waits for? Dropping the answer says that the channel ended just now.
#[derive(Message)]
#[rtype(result = "Result<Admitted, TooSoon>")]
pub(crate) struct Admit {
    /// The recipient, if it never wrote to the session and was never written to.
    pub(crate) stranger: Option<PhoneNumber>,
    /// How long the caller may wait.
    pub(crate) patience: Duration,
    /// The recipient of a message that is only tried: what it would meet after it was written counts too.
    pub(crate) tried: Option<PhoneNumber>,
}

/// Why a message to somebody who just got another one does not go.
pub(crate) const PAIR_SENTENCE: &str = "the recipient got another message too short a time ago (option pair_interval \
                                        of the channel's tier): try again later";

/// An answer that waits until it is known what the session did lately.
pub(super) type Asked = (Admit, oneshot::Sender<Result<Admitted, TooSoon>>);

impl Handler<Admit> for ChannelActor {
    type Result = ResponseFuture<Result<Admitted, TooSoon>>;

    fn handle(&mut self, admit: Admit, _: &mut Self::Context) -> Self::Result {
        let (answer, answered) = oneshot::channel();
        if self.rhythm.is_some() {
            let _ = answer.send(self.admit(&admit));
        } else {
            self.asked.push((admit, answer));
        }
        Box::pin(async move {
            let ended = || TooSoon {
                retry_after: Duration::from_secs(1),
                sentence: "the channel was started anew just now: try again".to_owned(),
                spent: Spent::pause(Duration::from_secs(1)),
            };
            answered.await.unwrap_or_else(|_| Err(ended()))
        })
    }
}

impl ChannelActor {
    /// Lets a message in, or says when it may come again.
    fn admit(&mut self, &Admit { stranger, patience, tried }: &Admit) -> Result<Admitted, TooSoon> {
        let (now, wall) = (Instant::now(), Timestamp::now());
        if let Some((reason, until)) = self.pause.filter(|(_, until)| *until > now + patience) {
            let sentence = self.sentence(reason);
            return Err(TooSoon { retry_after: until - now, sentence, spent: Spent::pause(until - now) });
        }
        let Some(rhythm) = &mut self.rhythm else {
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
        let wait = tried.map_or(Duration::ZERO, |recipient| self.pairs.wait(recipient, now));
        if wait > patience {
            let sentence = PAIR_SENTENCE.to_owned();
            return Err(TooSoon { retry_after: wait, sentence, spent: Spent::pause(wait) });
        }
        admitted.wait = admitted.wait.max(wait);
        Ok(admitted)
    }

    /// Reads what the session did lately, before the first message goes.
    pub(super) fn learn_rhythm(&mut self, ctx: &mut Context<Self>) {
        if self.rhythm.is_some() || self.learning || self.channel.kind != Kind::WebSession {
            return;
        }
        self.learning = true;
        let (store, id) = (self.shared.reader.store(), self.channel.id);
        let since = Timestamp::now().minus(QUOTA_SPAN);
        let reading = self.shared.reader.read(async move {
            let attempts = store.web_attempts_since(id, since).await?;
            Ok::<_, store::Error>((attempts, store.first_sent_since(id, since).await?))
        });
        reading
            .into_actor(self)
            .map(|result, actor, ctx| {
                match result {
                    Ok((attempts, strangers)) => {
                        actor.learning = false;
                        let linked_at = actor.channel.linked_at;
                        let rhythm =
                            Rhythm::new(linked_at, attempts, strangers, &actor.tier, Instant::now());
                        actor.rhythm = Some(rhythm);
                        for (admit, answer) in std::mem::take(&mut actor.asked) {
                            // Who asked may have gone.
                            let _ = answer.send(actor.admit(&admit));
                        }
                        actor.pump(ctx);
                    }
                    Err(error) => {
                        tracing::error!(channel.id = %actor.channel.id, %error, "reading what a web session did lately failed");
                        // Until then, so that a channel that is connected again adds no second timer.
                        ctx.run_later(STORE_PAUSE, |actor, ctx| {
                            actor.learning = false;
                            actor.learn_rhythm(ctx);
                        });
                    }
                }
            })
            .spawn(ctx);
    }

    /// The errand of a send whose caller waits.
    pub(super) fn errand(&self, send_id: Uuid) -> Option<Arc<Errand>> {
        // Only web sessions have some, and the others have many messages.
        if self.channel.kind == Kind::WebSession { self.shared.errands.find(send_id) } else { None }
    }

    /// A message is over, or its send is: its caller is told, unless it was handed over before.
    pub(super) fn end_errand(&self, send_id: Uuid, state: State, failure: Option<&Failure>) {
        if state.is_open() && state != State::Unknown {
            return;
        }
        let Some(errand) = self.errand(send_id) else { return };
        match (state, failure) {
            (State::Failed, Some(failure)) => errand.tell(HandOver::Failed(failure.clone())),
            (State::Expired, _) => errand.expire(|| self.why_nothing_goes()),
            (State::Canceled, _) => errand.cancel(),
            (State::Sent | State::Delivered | State::Read, _) => errand.has_arrived(),
            _ => errand.tell(HandOver::Unknown),
        }
    }

    /// The engine stops: messages whose callers wait and that are not under way are not begun later either, because
    /// the callers are told now.
    pub(super) fn end_errands(&mut self) {
        if self.channel.kind != Kind::WebSession {
            return;
        }
        let moment = (Instant::now(), Timestamp::now());
        let over = Leave::Over(send::State::Expired);
        let errands = self.shared.errands.of(self.channel.id).into_iter();
        let given_up: HashSet<_> =
            errands.filter(|(_, errand)| errand.give_up()).map(|(send_id, _)| send_id).collect();
        for ticket in self.lanes.leave(over, moment, |work| given_up.contains(&work.id)) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn));
        }
    }

    /// Whether this message of a web session, which was certainly not handed over, has lost its caller: then it is not
    /// begun, because its caller read an error, or nothing.
    pub(super) fn is_abandoned(&self, send_id: Uuid) -> bool {
        self.channel.kind == Kind::WebSession && self.errand(send_id).is_none()
    }

    fn why_nothing_goes(&self) -> Reason {
        if self.link.connector().is_none() {
            return self.link.refusal();
        }
        self.held.as_ref().map_or(Reason::Turn, |held| held.reason)
    }
}
