//! The passkey gate: WhatsApp asks for a passkey of the account, then the person compares a code.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::super::pairing::{Pairing, Passkey, Stage};
use super::super::passkey::{NotExpected, PasskeyAnswer};
use super::{Keeper, Next, Then};
use crate::clock::Timestamp;
use crate::connector::web_session::{Challenge, End, Event, PasskeyRefused, Session};
use crate::domain::secret::Secret;

/// What the session says to an answer.
type Outcome = Result<(), PasskeyRefused>;

/// An answer on its way to the session.
pub(super) type Answering = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The gate as the supervisor follows it.
#[derive(Default)]
pub(super) struct Gate {
    /// When WhatsApp gives up waiting.
    until: Option<Instant>,
    /// An answer that the session has not been given yet.
    wanted: Option<PasskeyAnswer>,
    /// The present step was answered.
    is_answered: bool,
}

/// What happened at the gate.
pub(super) enum Passed {
    Answered(Outcome),
    TimedOut,
}

impl Gate {
    /// Hands to the session what waits for it.
    pub(super) fn begin(&mut self, session: &Arc<dyn Session>) -> Option<Answering> {
        let answer = self.wanted.take()?;
        let session = Arc::clone(session);
        Some(Box::pin(async move {
            match answer {
                PasskeyAnswer::Assertion(assertion) => session.answer_passkey(assertion).await,
                PasskeyAnswer::Confirmation => session.confirm_passkey().await,
            }
        }))
    }

    /// Waits until something happens; for ever where there is no gate.
    pub(super) async fn passed(&self, answering: &mut Option<Answering>) -> Passed {
        let outcome = async {
            match answering.as_mut() {
                Some(answering) => answering.await,
                None => pending().await,
            }
        };
        tokio::select! {
            outcome = outcome => {
                *answering = None;
                Passed::Answered(outcome)
            }
            () = super::moment(self.until) => Passed::TimedOut,
        }
    }
}

impl Keeper {
    pub(super) fn is_at_passkey(&self) -> bool {
        self.pairing.borrow().stage.is_at_passkey()
    }

    /// WhatsApp asks for a passkey of the account.
    pub(super) fn passkey_required(&mut self, challenge: Challenge, valid_for: Duration) {
        tracing::info!(channel.id = %self.channel, "WhatsApp asks for a passkey of the account");
        self.gate = Gate { until: Some(Instant::now() + valid_for), ..Gate::default() };
        self.code_for = None;
        let expires_at = Timestamp::now().plus(valid_for);
        let passkey = Passkey { challenge, code: None, expires_at, waits_for_phone: false };
        let stage = Stage::PasskeyRequired;
        self.pairing.send_replace(Pairing { stage, passkey: Some(passkey), ..Pairing::default() });
    }

    /// The passkey was accepted, and the phone shows this code.
    pub(super) fn passkey_code(&mut self, code: Secret, is_proven: bool) {
        if !self.is_at_passkey() {
            return;
        }
        self.gate.is_answered = is_proven;
        self.gate.wanted = is_proven.then_some(PasskeyAnswer::Confirmation);
        self.show(|pairing| {
            pairing.stage = Stage::PasskeyConfirm;
            if let Some(passkey) = &mut pairing.passkey {
                passkey.code = Some(code);
                passkey.waits_for_phone = false;
            }
        });
    }

    /// The connection on which WhatsApp waited is gone, and its question with it.
    pub(super) fn gate_lost(&mut self) {
        if self.is_at_passkey() {
            self.gate = Gate::default();
            self.pairing.send_replace(Pairing { stage: Stage::Starting, ..Pairing::default() });
        }
    }

    /// Takes an answer for the present step, which the session is given next.
    pub(super) fn take_passkey(&mut self, answer: PasskeyAnswer) -> Result<(), NotExpected> {
        {
            let pairing = self.pairing.borrow();
            match (&answer, pairing.stage, &pairing.passkey) {
                _ if self.gate.is_answered && pairing.stage.is_at_passkey() => {
                    return Err(NotExpected::Answered);
                }
                (PasskeyAnswer::Assertion(assertion), Stage::PasskeyRequired, Some(passkey)) => {
                    if !assertion.answers(&passkey.challenge) {
                        return Err(NotExpected::OtherChallenge);
                    }
                }
                (PasskeyAnswer::Confirmation, Stage::PasskeyConfirm, Some(_)) => {}
                (_, stage, _) => return Err(NotExpected::Stage(stage)),
            }
        }
        self.gate.is_answered = true;
        self.gate.wanted = Some(answer);
        Ok(())
    }

    /// Goes on after something happened at the gate; what comes after the session, if it is over.
    pub(super) async fn passed(
        &mut self,
        passed: Passed,
        session: &Arc<dyn Session>,
        events: &mut mpsc::Receiver<Event>,
    ) -> Option<Next> {
        let end = match passed {
            Passed::Answered(Ok(())) => {
                let is_answered = self.gate.is_answered;
                self.show(|pairing| {
                    if let Some(passkey) = &mut pairing.passkey {
                        passkey.waits_for_phone = is_answered;
                    }
                });
                return None;
            }
            // What WhatsApp asked for is not asked for any more.
            _ if !self.is_at_passkey() => {
                self.gate = Gate::default();
                return None;
            }
            Passed::Answered(Err(PasskeyRefused(sentence))) => End::PasskeyRefused { sentence },
            Passed::TimedOut => End::PasskeyTimedOut,
        };
        session.stop().await;
        self.hear_the_last(events).await;
        if self.is_linked {
            // The phone accepted in this very moment.
            return Some(Next::Again(Then::OpenAfter(Duration::ZERO)));
        }
        Some(self.ended(&end).await)
    }
}
