//! The outlooks of sends that wait, as people read them: no message of such a send starts before the time in its
//! outlook, unless something happened meanwhile.

use std::collections::HashMap;

use uuid::Uuid;

use super::super::world::World;
use crate::channel::machine::Viewed;
use clock::Timestamp;
use domain::outlook::{Reason, Waiting};

/// Sends of a channel that are looked at together.
const AT_ONCE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Promises(HashMap<Uuid, (Reason, Timestamp)>);

impl Promises {
    /// Something happened: earlier outlooks may no longer be true.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// A message of this send goes. Describes the fault if the outlook said that it waits.
    pub(super) fn broken_by(&self, send_id: Uuid, wall: Timestamp) -> Option<String> {
        let (reason, until) = self.0.get(&send_id)?;
        (wall < *until).then(|| format!("it was to wait for `{reason}` until {until}, now it is {wall}"))
    }
}

impl super::Watch {
    /// Something besides a timer happened: earlier outlooks may no longer be true.
    pub(in crate::universe) fn forget_promises(&mut self) {
        self.promises.forget();
    }
}

impl World {
    /// A person reads the outlooks of a channel's sends.
    pub(in crate::universe) fn look_at_sends(&mut self) {
        if self.is_fenced() {
            // Another node runs them, and this one has not noticed that yet.
            return;
        }
        let channel = usize::try_from(self.dice.below(self.channels.len() as u64)).unwrap_or(0);
        let Some(process) = &self.process else { return };
        let Some(machine) = &process.channels[channel].machine else { return };
        let own = self
            .model
            .sends()
            .iter()
            .filter(|(_, send)| send.is_active() && send.channel_id == self.channels[channel].id);
        let viewed = own.map(|(id, send)| Viewed { id: *id, has_template: send.template_id.is_some() });
        let outlooks = machine.look_ahead(viewed.take(AT_ONCE).collect(), self.clock.now());
        for (send_id, outlook) in outlooks {
            if let Some(Waiting { reason, until: Some(until), .. }) = outlook.waiting {
                self.watch.promises.0.insert(send_id, (reason, until));
            }
        }
    }
}
