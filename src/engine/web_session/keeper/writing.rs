//! What a keeper writes: how its channel is, and the number of the phone.

use std::time::Instant;

use tokio::sync::oneshot;

use super::super::condition;
use super::{Command, Keeper, Pairing, WRITE_PAUSE};
use crate::clock::Timestamp;
use crate::domain::channel::{Connection, Reason, Status};
use crate::store;

impl Keeper {
    /// Goes over to a state, unless the channel is in it already.
    pub(super) async fn go_over(&mut self, status: Status, reason: Option<Reason>) {
        self.go_over_to(Connection { status, reason, since: Timestamp::now() }).await;
    }

    /// The session is connected; to a restricted account, if WhatsApp said so lately.
    pub(super) async fn connected(&mut self) {
        let until = self.restriction.as_ref().and_then(condition::restricted_until);
        match until.filter(|until| *until > Timestamp::now()).and(self.restriction.clone()) {
            Some(restricted) => self.go_over_to(restricted).await,
            None => self.go_over(Status::Connected, None).await,
        }
    }

    /// WhatsApp restricted the account.
    pub(super) async fn restricted(&mut self) {
        let reason = Some(condition::restricted());
        let restricted = Connection { status: Status::Connected, reason, since: Timestamp::now() };
        self.restriction = Some(restricted.clone());
        self.go_over_to(restricted).await;
    }

    async fn go_over_to(&mut self, to: Connection) {
        let code = |reason: &Option<Reason>| reason.as_ref().map(|reason| reason.code.clone());
        let newest = self.next_connection.as_ref().unwrap_or(&self.connection);
        if newest.status != to.status || code(&newest.reason) != code(&to.reason) {
            self.next_connection = Some(to);
        }
        self.write().await;
    }

    /// Writes what is not in the store yet. What fails is tried again with the next occasion.
    pub(super) async fn write(&mut self) {
        match self.try_write().await {
            Ok(()) => self.write_again_at = None,
            Err(error) => self.unwritten(&error),
        }
    }

    async fn try_write(&mut self) -> store::Result<()> {
        let store = &self.common.store;
        if let Some((number, at)) = self.next_number {
            store.set_linked(self.channel, number, at).await?;
            self.next_number = None;
        }
        while let Some(to) = &self.next_connection {
            let written = store.set_channel_connection(self.channel, &self.connection, to).await?;
            if written.is_some() {
                let (from, to) = (&self.connection.status, &to.status);
                tracing::info!(channel.id = %self.channel, %from, %to, "the channel changed state");
            } else if let Some(channel) = store.find_channel(self.channel).await? {
                // Somebody else wrote it; what the session says is newer.
                self.connection = channel.connection;
                continue;
            }
            if let Some(to) = self.next_connection.take() {
                self.connection = to;
            }
        }
        Ok(())
    }

    /// Deletes the keys and says how the channel is, in one breath; as often as it takes. Whoever asks for anything
    /// meanwhile is turned away.
    pub(super) async fn wipe(&mut self, to: Connection, done: Option<oneshot::Sender<()>>) {
        // What is asked for after `done` finds no session, even before the channel's state is known everywhere.
        self.line.close();
        // What the session still does must leave nothing behind.
        if let Some(records) = self.records.take() {
            records.close().await;
        }
        while let Err(error) = self.common.store.end_web_session(self.channel, &to).await {
            self.unwritten(&error);
            tokio::select! {
                () = tokio::time::sleep(WRITE_PAUSE) => {}
                command = self.commands.recv() => if matches!(command, Some(Command::Stop) | None) {
                    return;
                },
            }
        }
        tracing::info!(channel.id = %self.channel, to = %to.status, "the web session's keys were deleted");
        self.pairing.send_replace(Pairing::default());
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    /// Said once, and not with every attempt.
    pub(super) fn unwritten(&mut self, error: &store::Error) {
        if self.write_again_at.replace(Instant::now() + WRITE_PAUSE).is_none() {
            tracing::error!(channel.id = %self.channel, %error, "writing the channel's state failed");
        }
    }
}
