//! The numbers of messages that the machine holds, by where they are.

use super::Machine;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    /// In the direct lane.
    pub(crate) direct: u64,
    /// In the bulk lane.
    pub(crate) bulk: u64,
    /// Waiting for a retry.
    pub(crate) retry: u64,
    /// Started, with an outcome that is not durable yet.
    pub(crate) in_flight: u64,
}

impl Machine {
    /// The present numbers.
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
