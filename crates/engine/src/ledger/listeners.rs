//! Listeners for sends that became durable: the channels' actors, by the channels' ids.

use dashmap::DashMap;
use uuid::Uuid;

use super::message::Arrived;
use crate::mailbox::Slot;

#[derive(Default)]
pub(crate) struct Listeners(DashMap<Uuid, Slot<Arrived>>);

impl Listeners {
    /// Registers the actor of a channel.
    pub(crate) fn add(&self, channel_id: Uuid, actor: Slot<Arrived>) {
        self.0.insert(channel_id, actor);
    }

    /// Removes the actor of a channel.
    pub(crate) fn remove(&self, channel_id: Uuid) {
        self.0.remove(&channel_id);
    }

    /// Passes sends to their channel without waiting. A channel without a running actor reads its sends from the store
    /// when it starts.
    pub(super) fn tell(&self, channel_id: Uuid, arrived: Arrived) {
        let Some(actor) = self.0.get(&channel_id) else { return };
        if let Err(arrived) = actor.try_send(arrived) {
            actix::spawn(actor.send(Arrived { is_late: true, ..arrived }));
        }
    }
}
