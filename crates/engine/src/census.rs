//! What was counted last in the database, for gauges: how many channels are in each state and how many messages wait.

use parking_lot::RwLock;

use domain::channel::Status;
use store::unfinished::Unfinished;

/// What was counted last.
#[derive(Debug, Default)]
pub(crate) struct Census(RwLock<LastCount>);

#[derive(Debug, Default)]
struct LastCount {
    channels: Vec<(Status, u64)>,
    unfinished: Vec<Unfinished>,
}

impl Census {
    /// Takes over what was counted: the channels in each state, and the messages of unfinished sends.
    pub(crate) fn set(&self, channels: Vec<(Status, u64)>, unfinished: Vec<Unfinished>) {
        *self.0.write() = LastCount { channels, unfinished };
    }

    /// The number of channels in this state.
    pub(crate) fn channels(&self, status: Status) -> u64 {
        let counted = self.0.read();
        counted.channels.iter().find(|(known, _)| *known == status).map_or(0, |(_, channels)| *channels)
    }

    /// Looks at the messages of unfinished sends.
    pub(crate) fn look(&self, mut look: impl FnMut(&Unfinished)) {
        self.0.read().unfinished.iter().for_each(&mut look);
    }
}
