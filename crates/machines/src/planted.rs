//! Faults that the universe plants to check whether its rules find them.
//!
//! Release builds contain no planted faults: [`is_planted`] is a constant there, and the code that it guards
//! is not compiled.

/// A possible mistake in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A message is attempted before its mark is durable.
    MarkAfterAttempt,
    /// A message is retried without an announcement first.
    AnnouncementLeftOut,
    /// Outcomes are dropped when their write fails.
    OutcomeDropped,
    /// The answer to a request with an old token is attributed to the present token.
    GenerationNotCompared,
    /// A receipt is ignored while its message waits for a retry.
    ReceiptIgnored,
    /// Announced messages go although their send was paused.
    PauseForgetsAnnounced,
    /// The limiter is refilled ten per cent too fast.
    LimiterTooFast,
    /// Templates go before the account's earlier recipients are known.
    QuotaNotRestored,
    /// A message takes no slot in the pacing of its recipient.
    PairSlotLost,
    /// A message that waited for its recipient's pacing goes at its slot, without a check for messages that went to the
    /// recipient meanwhile.
    SlotNotAskedAgain,
    /// A send ends a moment after its expiry.
    ExpiryOffByOne,
    /// The timer for messages that are due is not set.
    TimerNotSet,
    /// Single sends wait for bulk sends.
    LaneStarved,
    /// Retried messages of bulk sends go before single sends.
    BulkTriedAgainFirst,
    /// A bulk send goes on until it is done, and the others wait.
    TurnKept,
    /// A channel takes a free permit before the channels that wait in the queue for it.
    LineJumped,
    /// Permits are not given back.
    PermitLeaked,
    /// A template that the provider refuses holds all sends.
    TemplateHoldsAll,
    /// A message with an unknown outcome is sent again although the tier says that it is held.
    DoubtNotHeld,
    /// The provider is asked about a channel every half minute until a message confirms it.
    ProbedForEver,
    /// The wall clock is used where the monotonic one belongs.
    #[cfg(any(test, feature = "universe"))]
    WallClockUsed,
    /// The ledger answers before its commit.
    AnsweredBeforeCommit,
    /// The ledger tells a channel of a send before the commit.
    ToldBeforeCommit,
    /// The ledger drops a batch whose commit failed.
    BatchDropped,
    /// The ledger refuses a send whose commit is in doubt, without making sure that it was not written.
    DoubtNotSettled,
    /// One row that the database refuses fails its whole batch.
    RefusedRowFailsAll,
    /// The ledger sets no timer after a commit that failed.
    LedgerTimerForgotten,
    /// A session is opened although one is open.
    SessionOpenedTwice,
    /// A session goes on after its phone was unlinked.
    SendsAfterUnlink,
    /// A restart loses the number of messages that a session sent in the day.
    DailyCapNotRestored,
    /// A node trusts its lease long after it lapsed.
    LeaseTrustedTooLong,
    /// A node begins messages without asking whether it trusts its lease.
    #[cfg(any(test, feature = "universe"))]
    LeaseNotAsked,
    /// Nobody closes the fence of a node whose lease has lapsed.
    LapsedNeverFenced,
    /// A node whose fence is closed writes anyway.
    #[cfg(any(test, feature = "universe"))]
    FenceNotChecked,
    /// The channels of a node whose lease has lapsed are claimed before its fence is closed.
    #[cfg(any(test, feature = "universe"))]
    ClaimedBeforeFence,
    /// A claim takes a channel that another node owns.
    #[cfg(any(test, feature = "universe"))]
    OwnerNotCompared,
    /// A channel is released before its tasks have stopped.
    #[cfg(any(test, feature = "universe"))]
    ReleasedBeforeStopped,
    /// Nodes look for work only when another node tells them to.
    #[cfg(any(test, feature = "universe"))]
    WorkNotLookedFor,
    /// A process that stops does not wait for the channels that it is giving away.
    #[cfg(any(test, feature = "universe"))]
    LeavingNotAwaited,
    /// An event goes by the row as it was when the batch was handed to the database.
    #[cfg(any(test, feature = "universe"))]
    EventOfEarlierRow,
}

#[cfg(any(test, feature = "universe"))]
mod switch {
    use std::cell::Cell;

    use super::Fault;

    thread_local! {
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    impl Fault {
        /// Every fault.
        pub const ALL: [Self; 40] = [
            Self::MarkAfterAttempt,
            Self::AnnouncementLeftOut,
            Self::OutcomeDropped,
            Self::GenerationNotCompared,
            Self::ReceiptIgnored,
            Self::PauseForgetsAnnounced,
            Self::LimiterTooFast,
            Self::QuotaNotRestored,
            Self::PairSlotLost,
            Self::SlotNotAskedAgain,
            Self::ExpiryOffByOne,
            Self::TimerNotSet,
            Self::LaneStarved,
            Self::BulkTriedAgainFirst,
            Self::TurnKept,
            Self::LineJumped,
            Self::PermitLeaked,
            Self::TemplateHoldsAll,
            Self::DoubtNotHeld,
            Self::ProbedForEver,
            Self::WallClockUsed,
            Self::AnsweredBeforeCommit,
            Self::ToldBeforeCommit,
            Self::BatchDropped,
            Self::DoubtNotSettled,
            Self::RefusedRowFailsAll,
            Self::LedgerTimerForgotten,
            Self::SessionOpenedTwice,
            Self::SendsAfterUnlink,
            Self::DailyCapNotRestored,
            Self::LeaseTrustedTooLong,
            Self::LeaseNotAsked,
            Self::LapsedNeverFenced,
            Self::FenceNotChecked,
            Self::ClaimedBeforeFence,
            Self::OwnerNotCompared,
            Self::ReleasedBeforeStopped,
            Self::WorkNotLookedFor,
            Self::LeavingNotAwaited,
            Self::EventOfEarlierRow,
        ];

        /// Whether the fault needs several nodes.
        pub const fn is_of_nodes(self) -> bool {
            matches!(
                self,
                Self::LeaseTrustedTooLong
                    | Self::LeaseNotAsked
                    | Self::LapsedNeverFenced
                    | Self::FenceNotChecked
                    | Self::ClaimedBeforeFence
                    | Self::OwnerNotCompared
                    | Self::ReleasedBeforeStopped
                    | Self::WorkNotLookedFor
                    | Self::LeavingNotAwaited
                    | Self::EventOfEarlierRow
            )
        }

        /// Plants this fault in the thread; `None` removes it.
        pub fn plant(fault: Option<Self>) {
            PLANTED.set(fault);
        }
    }

    /// Whether this fault is planted in the thread.
    pub fn is_planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }
}

#[cfg(any(test, feature = "universe"))]
pub use self::switch::is_planted;

/// Nothing is planted in release builds.
#[cfg(not(any(test, feature = "universe")))]
pub const fn is_planted(_: Fault) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn the_document_about_testing_lists_every_fault() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/TESTING.md");
        let document = std::fs::read_to_string(document).unwrap();
        for fault in Fault::ALL {
            let row = document.lines().find(|line| line.starts_with(&format!("| `{fault:?}` |")));
            let row = row.unwrap_or_else(|| panic!("docs/TESTING.md does not list {fault:?}"));
            assert_eq!(row.contains("several nodes"), fault.is_of_nodes(), "{row}");
        }
    }
}
