//! Errands: what goes with a message whose caller waits, from the request to the session and back.
//!
//! An errand is found under the id of its send from before that is written until its caller has the answer. A message
//! of a web session that was certainly not handed over is not begun without its errand: its caller has gone, or read
//! that it was not sent.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::window::Slot;
use crate::clock::Timestamp;
use crate::connector::media::Media;
use crate::connector::web_session::{Jid, Sent};
use crate::domain::message::Failure;
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;

/// A message that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedOver {
    /// The send that it is in the ledger.
    pub send_id: Uuid,
    /// What was handed over.
    pub sent: Sent,
    /// The text of a text message.
    pub text: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// Renders the answer that the caller reads when the message was handed over.
pub type Render = fn(HandedOver) -> String;

/// How an answer is rendered. In a cluster the node that hands the message over renders it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// By which the nodes of a cluster know it. It never changes.
    pub name: &'static str,
    /// Renders it.
    pub render: Render,
}

/// How a message ended for the caller who waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandOver {
    /// WhatsApp's server was given it.
    Done(Box<HandedOver>),
    /// It will not arrive.
    Failed(Failure),
    /// Its time was over before it could be handed over, for this reason.
    TooLate(Reason),
    /// Somebody canceled it.
    Canceled,
    /// The engine stopped before it was attempted.
    Stopping,
    /// It may or may not have been handed over.
    Unknown,
}

/// What a message took when it was let in.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Among those that have not begun.
    pub(crate) place: Place,
    /// Among the strangers of 24 hours, if the recipient is one.
    pub(crate) stranger: Option<Slot<PhoneNumber>>,
    /// How long its turn is away.
    pub(crate) wait: Duration,
}

pub(crate) struct Errand {
    channel: Uuid,
    /// Whom it goes to.
    pub(crate) to: Jid,
    /// How its answer reads.
    pub(crate) render: Render,
    file: Mutex<Option<Media>>,
    errands: Errands,
    send_id: OnceLock<Uuid>,
    state: Mutex<State>,
}

struct State {
    /// There until the caller is told.
    tell: Option<oneshot::Sender<HandOver>>,
    place: Option<Place>,
    stranger: Option<Slot<PhoneNumber>>,
    /// An attempt is under way.
    has_begun: bool,
    /// An attempt may have reached WhatsApp.
    is_in_doubt: bool,
    /// What is being handed over, or was.
    handed_over: Option<HandedOver>,
    /// What the message was last put back for.
    waits_for: Option<Reason>,
    /// Somebody paused the send.
    is_paused: bool,
}

impl Errand {
    /// The file, which is here until somebody takes it.
    pub(super) fn take_file(&self) -> Option<Media> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Its send will be written with this id.
    pub(crate) fn accept(self: &Arc<Self>, send_id: Uuid) {
        if self.send_id.set(send_id).is_ok() {
            self.errands.0.insert(send_id, Arc::clone(self));
        }
    }

