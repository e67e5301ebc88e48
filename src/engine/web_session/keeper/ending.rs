//! What a keeper does when its session is over: hears the last of it, and writes what its end means.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::super::condition::{self, Then, Verdict};
use super::{Keeper, Next, WRITE_PAUSE};
use crate::clock::Timestamp;
use crate::connector::web_session::{End, Event};
use crate::domain::channel::{Connection, Status};

/// How long hearing the last of a session that was stopped may take: it has it ready.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl Keeper {
    /// Takes up what a session that was stopped has still to tell, up to its end: WhatsApp tells it once.
    pub(super) async fn hear_the_last(&mut self, events: &mut mpsc::Receiver<Event>) {
        let hearing = async {
            while let Some(event) = events.recv().await {
                match event {
                    Event::Ended(_) => return,
                    // Nobody will use it.
                    Event::Qr { .. } => {}
                    event => self.hear(event).await,
                }
            }
        };
        if timeout(LAST_WORDS, hearing).await.is_err() {
            tracing::warn!(channel.id = %self.channel, "not all that a web session told before its end was heard");
        }
    }

    /// Carries out what the end of a session means.
    pub(super) async fn ended(&mut self, end: &End) -> Next {
        let Verdict { status, reason, then } =
            condition::after(end, self.is_linked, self.failures, Timestamp::now());
        let code = reason.as_ref().map(|reason| reason.code.as_str()).unwrap_or_default();
        tracing::warn!(channel.id = %self.channel, code, "the web session ended");
        self.failures = self.failures.saturating_add(1);
        let to = Connection { status, reason, since: Timestamp::now() };
        if end.voids_records() || !self.is_linked {
            self.wipe(to, None).await;
            return Next::Close;
        }
        if self.written(to).await && then != Then::Close { Next::Again(then) } else { Next::Close }
    }

    /// Writes how the channel is, as often as it takes. Whether it was written.
    async fn written(&mut self, to: Connection) -> bool {
        self.next_connection = Some(to);
        loop {
            self.write().await;
            if self.write_again_at.is_none() {
                return true;
            }
            if !self.wait(Then::OpenNotBefore(WRITE_PAUSE)).await {
                return false;
            }
        }
    }

    /// A code of a session that nobody is pairing. If no phone was ever linked, the process ended in the middle of
    /// pairing the device, and nothing of it is worth anything. If one was, the records do not hold its device any
    /// more: what they do hold stays, because a person may restore them, and the phone may still list the device.
    pub(super) async fn unexpected_code(&mut self) -> Next {
        if self.linked_at.is_none() {
            return self.unlinked(None).await;
        }
        tracing::error!(channel.id = %self.channel, "the web session's keys name no phone any more");
        let reason = Some(condition::link_lost());
        self.written(Connection { status: Status::Disconnected, reason, since: Timestamp::now() }).await;
        Next::Close
    }

    /// No phone is linked any more, and that is as it should be.
    pub(super) async fn unlinked(&mut self, done: Option<oneshot::Sender<()>>) -> Next {
        let to = Connection { status: Status::Pairing, reason: None, since: Timestamp::now() };
        self.wipe(to, done).await;
        Next::Close
    }
}
