//! Messages of web sessions whose acceptance is answered: they are handed over while nobody waits.
//!
//! A message that is [begun](WebSends::begin) goes as soon as callers expect it, or never. One that is
//! [queued](WebSends::queue) keeps its turn in the ledger, whichever process comes to it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::{BeginWeb, SendWeb, WebSends, to_owner};
use crate::accept::automatic::{UNREAD, check_opted_out};
use crate::accept::to_its_end;
use crate::handover::Admitted;
use crate::{Error, Form, KeyGuard};
use domain::channel::Channel;
use domain::limit::Spent;
use domain::request::WebRequest;

/// The most messages of a channel that wait so: a program that sends without end learns it soon.
const MOST_QUEUED: usize = 1_000;
/// The shortest wait that a refused caller is told.
const LEAST_WAIT: Duration = Duration::from_secs(1);

/// When a message has to be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// As soon as callers expect it (`web_session.patience`).
    Soon,
    /// When its turn comes, within [`TURN_SPAN`](domain::tier::TURN_SPAN).
    InTurn,
}

impl WebSends<'_> {
    /// Accepts a message for a web session, and returns its send once that is durable; the send's state shows the
    /// outcome. The answer in this form is stored under the key when the message is handed over.
    ///
    /// # Errors
    ///
    /// As [`WebSends::send`], except for errors after the send is written.
    pub async fn begin(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<KeyGuard>,
        form: Form,
    ) -> Result<Uuid, Error> {
        check_opted_out(&self.engine.0.shared, channel, &request.recipient)?;
        let request = self.filled(channel, request).await?;
        let (engine, channel) = (self.engine.clone(), Arc::clone(channel));
        guard.iter().for_each(KeyGuard::until_handed_over);
        let (tell, told) = oneshot::channel();
        actix::spawn(telemetry::carried(async move {
            let asked = BeginWeb(to_owner(request, guard.as_ref(), form));
            match engine.owners().ask(&channel, &asked).await {
                Ok(None) => {}
                Ok(Some(send_id)) => return drop(tell.send(Ok(send_id))),
                Err(error) => return drop(tell.send(Err(error))),
            }
            let BeginWeb(SendWeb { request, .. }) = asked;
            let how = (form.render, Urgency::Soon);
            let submitted = engine.web_sends().submit(&channel, request, guard.as_ref(), how).await;
            // The caller may have left: the request runs to its end.
            let _ = tell.send(submitted.as_ref().map(|submitted| submitted.send_id).map_err(Error::clone));
            // The outcome is in the ledger.
            let _ = engine.web_sends().finish(&channel, submitted, guard).await;
        }));
        told.await.unwrap_or_else(|_| {
            tracing::error!("accepting a message of a web session was interrupted");
            Err(Error::Internal)
        })
    }

    /// Accepts a message for a web session for a program that does not repeat refused requests, and returns its send once
    /// that is durable. The message waits up to an hour for its turn at the pace of the channel, and survives the process;
    /// then its send expires. A repetition under the key gets the same send.
    ///
    /// # Errors
    ///
    /// As [`WebSends::begin`]; [`Error::TooSoon`] when an hour is not enough, or 1,000 messages of the channel wait.
    pub async fn queue(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<KeyGuard>,
    ) -> Result<Uuid, Error> {
        check_opted_out(&self.engine.0.shared, channel, &request.recipient)?;
        let request = self.filled(channel, request).await?;
        let (engine, channel) = (self.engine.clone(), Arc::clone(channel));
        // The caller may leave before the answer comes: the request runs to its end, and the key stays held until then.
        to_its_end(async move {
            let asked = to_owner(request, guard.as_ref(), UNREAD);
            let asked = BeginWeb(SendWeb { is_queued: true, ..asked });
            if let Some(send_id) = engine.owners().ask(&channel, &asked).await? {
                return Ok(send_id);
            }
            let BeginWeb(SendWeb { request, .. }) = asked;
            let how = (UNREAD.render, Urgency::InTurn);
            let submitted = engine.web_sends().submit(&channel, request, guard.as_ref(), how).await?;
            submitted.wait.leave();
            Ok(submitted.send_id)
        })
        .await
    }
}

/// Refuses a message when too many wait for their turn.
pub(super) fn check_room(admitted: &Admitted) -> Result<(), Error> {
    if admitted.queued.taken() <= MOST_QUEUED {
        return Ok(());
    }
    let sentence = format!("{MOST_QUEUED} messages of the channel wait for their turn: try again later");
    // About the time between two messages.
    let retry_after = (admitted.wait / u32::try_from(MOST_QUEUED).unwrap_or(u32::MAX)).max(LEAST_WAIT);
    Err(Error::TooSoon { retry_after, sentence, spent: Spent::pause(retry_after) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handover::QueueSlots;

    #[test]
    fn a_thousand_messages_wait_and_the_next_one_is_refused() {
        let slots = QueueSlots::default();
        let admitted = || Admitted { queued: slots.take(), stranger: None, wait: Duration::from_secs(3_000) };
        let waiting: Vec<_> = (0..MOST_QUEUED).map(|_| admitted()).collect();
        assert!(waiting.last().is_some_and(|last| check_room(last).is_ok()));
        let Err(Error::TooSoon { retry_after, .. }) = check_room(&admitted()) else {
            panic!("it has no room")
        };
        assert_eq!(retry_after, Duration::from_secs(3));
        drop(waiting);
        assert_eq!(check_room(&admitted()), Ok(()));
    }
}
