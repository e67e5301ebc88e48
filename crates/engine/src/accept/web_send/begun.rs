//! Messages of web sessions whose acceptance is answered: they are handed over while nobody waits.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::{BeginWeb, SendWeb, WebSends, to_owner};
use crate::accept::automatic::check_opted_out;
use crate::{Error, Form, KeyGuard};
use domain::channel::Channel;
use domain::request::WebRequest;

/// How long a message waits for its turn whose program does not repeat requests.
pub(super) const QUEUED: Duration = Duration::from_secs(60 * 60);

/// When a message has to be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// As soon as callers expect it (`web_session.patience`).
    Soon,
    /// When its turn comes, within [`QUEUED`].
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
        self.begin_waiting(channel, request, (guard, form), Wanted::Soon).await
    }

    /// As [`WebSends::begin`], for a program that does not repeat refused requests: the message waits up to an hour for its
    /// turn at the pace of the channel. It is lost with this process, and then ends as expired.
    ///
    /// # Errors
    ///
    /// As [`WebSends::begin`]; [`Error::TooSoon`] when even an hour is not enough.
    pub async fn queue(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<KeyGuard>,
        form: Form,
    ) -> Result<Uuid, Error> {
        self.begin_waiting(channel, request, (guard, form), Wanted::InTurn).await
    }

    async fn begin_waiting(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        (guard, form): (Option<KeyGuard>, Form),
        wanted: Wanted,
    ) -> Result<Uuid, Error> {
        check_opted_out(&self.engine.0.shared, channel, &request.recipient)?;
        let request = self.filled(channel, request).await?;
        let (engine, channel) = (self.engine.clone(), Arc::clone(channel));
        guard.iter().for_each(KeyGuard::until_handed_over);
        let (tell, told) = oneshot::channel();
        actix::spawn(telemetry::carried(async move {
            let is_queued = wanted == Wanted::InTurn;
            let asked = BeginWeb(SendWeb { is_queued, ..to_owner(request, guard.as_ref(), form) });
            match engine.owners().ask(&channel, &asked).await {
                Ok(None) => {}
                Ok(Some(send_id)) => return drop(tell.send(Ok(send_id))),
                Err(error) => return drop(tell.send(Err(error))),
            }
            let BeginWeb(SendWeb { request, .. }) = asked;
            let submitted =
                engine.web_sends().submit(&channel, request, guard.as_ref(), (form.render, wanted)).await;
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
}
