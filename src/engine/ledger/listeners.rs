//! Who hears of sends that became durable: the actors of channels, by the channels' ids.

use dashmap::DashMap;
use uuid::Uuid;

use super::message::Arrived;
use crate::engine::mailbox::Slot;

#[derive(Default)]
pub(crate) struct Listeners(DashMap<Uuid, Slot<Arrived>>);

impl Listeners {
    /// From now on this actor hears of the channel's sends.
    pub(crate) fn add(&self, channel_id: Uuid, actor: Slot<Arrived>) {
        self.0.insert(channel_id, actor);
    }

    /// Nobody hears of the channel's sends any more.
    pub(crate) fn remove(&self, channel_id: Uuid) {
        self.0.remove(&channel_id);
    }

    /// Hands sends to their channel without waiting for it. A channel that has no actor, or whose actor ended, finds
    /// its sends in the store when it starts again.
    pub(super) fn tell(&self, channel_id: Uuid, arrived: Arrived) {
        let Some(actor) = self.0.get(&channel_id) else { return };
        if let Err(arrived) = actor.try_send(arrived) {
            actix::spawn(actor.clone().send(Arrived { is_late: true, ..arrived }));
        }
    }
}
