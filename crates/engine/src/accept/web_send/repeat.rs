//! Repeated requests under a client's key: the first message's row in the ledger, and the answer stored before its
//! hand-over, decide.

use crate::Error;
use crate::accept::idempotency::Turn;
use crate::accept::web_send::WebSends;
use domain::channel::Kind;
use domain::error::{Code, Refusal};
use domain::message::State;
use domain::tier::UnknownOutcome;
use store::sends::idempotency::KeptAnswer;
use store::web_sessions::sends::FirstTry;

/// How a repeated request goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// Gives the first answer.
    Answer,
    /// Nothing was sent, or the outcome is unknown and may be repeated: the request is carried out.
    CarryOut,
    /// The first message may go again by itself.
    Wait,
    /// The message was sent, and has no stored answer: only an earlier version of Pombo leaves that.
    Lost,
}

impl WebSends<'_> {
    /// Decides on a request whose key was accepted before; `None` when it has to be carried out again.
    pub(crate) async fn repeated(&self, kept: KeptAnswer) -> Result<Option<Turn>, Error> {
        let channel = self.engine.channel(kept.channel_id).await?;
        let Some(channel) = channel.filter(|channel| channel.kind == Kind::WebSession) else {
            return Ok(Some(Turn::Repeated(kept.into())));
        };
        let Some(first) = self.engine.store().web_sessions().first_try(kept.send_id).await? else {
            return Ok(None);
        };
        if first.keeps_turn {
            return Ok(Some(Turn::Repeated(kept.into())));
        }
        let policy = self.engine.0.shared.tiers.of(&channel).unknown_outcome;
        match (decide(first, kept.result.is_some(), policy), kept.result) {
            (Repeat::Answer, Some(answer)) => Ok(Some(Turn::Told(answer))),
            (Repeat::CarryOut, _) => Ok(None),
            (Repeat::Wait, _) => {
                let sentence = "it is still unknown whether the first request under this Idempotency-Key was carried \
                                out: repeat it in some seconds";
                Err(Refusal::new(Code::IdempotencyInProgress, sentence).into())
            }
            (Repeat::Answer | Repeat::Lost, _) => {
                Ok(Some(Turn::Repeated(KeptAnswer { result: None, ..kept }.into())))
            }
        }
    }
}

fn decide(first: FirstTry, has_answer: bool, policy: UnknownOutcome) -> Repeat {
    let FirstTry { is_over, was_attempted, state, keeps_turn: _ } = first;
    match state {
        Some(State::Sent | State::Delivered | State::Read) if has_answer => Repeat::Answer,
        Some(State::Sent | State::Delivered | State::Read) => Repeat::Lost,
        // Without a stored answer, nothing was handed over.
        _ if !has_answer => Repeat::CarryOut,
        // WhatsApp refused the message after the first request was answered.
        Some(State::Failed) => Repeat::Answer,
        // A waiting message is not attempted without its caller, which has gone.
        Some(State::Queued | State::Canceled | State::Expired | State::Suppressed) => Repeat::CarryOut,
        None if !was_attempted => Repeat::CarryOut,
        Some(State::Sending | State::Unknown) | None => match policy {
            UnknownOutcome::Hold => Repeat::Answer,
            UnknownOutcome::Resend if is_over => Repeat::CarryOut,
            UnknownOutcome::Resend => Repeat::Wait,
        },
    }
}

#[cfg(test)]
mod tests {
    use UnknownOutcome::{Hold, Resend};

    use super::*;

    #[test]
    fn a_repeated_request_is_answered_or_carried_out_as_the_ledger_says() {
        use State::{Canceled, Delivered, Expired, Failed, Queued, Read, Sending, Sent, Unknown};
        // The decision for a send that is over or not, with or without a kept answer.
        let of = |state, is_over, has_answer, policy| {
            let first = FirstTry { is_over, was_attempted: true, state, keeps_turn: false };
            decide(first, has_answer, policy)
        };
        for policy in [Hold, Resend] {
            for is_over in [false, true] {
                for state in [Sent, Delivered, Read] {
                    assert_eq!(of(Some(state), is_over, true, policy), Repeat::Answer, "{state:?}");
                    assert_eq!(of(Some(state), is_over, false, policy), Repeat::Lost, "{state:?}");
                }
                for state in [Canceled, Expired, Queued] {
                    assert_eq!(of(Some(state), is_over, true, policy), Repeat::CarryOut, "{state:?}");
                }
                for state in [Some(Failed), Some(Unknown), Some(Sending), Some(Queued), None] {
                    assert_eq!(of(state, is_over, false, policy), Repeat::CarryOut, "{state:?}");
                }
                assert_eq!(of(Some(Failed), is_over, true, policy), Repeat::Answer);
            }
        }
    }

    #[test]
    fn an_unknown_outcome_is_sent_again_only_if_the_tier_says_so() {
        for state in [Some(State::Unknown), Some(State::Sending), None] {
            let first = |is_over| FirstTry { is_over, was_attempted: true, state, keeps_turn: false };
            assert_eq!(decide(first(false), true, Hold), Repeat::Answer);
            assert_eq!(decide(first(true), true, Hold), Repeat::Answer);
            assert_eq!(decide(first(false), true, Resend), Repeat::Wait);
            assert_eq!(decide(first(true), true, Resend), Repeat::CarryOut);
        }
        let never = FirstTry { is_over: true, was_attempted: false, state: None, keeps_turn: false };
        assert_eq!(decide(never, true, Hold), Repeat::CarryOut);
    }
}
