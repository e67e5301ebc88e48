//! Sends in doubt: their commit may or may not have happened.
//!
//! Their callers are answered once that is settled: a refused send is never accepted later, not even by a process that
//! takes over. Settling runs beside the commits, so that a database that hangs with one send holds up no other. It
//! needs no lease: the database says which sends it has, and permanently withdraws the others.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use uuid::Uuid;

use super::super::message::{AcceptedSend, Arrived, Error};
use super::backing_off;
use super::effect::{Answer, Effect, Effects, Figure};
use super::input::Failure;
use super::open::{Accepting, Activating};
use crate::machine::{Caller, Moment};

/// The most sends that are settled in one transaction.
const AT_ONCE: usize = 1_000;

/// A send in doubt, with its waiting caller.
pub(super) enum InDoubtSend {
    /// Without a caller: the send has to be withdrawn.
    Abandoned,
    Accept(Accepting),
    Activate(Activating),
}

#[derive(Default)]
pub(super) struct InDoubt {
    /// The oldest first.
    sends: BTreeMap<Uuid, InDoubtSend>,
    settling: Settling,
    failures: u32,
}

/// The progress of settling.
#[derive(Default)]
enum Settling {
    #[default]
    Idle,
    UnderWay,
    /// The database did not answer; it is asked again then.
    Resting(Instant),
}

impl InDoubtSend {
    const fn caller(&self) -> Option<Caller> {
        match self {
            Self::Abandoned => None,
            Self::Accept(accepting) => Some(accepting.caller),
            Self::Activate(activating) => Some(activating.caller),
        }
    }
}

impl InDoubt {
    pub(super) fn len(&self) -> usize {
        self.sends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sends.is_empty()
    }

    pub(super) fn add(&mut self, send_id: Uuid, doubtful: InDoubtSend, effects: &mut Effects) {
        let before = self.sends.insert(send_id, doubtful);
        if let Some(caller) = before.and_then(|before| before.caller()) {
            effects.push(Effect::Reply(caller, Err(Error::Closed)));
        }
        self.show(effects);
    }

    /// Asks which sends are in the store, unless a question is under way or no send is in doubt.
    pub(super) fn settle(&mut self, effects: &mut Effects) {
        if matches!(self.settling, Settling::Idle) && !self.is_empty() {
            self.settling = Settling::UnderWay;
            effects.push(Effect::Settle(self.sends.keys().copied().take(AT_ONCE).collect()));
        }
    }

    /// These sends are in the store if they are among the `accepted`, and otherwise never will be.
    pub(super) fn settled(&mut self, sends: &[Uuid], accepted: &HashSet<Uuid>, effects: &mut Effects) {
        for send_id in sends {
            if let Some(doubtful) = self.sends.remove(send_id) {
                tell(*send_id, doubtful, accepted.contains(send_id), effects);
            }
        }
        let withdrawn = sends.len().saturating_sub(accepted.len());
        tracing::info!(accepted = accepted.len(), withdrawn, "settled which sends were accepted");
        (self.settling, self.failures) = (Settling::Idle, 0);
        self.show(effects);
    }

    /// Settling failed.
    pub(super) fn not_settled(&mut self, failure: &Failure, at: Moment) {
        if self.failures == 0 {
            let sends = self.sends.len();
            tracing::error!(error = %failure, sends, "cannot find out which sends were accepted, their callers wait");
        }
        self.failures += 1;
        self.settling = Settling::Resting(at.monotonic + backing_off(self.failures));
    }

    /// When settling is retried, if it failed.
    pub(super) const fn rests_until(&self) -> Option<Instant> {
        match self.settling {
            Settling::Resting(until) => Some(until),
            Settling::Idle | Settling::UnderWay => None,
        }
    }

    /// The timer fired: settling is retried if its wait is over.
    pub(super) fn woken(&mut self, at: Moment) {
        if self.rests_until().is_some_and(|until| until <= at.monotonic) {
            self.settling = Settling::Idle;
        }
    }

    fn show(&self, effects: &mut Effects) {
        effects.push(Effect::Note(Figure::InDoubt(self.sends.len())));
    }
}

/// The send is in the store, or it never will be: answers its caller.
fn tell(send_id: Uuid, doubtful: InDoubtSend, is_accepted: bool, effects: &mut Effects) {
    let (caller, answer) = match doubtful {
        InDoubtSend::Abandoned => return,
        InDoubtSend::Accept(Accepting { send, counts, caller }) => {
            if is_accepted && counts {
                tell_late(send, effects);
            }
            (caller, Answer::Accepted(send_id))
        }
        InDoubtSend::Activate(Activating { send, instead, caller }) => {
            if is_accepted {
                // They became active in one transaction.
                [send].into_iter().chain(instead).for_each(|send| tell_late(send, effects));
            }
            (caller, Answer::Done)
        }
    };
    let answer = if is_accepted { Ok(answer) } else { Err(Error::Unavailable) };
    effects.push(Effect::Reply(caller, answer));
}

/// Tells the channel of a send that turned out to be accepted. The channel may have read it from the store already.
fn tell_late(send: AcceptedSend, effects: &mut Effects) {
    let channel_id = send.order.channel_id;
    effects.push(Effect::Tell { channel_id, arrived: Arrived { sends: vec![send], is_late: true } });
}
