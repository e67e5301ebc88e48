//! Pending replies: what accompanies a message whose caller waits, from the request to the session and back.
//!
//! A pending reply is found under the id of its send, from before the send is written until the caller has the answer.
//! A message of a web session that was certainly not handed over is not attempted without its pending reply: the caller
//! has gone, or was told that the message was not sent. A message that keeps its turn has a pending reply without a
//! caller, which holds its slots until it is over, and which a channel makes again for a message from the store.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::queue_slots::QueueSlot;
use super::window::Slot;
use clock::Timestamp;
use connectors::media::Media;
use domain::message::Failure;
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use driver::{Jid, Sent};

/// A message that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOver {
    /// Its send in the ledger.
    pub send_id: Uuid,
    /// The ids under which WhatsApp has it.
    pub sent: Sent,
    /// The text of a text message.
    pub text: Option<String>,
    /// The fields of the request that had no effect.
    pub ignored: Vec<String>,
    /// When it was handed over.
    pub at: Timestamp,
}

/// Renders the answer that the caller reads once the message is handed over.
pub(crate) type Render = fn(HandedOver) -> String;

/// The answer to nobody.
const NO_ANSWER: (Render, Vec<String>) = (|_| String::new(), Vec::new());

/// How an answer is rendered. In a cluster the node that hands the message over renders it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The name by which the nodes of a cluster know it. It never changes.
    pub name: &'static str,
    /// Renders the answer.
    pub render: Render,
}

/// How a message ended for the caller that waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandOver {
    /// WhatsApp's server has the message.
    Done(Box<HandedOver>),
    /// The message will not arrive.
    Failed(Failure),
    /// The message expired before it could be handed over, for this reason.
    TooLate(Reason),
    /// The send was canceled.
    Canceled,
    /// The engine stopped before the message was attempted.
    Stopping,
    /// The message may or may not have been handed over.
    Unknown,
}

/// What a message reserved when the channel admitted it.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Its slot among the messages that have not been attempted.
    pub(crate) queued: QueueSlot,
    /// Its slot among the strangers of 24 hours, if the recipient is a stranger.
    pub(crate) stranger: Option<Slot<PhoneNumber>>,
    /// The wait until its turn.
    pub(crate) wait: Duration,
}

pub(crate) struct PendingReply {
    channel: Uuid,
    /// The recipient's address; `None` for a message from the store.
    pub(crate) to: Option<Jid>,
    /// The message goes in its turn although no caller waits.
    keeps_turn: bool,
    /// Renders the answer.
    pub(crate) render: Render,
    /// The fields of the request that have no effect.
    pub(crate) ignored: Vec<String>,
    file: Mutex<Option<Media>>,
    pending_replies: PendingReplies,
    send_id: OnceLock<Uuid>,
    state: Mutex<State>,
}

struct State {
    /// Tells the caller; `None` once that is done.
    tell: Option<oneshot::Sender<HandOver>>,
    queued: Option<QueueSlot>,
    stranger: Option<Slot<PhoneNumber>>,
    /// An attempt is under way.
    has_begun: bool,
    /// An earlier attempt may have reached WhatsApp.
    is_in_doubt: bool,
    /// The message that is being handed over, or was.
    handed_over: Option<HandedOver>,
    /// Why the message was last put back.
    waits_for: Option<Reason>,
    /// The send is paused.
    is_paused: bool,
}

impl PendingReply {
    /// Takes the file, once.
    pub(super) fn take_file(&self) -> Option<Media> {
        self.file.lock().take()
    }

    /// The send will be written with this id: from here on the pending reply is found under it.
    pub(crate) fn accept(self: &Arc<Self>, send_id: Uuid) {
        if self.send_id.set(send_id).is_ok() {
            self.pending_replies.0.insert(send_id, Arc::clone(self));
        }
    }

