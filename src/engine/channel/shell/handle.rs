//! A channel as the rest of the engine holds it: an address whose actor nobody else names.

use std::sync::Arc;

use actix::prelude::*;

use super::{Gate, Shell};
use crate::connector::cloud_api::Connections;
use crate::domain::channel::Channel;
use crate::engine::channel::load::{Load, Shown};
use crate::engine::ledger::Arrived;
use crate::engine::mailbox::{Door, Slot};
use crate::engine::shared::Shared;

/// A channel that was started. Clones reach the same.
#[derive(Clone)]
pub(crate) struct Handle {
    door: Door<Shell>,
    shown: Arc<Shown>,
}

/// A message that a channel takes.
pub(crate) trait ToChannel: Message<Result: Send> + Send + Sized + 'static {
    /// Hands it over and waits for the answer.
    fn send_to(
        self,
        to: &Handle,
    ) -> impl Future<Output = Result<Self::Result, MailboxError>> + Send + 'static;

    /// Hands it over now or not at all: whether that was possible.
    fn try_send_to(self, to: &Handle) -> bool;
}

impl<M> ToChannel for M
where
    M: Message<Result: Send> + Send + 'static,
    Shell: Handler<M>,
{
    fn send_to(self, to: &Handle) -> impl Future<Output = Result<M::Result, MailboxError>> + Send + 'static {
        to.door.send(self)
    }

    fn try_send_to(self, to: &Handle) -> bool {
        to.door.try_send(self)
    }
}

impl Handle {
    /// Starts a channel on a thread. `gate` is where everybody may read how it is.
    pub(crate) fn start(
        arbiter: &ArbiterHandle,
        shared: Arc<Shared>,
        connections: Connections,
        channel: Arc<Channel>,
        gate: Gate,
    ) -> Self {
        let shown = Arc::new(Shown::default());
        let own = Arc::clone(&shown);
        let shell =
            Shell::start_in_arbiter(arbiter, move |_| Shell::new(shared, connections, channel, (gate, own)));
        Self { door: Door::to(shell), shown }
    }

    /// Whether the channel runs.
    pub(crate) fn is_running(&self) -> bool {
        self.door.is_open()
    }

    /// The channel as the ledger knows it.
    pub(crate) fn listener(&self) -> Slot<Arrived> {
        self.door.slot()
    }

    /// What it has in memory now.
    pub(crate) fn load(&self) -> Load {
        self.shown.load(self.door.mailbox().len())
    }

    /// Hands a message over and waits for the answer, which is an error when the channel ended.
    pub(crate) async fn send<M: ToChannel>(&self, message: M) -> Result<M::Result, MailboxError> {
        message.send_to(self).await
    }

    /// Hands a message over, unless the mailbox is full or the channel ended. Whether that was possible.
    pub(crate) fn try_send<M: ToChannel>(&self, message: M) -> bool {
        message.try_send_to(self)
    }
}
