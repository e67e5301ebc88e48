//! Compares the accepted messages with the messages that arrived and with the service's account of the rest:
//! no message may be lost or arrive twice.

use serde::Serialize;

/// The account of a load test, in messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Balance {
    /// Recipients of all sends that were answered 202.
    pub promised: u64,
    /// Messages that the receiver accepted, each counted once.
    pub arrived: u64,
    /// Messages that the receiver accepted again under the key of one before.
    pub repeated: u64,
    /// Refused permanently by the receiver, or expired, by the service's account.
    pub failed: u64,
    /// Arrived, and failed by a later report of the receiver.
    pub reported_failed: u64,
    /// Canceled at the end of the test, before they were started.
    pub canceled: u64,
    /// Still pending when the wait ended.
    pub unfinished: u64,
    /// Left `unknown`: the receiver may or may not have them.
    pub unknown: u64,
    /// Accepted, and neither arrived nor known to the service.
    pub lost: u64,
    /// Arrived without having been accepted.
    pub surplus: u64,
    /// Requests without a clear answer: each may have been accepted.
    pub unclear: u64,
}

impl Balance {
    /// The same account, with lost and surplus messages computed.
    #[must_use]
    pub(super) fn closed(self) -> Self {
        let Self { promised, arrived, failed, canceled, unfinished, unknown, .. } = self;
        let known = arrived + failed + canceled + unfinished;
        Self {
            // An unknown message may have arrived.
            lost: promised.saturating_sub(known + unknown),
            surplus: known.saturating_sub(promised),
            ..self
        }
    }

    /// Whether no message was lost, and none arrived that was not accepted. A request without a clear answer
    /// may have caused such messages: to one person, or to a whole tag.
    pub(super) fn adds_up(&self) -> bool {
        self.lost == 0 && (self.surplus == 0 || self.unclear > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_adds_up_or_says_what_is_missing() {
        let of = |promised, arrived, canceled, unknown| {
            let open = Balance { promised, arrived, canceled, unknown, ..Balance::default() };
            let closed = open.closed();
            (closed.lost, closed.surplus, closed.adds_up())
        };
        assert_eq!(of(100, 100, 0, 0), (0, 0, true));
        assert_eq!(of(100, 60, 40, 0), (0, 0, true));
        assert_eq!(of(100, 98, 0, 0), (2, 0, false));
        assert_eq!(of(100, 98, 0, 2), (0, 0, true));
        assert_eq!(of(100, 101, 0, 0), (0, 1, false));
        let unclear = Balance { promised: 100, arrived: 101, unclear: 1, ..Balance::default() };
        assert!(unclear.closed().adds_up());
    }
}
