//! Lines: how a channel's actor reaches the session that its keeper keeps, and hears the outcome of a message.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use dashmap::DashMap;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::connector::web_session::{Ack, AckState, MessageId, Session};

/// The lines of all channels that were asked for.
#[derive(Default)]
pub(crate) struct Lines(DashMap<Uuid, Arc<Line>>);

impl Lines {
    /// The channel's line, which stays the same while sessions come and go.
    pub(crate) fn line(&self, channel: Uuid) -> Arc<Line> {
        Arc::clone(&self.0.entry(channel).or_default())
    }
}

#[derive(Default)]
pub(crate) struct Line {
    session: RwLock<Option<Arc<dyn Session>>>,
    /// Who waits to hear of a message that was handed over.
    awaited: Mutex<HashMap<MessageId, oneshot::Sender<AckState>>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("is_open", &self.session().is_some()).finish_non_exhaustive()
    }
}

impl Line {
    /// The session, while there is one. It may be without a connection.
    pub(crate) fn session(&self) -> Option<Arc<dyn Session>> {
        self.session.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// There is a session.
    pub(super) fn open(&self, session: Arc<dyn Session>) {
        *self.session.write().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// There is none any more, and nobody hears anything of it.
    pub(super) fn close(&self) {
        *self.session.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.awaited().clear();
    }

    /// Waits for the first word about a message; ask before it is handed over. The answer is an error when the
    /// session ends first.
    pub(crate) fn expect(self: &Arc<Self>, id: MessageId) -> Expected {
        let (hear, heard) = oneshot::channel();
        self.awaited().insert(id.clone(), hear);
        Expected { line: Arc::clone(self), id, heard }
    }

    /// Tells the caller that waits for it; `false` when none does.
    pub(super) fn heard(&self, ack: &Ack) -> bool {
        let hear = self.awaited().remove(&ack.id);
        hear.is_some_and(|hear| hear.send(ack.state).is_ok())
    }

    fn awaited(&self) -> std::sync::MutexGuard<'_, HashMap<MessageId, oneshot::Sender<AckState>>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first word about a message, which is waited for while this is there.
pub(crate) struct Expected {
    line: Arc<Line>,
    id: MessageId,
    heard: oneshot::Receiver<AckState>,
}

impl Expected {
    /// The outcome of the message first; `None` when nobody will say.
    pub(crate) async fn word(&mut self) -> Option<AckState> {
        (&mut self.heard).await.ok()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.line.awaited().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;

    fn ack(id: &MessageId, state: AckState) -> Ack {
        Ack { id: id.clone(), state, at: Timestamp::from_millis(0), from: None }
    }

    #[tokio::test]
    async fn the_first_word_is_told_to_whom_it_concerns_and_nobody_else() {
        let line = Arc::new(Line::default());
        let (one, other) = (MessageId::generate(), MessageId::generate());
        let (mut first, second) = (line.expect(one.clone()), line.expect(other.clone()));
        drop(second);
        assert!(!line.heard(&ack(&other, AckState::Server)));
        assert!(line.heard(&ack(&one, AckState::Delivered)));
        assert!(!line.heard(&ack(&one, AckState::Read)));
        assert_eq!(first.word().await, Some(AckState::Delivered));
        drop(first);
        assert!(line.awaited().is_empty());
    }

    #[tokio::test]
    async fn who_waits_hears_that_the_session_has_ended() {
        let line = Arc::new(Line::default());
        let mut expected = line.expect(MessageId::generate());
        line.close();
        assert_eq!(expected.word().await, None);
    }
}
