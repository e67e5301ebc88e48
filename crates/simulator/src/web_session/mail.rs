//! What people wrote to sessions, until the inbox of the session has taken it: WhatsApp keeps it meanwhile, and hands it
//! over in its order, also after another connection.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use uuid::Uuid;

use domain::inbound::{Direction, InboundMessage};
use domain::phone::PhoneNumber;
use driver::Inbox;

/// The most messages that wait for one session.
const MOST_WAITING: usize = 100_000;
/// The most messages that are handed over together.
const AT_ONCE: usize = 64;
/// The pause before messages that the inbox could not take are handed over again.
const PAUSE: Duration = Duration::from_millis(200);

/// The mailboxes of all sessions that were opened.
#[derive(Debug, Default)]
pub(super) struct Mailboxes(Mutex<HashMap<Uuid, Arc<Mailbox>>>);

/// The messages for one session.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    waiting: Mutex<VecDeque<InboundMessage>>,
    added: Notify,
}

impl Mailboxes {
    /// The mailbox of a session, which exists from now on.
    pub(super) fn open(&self, session: Uuid) -> Arc<Mailbox> {
        Arc::clone(self.0.lock().entry(session).or_default())
    }

    /// The mailbox of a session that was opened.
    pub(super) fn of(&self, session: Uuid) -> Option<Arc<Mailbox>> {
        self.0.lock().get(&session).cloned()
    }

    /// Removes all messages.
    pub(super) fn clear(&self) {
        self.0.lock().values().for_each(|mailbox| mailbox.waiting.lock().clear());
    }
}

impl Mailbox {
    /// Adds a message; false when too many wait.
    pub(super) fn put(&self, message: InboundMessage) -> bool {
        let mut waiting = self.waiting.lock();
        let has_room = waiting.len() < MOST_WAITING;
        if has_room {
            waiting.push_back(message);
            self.added.notify_one();
        }
        has_room
    }

    fn first(&self) -> Vec<InboundMessage> {
        self.waiting.lock().iter().take(AT_ONCE).cloned().collect()
    }

    /// Removes messages that were taken. They may have been removed already.
    fn remove(&self, ids: &[String]) {
        let mut waiting = self.waiting.lock();
        for id in ids {
            if waiting.front().is_none_or(|first| first.id != *id) {
                return;
            }
            waiting.pop_front();
        }
    }

    /// Hands messages over until it is aborted, and names the people who wrote. A message is removed once the inbox has
    /// taken it, so that an end in between leads to a second time, as with WhatsApp.
    pub(super) async fn deliver(
        self: Arc<Self>,
        inbox: Arc<dyn Inbox>,
        wrote: mpsc::UnboundedSender<PhoneNumber>,
    ) {
        loop {
            let batch = self.first();
            if batch.is_empty() {
                self.added.notified().await;
                continue;
            }
            let ids: Vec<_> = batch.iter().map(|message| message.id.clone()).collect();
            let is_of_person = |message: &&InboundMessage| {
                message.direction == Direction::In && message.peer.group.is_none()
            };
            let people: Vec<_> =
                batch.iter().filter(is_of_person).filter_map(|message| message.peer.number).collect();
            if inbox.take(batch).await.is_err() {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            self.remove(&ids);
            for person in people {
                // The device has ended when nobody receives them.
                let _ = wrote.send(person);
            }
        }
    }
}
