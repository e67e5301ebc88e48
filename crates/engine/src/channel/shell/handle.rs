//! The engine's handle to a channel: an address that hides the type of the actor.

use std::sync::Arc;

use actix::prelude::*;

use super::{Gate, Shell};
use crate::channel::load::{Load, Shown};
use crate::channel::machine::Present;
use crate::ledger::Arrived;
use crate::mailbox::{Door, Slot};
use crate::shared::Shared;
use connectors::cloud_api::Connections;
use domain::channel::Channel;

/// A started channel. Clones reach the same one.
#[derive(Clone)]
pub(crate) struct Handle {
    door: Door<Shell>,
    shown: Arc<Shown>,
}

/// A message to a channel.
pub(crate) trait ToChannel: Message<Result: Send> + Send + Sized + 'static {
    /// Sends the message and waits for the answer.
    fn send_to(
        self,
        to: &Handle,
    ) -> impl Future<Output = Result<Self::Result, MailboxError>> + Send + 'static;

    /// Sends the message now or not at all. Returns whether that was possible.
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
    /// Starts a channel on a thread. It publishes its state in `gate`.
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

    /// The channel's mailbox, for the ledger to send accepted sends to.
    pub(crate) fn listener(&self) -> Slot<Arrived> {
        self.door.slot()
    }

    /// The messages that it has in memory.
    pub(crate) fn load(&self) -> Load {
        self.shown.load(self.door.waiting())
    }

    /// What it did at its last input; `None` before the first.
    pub(crate) fn present(&self) -> Option<Present> {
        self.shown.present()
    }

    /// Sends a message and waits for the answer, which is an error when the channel ended.
    pub(crate) async fn send<M: ToChannel>(&self, message: M) -> Result<M::Result, MailboxError> {
        message.send_to(self).await
    }

    /// Sends a message, unless the mailbox is full or the channel ended. Returns whether that was possible.
    pub(crate) fn try_send<M: ToChannel>(&self, message: M) -> bool {
        message.try_send_to(self)
    }
}
