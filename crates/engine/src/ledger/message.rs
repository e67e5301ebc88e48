//! Requests to the ledger, and its answers.

use std::sync::Arc;

use actix::prelude::*;
use uuid::Uuid;

use crate::RETRY_AFTER;
use crate::handover::PendingReply;
use domain::content::{Content, Stored};
use domain::message::Key;
use domain::request::Skipped;
use domain::send::{Block, Label, Recipients, Schedule, Source, TemplateUse};
use store::conversations::Inbound;
use store::ledger::{Answer, PendingWrites, Receipt};
use store::suppressions;
use telemetry::{Origin, trace};

/// Why something was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The database is unavailable, or too many requests wait for it.
    #[error("the database cannot write now")]
    Unavailable,
    /// Another process took over, or the database refused a statement; the log has the reason.
    #[error("the ledger is closed")]
    Closed,
    /// The database permanently refuses a row of it; the log says which.
    #[error("the database refuses it")]
    Refused,
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable | Error::Closed => Self::Unavailable { retry_after: RETRY_AFTER },
            Error::Refused => Self::Internal,
        }
    }
}

/// The ledger's condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Everything is written at once.
    Writing,
    /// The last commit failed and is retried.
    Failing,
    /// Another process took over; nothing more is written.
    Fenced,
}

/// A send without its audience.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) company_id: Uuid,
    pub(crate) channel_id: Uuid,
    pub(crate) content: Content,
    /// The id of the group that it goes to; used with [`Recipients::Group`].
    pub(crate) group: Option<String>,
    /// The provider's id of the message that it answers.
    pub(crate) quotes: Option<String>,
    /// The digits of the number of the web session that accepts it.
    pub(crate) sender: Option<String>,
    pub(crate) template: Option<TemplateUse>,
    pub(crate) schedule: Schedule,
    /// The caller's own words on the send.
    pub(crate) label: Label,
    /// Whether its recipients have values of their own: what these are sealed to.
    pub(crate) personal: Option<Uuid>,
    /// The sources of its audience other than numbers.
    pub(crate) sources: Vec<Source>,
    /// The client's key, under which the answer is kept.
    pub(crate) claim: Option<Claim>,
    /// A caller waits until the message is handed over.
    pub(crate) is_awaited: bool,
    /// It is a message of a web session that goes in its turn although no caller waits for it.
    pub(crate) keeps_turn: bool,
    /// It confirms an opt-out, and goes although its recipient opted out.
    pub(crate) confirms: bool,
    /// The request that it came with, for its trace.
    pub(crate) origin: Origin,
}

impl Order {
    /// The stored content. It has the client's key only for a message whose caller waits: the answer is kept when that
    /// message is handed over.
    pub(crate) fn stored(&self) -> Stored<&Content, &str> {
        let claim = self.claim.as_ref().filter(|_| self.is_awaited);
        let key = claim.map(|claim| claim.key.as_str());
        let (group, quotes) = (self.group.as_deref(), self.quotes.as_deref());
        let sender = self.sender.as_deref();
        let (confirms, keeps_turn, values) = (self.confirms, self.keeps_turn, self.personal.is_some());
        Stored { content: &self.content, group, key, quotes, sender, confirms, keeps_turn, values }
    }
}

/// A client's key for a request that must be carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The key, as the client gave it.
    pub key: String,
    /// SHA-256 of the request: the same key for another request is a mistake of the client.
    pub fingerprint: [u8; 32],
}

impl Claim {
    /// The most characters of a key.
    const MAX_CHARS: usize = 255;

