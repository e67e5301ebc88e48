//! Faults that the universe plants to see whether its rules find them.
//!
//! In the product nothing is ever planted: [`is_planted`] is a constant there, and what it guards is not compiled in.

/// A mistake that somebody could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A message is attempted before its mark is durable.
    MarkAfterAttempt,
    /// A message is tried again without saying so first.
    AnnouncementLeftOut,
    /// Outcomes are dropped when their write fails.
    #[cfg(any(test, feature = "universe"))]
    OutcomeDropped,
    /// The answer to an old token is taken for one to the present token.
    GenerationNotCompared,
    /// A receipt is ignored while its message waits to be tried again.
    ReceiptIgnored,
    /// Messages that are announced go although their send was paused.
    PauseForgetsAnnounced,
    /// The limiter is refilled ten per cent too fast.
    LimiterTooFast,
    /// Templates go before it is known whom the account wrote to before.
    QuotaNotRestored,
    /// A message to a person takes no slot of the pair.
    PairSlotLost,
    /// A send ends a moment after its expiry.
    ExpiryOffByOne,
    /// The timer for messages that are due is not set.
    TimerNotSet,
    /// Single sends wait for bulk sends.
    LaneStarved,
    /// Permits are not given back.
    PermitLeaked,
    /// A template that is not let through holds all sends.
    TemplateHoldsAll,
    /// The wall clock is used where the monotonic one belongs.
    #[cfg(any(test, feature = "universe"))]
    WallClockUsed,
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
        pub(crate) const ALL: [Self; 15] = [
            Self::MarkAfterAttempt,
            Self::AnnouncementLeftOut,
            Self::OutcomeDropped,
            Self::GenerationNotCompared,
            Self::ReceiptIgnored,
            Self::PauseForgetsAnnounced,
            Self::LimiterTooFast,
            Self::QuotaNotRestored,
            Self::PairSlotLost,
            Self::ExpiryOffByOne,
            Self::TimerNotSet,
            Self::LaneStarved,
            Self::PermitLeaked,
            Self::TemplateHoldsAll,
            Self::WallClockUsed,
        ];

        /// Plants this one in the thread, or none.
        pub(crate) fn plant(fault: Option<Self>) {
            PLANTED.set(fault);
        }
    }

    /// Whether this fault is planted in the thread.
    pub(crate) fn is_planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }
}

#[cfg(any(test, feature = "universe"))]
pub(crate) use self::switch::is_planted;

/// Nothing is planted in the product.
#[cfg(not(any(test, feature = "universe")))]
pub(crate) const fn is_planted(_: Fault) -> bool {
    false
}