    /// An attempt begins.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock();
        state.queued = None;
        state.waits_for = None;
        state.has_begun = true;
    }

    /// Notes the message that is about to be handed over.
    pub(super) fn hands_over(&self, handed_over: HandedOver) {
        self.state.lock().handed_over = Some(handed_over);
    }

    /// The message waits again after an attempt, in doubt if the attempt may have reached WhatsApp.
    pub(crate) fn put_back(&self, reason: Reason, is_in_doubt: bool) {
        let mut state = self.state.lock();
        state.has_begun = false;
        state.is_in_doubt |= is_in_doubt;
        state.waits_for = Some(reason);
    }

    /// The send was paused or resumed.
    pub(crate) fn pause(&self, is_paused: bool) {
        self.state.lock().is_paused = is_paused;
    }

    /// Whether the message goes in its turn although no caller waits.
    pub(crate) const fn keeps_turn(&self) -> bool {
        self.keeps_turn
    }

    /// Whether the session writes to its recipient for the first time, as far as it is known.
    pub(crate) fn is_to_stranger(&self) -> bool {
        self.state.lock().stranger.is_some()
    }

    /// The engine stops: tells the caller so unless an attempt is under way. Returns whether the caller was told.
    pub(crate) fn give_up(&self, now: Timestamp) -> bool {
        let is_waiting = {
            let state = self.state.lock();
            !state.has_begun && state.tell.is_some()
        };
        if is_waiting {
            self.tell(HandOver::Stopping, now);
        }
        is_waiting
    }

    /// The process lost its lease, and another process may attempt the message. An attempt under way reports its own
    /// end.
    pub(crate) fn lose(&self, now: Timestamp) {
        if !self.state.lock().has_begun {
            self.tell(HandOver::Unknown, now);
        }
    }

    /// It is too late to attempt the message; `channel` gives the reason that holds all messages of its channel. An
    /// attempt under way reports its own end.
    pub(crate) fn expire(&self, channel: impl FnOnce() -> Reason, now: Timestamp) {
        let reason = {
            let state = self.state.lock();
            match *state {
                State { has_begun: true, .. } => return,
                State { is_paused: true, .. } => Some(Reason::Paused),
                State { waits_for, .. } => waits_for,
            }
        };
        self.tell(HandOver::TooLate(reason.unwrap_or_else(channel)), now);
    }

    /// The send was canceled. An attempt under way reports its own end.
    pub(crate) fn cancel(&self, now: Timestamp) {
        if !self.state.lock().has_begun {
            self.tell(HandOver::Canceled, now);
        }
    }

    /// A receipt says that WhatsApp has the message.
    pub(crate) fn has_arrived(&self, now: Timestamp) {
        let handed_over = self.state.lock().handed_over.clone();
        let done = |handed_over| HandOver::Done(Box::new(handed_over));
        self.tell(handed_over.map_or(HandOver::Unknown, done), now);
    }

    /// Tells the caller; only the first call counts. A stranger's slot is kept if the message was handed over, or may
    /// have been.
    pub(crate) fn tell(&self, hand_over: HandOver, now: Timestamp) {
        let mut state = self.state.lock();
        state.queued = None;
        let Some(tell) = state.tell.take() else { return };
        let hand_over = match hand_over {
            HandOver::Done(_) => hand_over,
            _ if state.is_in_doubt => HandOver::Unknown,
            _ => hand_over,
        };
        if let Some(stranger) = state.stranger.take()
            && matches!(hand_over, HandOver::Done(_) | HandOver::Unknown)
        {
            stranger.keep(now);
        }
        drop(state);
        // The caller may have gone.
        let _ = tell.send(hand_over);
        if self.keeps_turn {
            self.forget();
        }
    }

    /// From here on it is not found, unless another one has taken its place.
    fn forget(&self) {
        if let Some(send_id) = self.send_id.get() {
            self.pending_replies.0.remove_if(send_id, |_, found| std::ptr::eq(Arc::as_ptr(found), self));
        }
    }
}

/// Shows neither content nor recipient.
impl fmt::Debug for PendingReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingReply").finish_non_exhaustive()
    }
}