    /// Its message is attempted.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.place = None;
        state.waits_for = None;
        state.has_begun = true;
    }

    /// This is about to be handed over.
    pub(super) fn hands_over(&self, handed_over: HandedOver) {
        self.state().handed_over = Some(handed_over);
    }

    /// Its message waits again after an attempt, in doubt if that may have reached WhatsApp.
    pub(crate) fn put_back(&self, reason: Reason, is_in_doubt: bool) {
        let mut state = self.state();
        state.has_begun = false;
        state.is_in_doubt |= is_in_doubt;
        state.waits_for = Some(reason);
    }

    /// Somebody paused its send, or lets it run again.
    pub(crate) fn pause(&self, is_paused: bool) {
        self.state().is_paused = is_paused;
    }

    /// The engine stops. Whether its message is not under way, in which case its caller was told.
    pub(crate) fn give_up(&self, now: Timestamp) -> bool {
        let is_waiting = {
            let state = self.state();
            !state.has_begun && state.tell.is_some()
        };
        if is_waiting {
            self.tell(HandOver::Stopping, now);
        }
        is_waiting
    }

    /// The process lost its lease, and another one may attempt the message. An attempt that is under way tells its own end.
    pub(crate) fn lose(&self, now: Timestamp) {
        if !self.state().has_begun {
            self.tell(HandOver::Unknown, now);
        }
    }

    /// Its message may not begin any more; `channel` says what holds all messages of its channel. An attempt that is
    /// under way tells its own end.
    pub(crate) fn expire(&self, channel: impl FnOnce() -> Reason, now: Timestamp) {
        let reason = {
            let state = self.state();
            match *state {
                State { has_begun: true, .. } => return,
                State { is_paused: true, .. } => Some(Reason::Paused),
                State { waits_for, .. } => waits_for,
            }
        };
        self.tell(HandOver::TooLate(reason.unwrap_or_else(channel)), now);
    }

    /// Somebody canceled its send. An attempt that is under way tells its own end.
    pub(crate) fn cancel(&self, now: Timestamp) {
        if !self.state().has_begun {
            self.tell(HandOver::Canceled, now);
        }
    }

    /// WhatsApp has its message, as was heard after all.
    pub(crate) fn has_arrived(&self, now: Timestamp) {
        let handed_over = self.state().handed_over.clone();
        let done = |handed_over| HandOver::Done(Box::new(handed_over));
        self.tell(handed_over.map_or(HandOver::Unknown, done), now);
    }

    /// Tells the caller; only the first word counts. A stranger's place is kept if the message was handed over, or may
    /// have been.
    pub(crate) fn tell(&self, hand_over: HandOver, now: Timestamp) {
        let mut state = self.state();
        state.place = None;
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
        // The caller may have gone.
        let _ = tell.send(hand_over);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never what is sent, nor to whom.
impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errand").finish_non_exhaustive()
    }
}

/// The errands of all channels, by their sends. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Errands(Arc<DashMap<Uuid, Arc<Errand>>>);

impl Errands {
    /// An errand of a channel, and the wait of its caller.
    pub(crate) fn begin(
        &self,
        channel: Uuid,
        to: Jid,
        file: Option<Media>,
        admitted: Admitted,
        render: Render,
    ) -> (Arc<Errand>, Wait) {
        let (tell, told) = oneshot::channel();
        let Admitted { place, stranger, wait: _ } = admitted;
        let state = State {
            tell: Some(tell),
            place: Some(place),
            stranger,
            has_begun: false,
            is_in_doubt: false,
            handed_over: None,
            waits_for: None,
            is_paused: false,
        };
        let errand = Arc::new(Errand {
            channel,
            to,
            render,
            file: Mutex::new(file),
            errands: self.clone(),
            send_id: OnceLock::new(),
            state: Mutex::new(state),
        });
        (Arc::clone(&errand), Wait { errand, told })
    }

    /// The errand of a send, while its caller waits.
    pub(crate) fn find(&self, send_id: Uuid) -> Option<Arc<Errand>> {
        Some(Arc::clone(&*self.0.get(&send_id)?))
    }

    /// The engine has stopped: nobody tells the callers who still wait.
    pub(crate) fn end(&self, now: Timestamp) {
        let left: Vec<_> = self.0.iter().map(|entry| Arc::clone(&*entry)).collect();
        for errand in left {
            if !errand.give_up(now) {
                errand.tell(HandOver::Unknown, now);
            }
        }
    }

    /// The errands of a channel, with their sends.
    pub(crate) fn of(&self, channel: Uuid) -> Vec<(Uuid, Arc<Errand>)> {
        let own = self.0.iter().filter(|entry| entry.channel == channel);
        own.map(|entry| (*entry.key(), Arc::clone(&*entry))).collect()
    }
}

/// The wait of a caller; the errand is found as long as it lasts.
pub(crate) struct Wait {
    errand: Arc<Errand>,
    told: oneshot::Receiver<HandOver>,
}

impl Wait {
    /// How the message ended.
    pub(crate) async fn end(&mut self) -> HandOver {
        (&mut self.told).await.unwrap_or(HandOver::Unknown)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(send_id) = self.errand.send_id.get() {
            self.errand.errands.0.remove(send_id);
        }
    }
}

/// The messages of a channel that were let in and have not been attempted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Arc<AtomicUsize>);

/// One of them; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Places {
    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes one.
    pub(crate) fn take(&self) -> Place {
        self.0.fetch_add(1, Ordering::Relaxed);
        Place(Arc::clone(&self.0))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
