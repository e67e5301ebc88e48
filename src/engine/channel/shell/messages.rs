//! What a channel is told from outside while it runs, and what it is asked.

use std::collections::HashMap;
use std::sync::Arc;

use actix::prelude::*;
use uuid::Uuid;

use crate::domain::channel::Channel;
use crate::domain::limit::Limits;
use crate::domain::message::{Key, State};
use crate::domain::outlook::Outlook;
use crate::domain::send;
use crate::engine::account::AccountUpdate;
use crate::engine::channel::machine::{Admit, Input, Pace, TooSoon, Troubled, Viewed};
use crate::engine::ledger::Arrived;
use crate::engine::web_session::Admitted;

/// A message that becomes an input as it is, and is answered with nothing.
pub(super) trait Told: Message<Result = ()> {
    /// The input.
    fn into_input(self) -> Input;
}

/// The channel's record, or its tier, was changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Refresh(pub(crate) Arc<Channel>);

/// Look into the store: something there may go now.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Look;

/// The store holds these sends, each the oldest of its size that may go now. The channel looks there when it does not
/// know one of them for the second time: of one that ended just now, this may be said once.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Overlooked {
    pub(crate) direct: Option<Uuid>,
    pub(crate) bulk: Option<Uuid>,
}

/// The wall clock was set: look at every moment of it again.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct ClockWasSet;

/// The provider says of these templates whether they may be sent.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct TemplatesChanged(pub(crate) Vec<(i64, bool)>);

/// The channel's business account has news.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct OfAccount(pub(crate) AccountUpdate);

/// Receipts of these messages are durable: whatever waits for their outcome need not.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Heard(pub(crate) Vec<(Key, State)>);

/// The provider told, outside any answer, that something is wrong with the number or its account.
impl Message for Troubled {
    type Result = ();
}

/// The provider has news of the number: ask it again.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub(crate) struct Recheck;

/// Let go of this send, which the store says is paused or over. Answered when no message of it starts any
/// more; of one that is over, when it is written besides that what was only reserved of it never started.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Release {
    pub(crate) send_id: Uuid,
    /// The state of a send that is over.
    pub(crate) over: Option<send::State>,
}

/// Start no more messages, wait for those in flight, write what is known. Answered when done.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;

/// May a message come in that a caller waits for?
impl Message for Admit {
    type Result = Result<Admitted, TooSoon>;
}

/// What limits this channel now?
#[derive(Message)]
#[rtype(result = "Limits")]
pub(crate) struct Explain;

/// What is to be expected of these sends? Answered are those that the channel works at, and those that its quota
/// of templates keeps in the store.
#[derive(Message)]
#[rtype(result = "HashMap<Uuid, Outlook>")]
pub(crate) struct LookAhead(pub(crate) Vec<Viewed>);

/// How fast may this channel send now?
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