/// The pending replies of all channels, by their sends. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct PendingReplies(Arc<DashMap<Uuid, Arc<PendingReply>>>);

impl PendingReplies {
    /// Creates a pending reply of a channel, and the wait of its caller.
    pub(crate) fn begin(
        &self,
        channel: Uuid,
        to: Jid,
        file: Option<Media>,
        admitted: Admitted,
        answer: (Render, Vec<String>),
    ) -> (Arc<PendingReply>, Wait) {
        self.add(channel, (Some(to), false), file, admitted, answer)
    }

    /// Creates a pending reply of a message that keeps its turn. Its wait is left once the message is durable.
    pub(crate) fn begin_kept(
        &self,
        channel: Uuid,
        to: Jid,
        file: Option<Media>,
        admitted: Admitted,
    ) -> (Arc<PendingReply>, Wait) {
        self.add(channel, (Some(to), true), file, admitted, NO_ANSWER)
    }

    /// Creates the pending reply of a message from the store that keeps its turn, in the place of an earlier one.
    pub(crate) fn keep(&self, channel: Uuid, send_id: Uuid, admitted: Admitted) {
        let (pending_reply, wait) = self.add(channel, (None, true), None, admitted, NO_ANSWER);
        pending_reply.accept(send_id);
        wait.leave();
    }

    fn add(
        &self,
        channel: Uuid,
        (to, keeps_turn): (Option<Jid>, bool),
        file: Option<Media>,
        admitted: Admitted,
        (render, ignored): (Render, Vec<String>),
    ) -> (Arc<PendingReply>, Wait) {
        let (tell, told) = oneshot::channel();
        let Admitted { queued, stranger, wait: _ } = admitted;
        let state = State {
            tell: Some(tell),
            queued: Some(queued),
            stranger,
            has_begun: false,
            is_in_doubt: false,
            handed_over: None,
            waits_for: None,
            is_paused: false,
        };
        let pending_reply = Arc::new(PendingReply {
            channel,
            to,
            keeps_turn,
            ignored,
            render,
            file: Mutex::new(file),
            pending_replies: self.clone(),
            send_id: OnceLock::new(),
            state: Mutex::new(state),
        });
        (Arc::clone(&pending_reply), Wait { pending_reply, told, is_left: false })
    }

    /// The pending reply of a send, while its caller waits or it keeps its turn.
    pub(crate) fn find(&self, send_id: Uuid) -> Option<Arc<PendingReply>> {
        Some(Arc::clone(&*self.0.get(&send_id)?))
    }

    /// The engine has stopped: answers the callers that still wait, because no channel will.
    pub(crate) fn end(&self, now: Timestamp) {
        let left: Vec<_> = self.0.iter().map(|entry| Arc::clone(&*entry)).collect();
        for pending_reply in left {
            if !pending_reply.give_up(now) {
                pending_reply.tell(HandOver::Unknown, now);
            }
        }
    }

    /// The pending replies of a channel, with their sends.
    pub(crate) fn of(&self, channel: Uuid) -> Vec<(Uuid, Arc<PendingReply>)> {
        let own = self.0.iter().filter(|entry| entry.channel == channel);
        own.map(|entry| (*entry.key(), Arc::clone(&*entry))).collect()
    }
}

/// The wait of a caller. The pending reply is found while it lasts.
pub(crate) struct Wait {
    pending_reply: Arc<PendingReply>,
    told: oneshot::Receiver<HandOver>,
    /// The message keeps its turn: its pending reply is found until the message is over.
    is_left: bool,
}

impl Wait {
    /// How the message ended.
    pub(crate) async fn end(&mut self) -> HandOver {
        (&mut self.told).await.unwrap_or(HandOver::Unknown)
    }

    /// Nobody waits for the message, which keeps its turn.
    pub(crate) fn leave(mut self) {
        self.is_left = true;
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if !self.is_left {
            self.pending_reply.forget();
        }
    }
}

#[cfg(test)]
mod tests;
