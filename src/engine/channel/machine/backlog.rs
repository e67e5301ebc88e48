//! How many messages the machine has, and where.

use super::Machine;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// In the direct lane.
    pub(crate) direct: u64,
    /// In the bulk lane.
    pub(crate) bulk: u64,
    /// Waiting here to be tried again.
    pub(crate) retry: u64,
    /// Started, and the outcome is not durable.
    pub(crate) in_flight: u64,
}

impl Machine {
    /// How many messages it has now.
    pub(crate) fn backlog(&self) -> Backlog {
        let (direct, bulk) = self.lanes.queued();
        Backlog {
            direct,
            bulk,
            retry: self.lanes.to_be_retried() as u64,
            in_flight: self.flight.in_flight as u64,
        }
    }
}
