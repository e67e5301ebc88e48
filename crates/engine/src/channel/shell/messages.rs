//! Messages to a running channel.

use std::collections::HashMap;
use std::sync::Arc;

use actix::prelude::*;
use uuid::Uuid;

use crate::account::AccountUpdate;
use crate::channel::machine::{Admit, AdmitLookup, Input, Lookup, Pace, TooSoon, Troubled, Viewed};
use crate::handover::Admitted;
use crate::ledger::Arrived;
use crate::notices;
use domain::channel::Channel;
use domain::limit::Limits;
use domain::message::{Key, State};
use domain::outlook::Outlook;
use domain::send;

/// A message that becomes an input as it is, and has no answer.
pub(super) trait Told: Message<Result = ()> {
    /// The input.
    fn into_input(self) -> Input;
}

/// The channel's record, or its tier, was changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Refresh(pub(crate) Arc<Channel>);

/// Read the store: a send there may go now.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Look;

/// The store holds these sends, each the oldest of its size that may go now. The channel reads the store when it is
/// told of an unknown send for the second time: a send that has just ended may be named once.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Overlooked {
    pub(crate) direct: Option<Uuid>,
    pub(crate) bulk: Option<Uuid>,
}

/// The wall clock was set: compute every time that depends on it again.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct ClockWasSet;

/// The provider changed whether these templates may be sent.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct TemplatesChanged(pub(crate) Vec<(i64, bool)>);

/// An update of the channel's business account.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct OfAccount(pub(crate) AccountUpdate);

/// Receipts of these messages are durable: nothing needs to wait for their outcome any more.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Heard(pub(crate) Vec<(Key, State)>);

/// A webhook reports trouble with the number or its account.
impl Message for Troubled {
    type Result = ();
}

/// A webhook says that the number changed: probe it.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Recheck;

/// Release this send, which is paused or over in the store. The answer comes when no message of the send starts any
/// more. For an ended send, the answer also waits until the store says that the reserved messages never started.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Release {
    pub(crate) send_id: Uuid,
    /// The state of a send that is over.
    pub(crate) over: Option<send::State>,
}

/// The notice to the owner of the channel, if that is another node.
impl From<&Release> for notices::Told {
    fn from(release: &Release) -> Self {
        Self::Release { send: release.send_id, over: release.over.map(send::State::as_i16) }
    }
}

/// Start no more messages, wait for those in flight, and write their outcomes. Answered when done.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;

/// The question whether a message whose caller waits is admitted.
impl Message for Admit {
    type Result = Result<Admitted, TooSoon>;
}

/// The question whether WhatsApp may be asked about a number.
impl Message for AdmitLookup {
    type Result = Result<Lookup, TooSoon>;
}

/// The limits of this channel now.
#[derive(Message)]
#[rtype(result = "Limits")]
pub(crate) struct Explain;

/// The outlook of these sends: of those in the lanes, and of those that the quota of templates keeps in the store.
#[derive(Message)]
#[rtype(result = "HashMap<Uuid, Outlook>")]
pub(crate) struct LookAhead(pub(crate) Vec<Viewed>);

/// The channel's present pace.
#[derive(Message)]
#[rtype(result = "Pace")]
pub(crate) struct AskPace;

impl Told for Refresh {
    fn into_input(self) -> Input {
        Input::Refreshed(self.0)
    }
}

impl Told for Look {
    fn into_input(self) -> Input {
        Input::Look
    }
}

impl Told for Overlooked {
    fn into_input(self) -> Input {
        Input::Overlooked { direct: self.direct, bulk: self.bulk }
    }
}

impl Told for ClockWasSet {
    fn into_input(self) -> Input {
        Input::ClockWasSet
    }
}

impl Told for TemplatesChanged {
    fn into_input(self) -> Input {
        Input::TemplatesChanged(self.0)
    }
}

impl Told for OfAccount {
    fn into_input(self) -> Input {
        Input::Account(self.0)
    }
}

impl Told for Heard {
    fn into_input(self) -> Input {
        Input::Heard(self.0)
    }
}

impl Told for Troubled {
    fn into_input(self) -> Input {
        Input::Troubled(self)
    }
}

impl Told for Recheck {
    fn into_input(self) -> Input {
        Input::Recheck
    }
}

impl Told for Arrived {
    fn into_input(self) -> Input {
        Input::Accepted { sends: self.sends, is_late: self.is_late }
    }
}