    /// Whether a client may give this key: 1 to 255 visible ASCII characters.
    pub fn is_key(text: &str) -> bool {
        (1..=Self::MAX_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

/// An accepted send, on its way to the channel that dispatches it.
#[derive(Debug, Clone)]
pub(crate) struct AcceptedSend {
    pub(crate) id: Uuid,
    pub(crate) order: Arc<Order>,
    pub(crate) recipients: Recipients,
}

impl AcceptedSend {
    /// The answer to keep under the client's key, if there is one.
    pub(crate) fn kept_answer(&self, skipped: &Skipped) -> Option<Answer> {
        let claim = self.order.claim.as_ref()?;
        Some(Answer {
            company_id: self.order.company_id,
            key: claim.key.clone(),
            fingerprint: claim.fingerprint,
            send_id: self.id,
            recipients: self.recipients.count(),
            skipped: skipped.count,
            skipped_first: skipped.to_kept(),
        })
    }
}

/// These sends became durable.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Arrived {
    pub(crate) sends: Vec<AcceptedSend>,
    /// They were delayed, or found to be in the store after a commit in doubt: messages about them may have arrived
    /// before, and they may be dispatched already.
    pub(crate) is_late: bool,
}

impl Arrived {
    /// Writes to the traces that these sends are durable and count.
    pub(super) fn trace(&self) {
        if !trace::is_on() {
            return;
        }
        for AcceptedSend { id, order, recipients } in &self.sends {
            trace::accepted(&trace::Accepted {
                send_id: *id,
                company_id: order.company_id,
                channel_id: order.channel_id,
                content: order.content.kind().as_str(),
                recipients: recipients.count(),
                origin: &order.origin,
            });
        }
    }
}

/// Write a new send, and its recipients unless there is only one. Its channel is told once the send is durable and
/// complete.
#[derive(Message)]
#[rtype(result = "Result<Uuid, Error>")]
pub(crate) struct Accept {
    pub(crate) order: Arc<Order>,
    pub(crate) recipients: Recipients,
    /// Entries that were skipped.
    pub(crate) skipped: Skipped,
    /// The first blocks.
    pub(crate) blocks: Vec<Block>,
    /// The values and references of the recipients.
    pub(crate) parts: Parts,
    /// More blocks follow: the send only counts once [`Activate`] is written.
    pub(crate) more: bool,
    /// The pending reply, if a caller waits: found under the send's id before the send is written.
    pub(crate) pending_reply: Option<Arc<PendingReply>>,
}

impl Accept {
    /// A complete send, without a waiting caller.
    pub(crate) const fn new(order: Arc<Order>, recipients: Recipients, skipped: Skipped) -> Self {
        let parts = Parts { values: Vec::new(), references: Vec::new() };
        Self { order, recipients, skipped, blocks: Vec::new(), parts, more: false, pending_reply: None }
    }
}

/// What some recipients of a send have of their own.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Sealed blocks of values.
    pub(crate) values: Vec<Block>,
    /// Ordinals and the callers' names for their messages.
    pub(crate) references: Vec<(u64, String)>,
}

impl Parts {
    /// Adds what further recipients have.
    pub(crate) fn add(&mut self, other: Self) {
        let Self { values, references } = other;
        self.values.extend(values);
        self.references.extend(references);
    }

    /// The bytes of the values.
    pub(crate) fn bytes(&self) -> usize {
        self.values.iter().map(|block| block.packed.len()).sum()
    }
}

/// Write more blocks of a send.
#[derive(Message)]
#[rtype(result = "Result<(), Error>")]
pub(crate) struct Extend {
    pub(crate) send_id: Uuid,
    pub(crate) company_id: Uuid,
    pub(crate) blocks: Vec<Block>,
    pub(crate) parts: Parts,
}

/// The last block was written: the send counts from now on.
#[derive(Message)]
#[rtype(result = "Result<(), Error>")]
pub(crate) struct Activate {
    pub(crate) send: AcceptedSend,
    /// Entries that were skipped.
    pub(crate) skipped: Skipped,
    /// The send of a template to people whose window is closed, whose last block was written too: either both count, or
    /// neither does.
    pub(crate) instead: Option<AcceptedSend>,
    /// Whether the send is such a one itself, and everybody of the request gets it.
    pub(crate) is_instead: bool,
}

impl Activate {
    /// A send with nothing beside it.
    pub(crate) const fn new(send: AcceptedSend, skipped: Skipped) -> Self {
        Self { send, skipped, instead: None, is_instead: false }
    }
}

/// Remove a send that was not accepted in the end.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Withdraw(pub(crate) Uuid);

/// The result of writing a record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// Sends of the marks that are not in the store (any more).
    pub(crate) gone: Vec<Uuid>,
    /// Announced messages that are over, as the store says.
    pub(crate) overtaken: Vec<Key>,
}

impl Written {
    /// Adds the result of another commit.
    pub(super) fn add(&mut self, other: Self) {
        let Self { gone, overtaken } = other;
        self.gone.extend(gone);
        self.overtaken.extend(overtaken);
    }
}

/// Write the work of a channel: outcomes, marks and suppressions. Answered when durable, however long that takes.
#[derive(Message)]
#[rtype(result = "Result<Written, Error>")]
pub(crate) struct Record {
    pub(crate) writes: Box<PendingWrites>,
    /// Whether a message waits for it.
    pub(crate) is_awaited: bool,
}

/// Write the reports of a provider. Answered when durable; after an error the provider repeats them.
#[derive(Default, Message)]
#[rtype(result = "Result<(), Error>")]
pub(crate) struct Hear {
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) suppressions: Vec<suppressions::Word>,
    pub(crate) inbound: Vec<Inbound>,
    /// Whether its webhook rests between its commits, so that others have their turns, and this one does not wait.
    pub(crate) is_paced: bool,
}

impl Hear {
    /// Whether there is nothing to write.
    pub(crate) const fn is_empty(&self) -> bool {
        let Self { receipts, suppressions, inbound, is_paced: _ } = self;
        receipts.is_empty() && suppressions.is_empty() && inbound.is_empty()
    }
}

/// Write what is left, then end. Answered when done; then the lease is released.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Close;
