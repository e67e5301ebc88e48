//! Session handles: a channel's actor reaches its session through one, and hears the outcome of a message.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use dashmap::DashMap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot;
use uuid::Uuid;

use domain::phone::PhoneNumber;
use driver::{Ack, AckState, MessageId, Session};

/// The handles of all channels, created on first use.
#[derive(Default)]
pub(crate) struct SessionHandles(DashMap<Uuid, Arc<SessionHandle>>);

impl SessionHandles {
    /// The channel's handle. It outlives its sessions.
    pub(crate) fn of(&self, channel: Uuid) -> Arc<SessionHandle> {
        Arc::clone(&self.0.entry(channel).or_default())
    }
}

#[derive(Default)]
pub(crate) struct SessionHandle {
    session: RwLock<Option<Arc<dyn Session>>>,
    /// The number of the phone that is linked, once it is known. It outlives sessions that end and are opened again.
    number: Mutex<Option<PhoneNumber>>,
    /// The callers that wait for the first acknowledgement of a message.
    awaited: Mutex<HashMap<MessageId, oneshot::Sender<AckState>>>,
}

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle").field("is_open", &self.session().is_some()).finish_non_exhaustive()
    }
}

impl SessionHandle {
    /// The session, while there is one. It may be disconnected.
    pub(crate) fn session(&self) -> Option<Arc<dyn Session>> {
        self.session.read().clone()
    }

    /// Registers a session.
    pub(crate) fn open(&self, session: Arc<dyn Session>) {
        *self.session.write() = Some(session);
    }

    /// The number of the phone that is linked, once it is known.
    pub(crate) fn number(&self) -> Option<PhoneNumber> {
        *self.number.lock()
    }

    /// Another phone is linked, or none.
    pub(crate) fn belongs_to(&self, number: Option<PhoneNumber>) {
        *self.number.lock() = number;
    }

    /// Removes the session; callers that wait for an acknowledgement get none.
    pub(crate) fn close(&self) {
        *self.session.write() = None;
        self.awaited.lock().clear();
    }

    /// Waits for the first acknowledgement of a message. Call this before the message is handed over.
    pub(crate) fn expect(self: &Arc<Self>, id: MessageId) -> Expected {
        let (hear, heard) = oneshot::channel();
        self.awaited.lock().insert(id.clone(), hear);
        Expected { handle: Arc::clone(self), id, heard }
    }

    /// Passes an acknowledgement to the caller that waits for it; returns `false` when none does.
    pub(crate) fn heard(&self, ack: &Ack) -> bool {
        let hear = self.awaited.lock().remove(&ack.id);
        hear.is_some_and(|hear| hear.send(ack.state).is_ok())
    }
}

/// The wait for the first acknowledgement of a message, ended by dropping this.
pub(crate) struct Expected {
    handle: Arc<SessionHandle>,
    id: MessageId,
    heard: oneshot::Receiver<AckState>,
}

impl Expected {
    /// The acknowledgement; `None` when the session ends first.
    pub(crate) async fn word(&mut self) -> Option<AckState> {
        (&mut self.heard).await.ok()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.handle.awaited.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Timestamp;

    fn ack(id: &MessageId, state: AckState) -> Ack {
        Ack { id: id.clone(), state, at: Timestamp::from_millis(0), from: None }
    }

    #[tokio::test]
    async fn only_the_first_acknowledgement_reaches_the_caller_that_waits_for_it() {
        let handle = Arc::new(SessionHandle::default());
        let (one, other) = (MessageId::generate(), MessageId::generate());
        let (mut first, second) = (handle.expect(one.clone()), handle.expect(other.clone()));
        drop(second);
        assert!(!handle.heard(&ack(&other, AckState::Server)));
        assert!(handle.heard(&ack(&one, AckState::Delivered)));
        assert!(!handle.heard(&ack(&one, AckState::Read)));
        assert_eq!(first.word().await, Some(AckState::Delivered));
        drop(first);
        assert!(handle.awaited.lock().is_empty());
    }

    #[tokio::test]
    async fn a_caller_that_waits_hears_that_the_session_has_ended() {
        let handle = Arc::new(SessionHandle::default());
        let mut expected = handle.expect(MessageId::generate());
        handle.close();
        assert_eq!(expected.word().await, None);
    }
}
