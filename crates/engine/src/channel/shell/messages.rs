//! Messages to a running channel.

use std::collections::HashMap;

use actix::prelude::*;
use uuid::Uuid;

use crate::channel::machine::{Admit, AdmitLookup, Input, Lookup, Pace, TooSoon, Viewed};
use crate::handover::Admitted;
use crate::notices;
use domain::limit::Limits;
use domain::outlook::Outlook;
use domain::send;

/// An input that has no answer is a message as it is.
impl Message for Input {
    type Result = ();
}

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

/// Tell the writer of a message that it was read, and perhaps that somebody types an answer. Business accounts alone.
#[derive(Message)]
#[rtype(result = "Result<(), connectors::Error>")]
pub(crate) struct MarkRead {
    /// The provider's id.
    pub(crate) message: String,
    pub(crate) is_typing: bool,
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
