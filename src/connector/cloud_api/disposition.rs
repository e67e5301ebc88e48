//! The table of the provider's error codes.
//!
//! The provider says to branch on the code, never on the HTTP status: 3 and 131045 come as 500, 132001 as
//! 404. Source: <https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes>.

use std::ops::RangeInclusive;

use crate::connector::Disposition::{self, Block, Disconnect, Fail, Retry, Wait};

/// What is known of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorFacts {
    pub(super) code: i64,
    pub(super) subcode: Option<i64>,
    pub(super) is_transient: bool,
    pub(super) is_server_error: bool,
}

/// Codes, first to last, and what they mean for a message and its channel.
const TABLE: &[(RangeInclusive<i64>, Disposition)] = &[
    // Credentials: cannot authenticate, no token, token expired or invalidated, permission missing.
    (0..=0, Disconnect),
    (3..=3, Disconnect),
    (10..=10, Disconnect),
    (104..=104, Disconnect),
    (190..=190, Disconnect),
    (200..=299, Disconnect),
    (131_005..=131_005, Disconnect),
    // Registration: number deleted, certificate, not registered, not verified, half deregistered.
    (33..=33, Disconnect),
    (131_045..=131_045, Disconnect),
    (133_000..=133_000, Disconnect),
    (133_006..=133_006, Disconnect),
    (133_010..=133_010, Disconnect),
    // The account: restricted, locked, does not pay, terms not accepted, no display name, violations,
    // spam.
    (368..=368, Block),
    (131_031..=131_031, Block),
    (131_037..=131_037, Block),
    (131_042..=131_042, Block),
    (131_048..=131_048, Block),
    (131_064..=131_064, Block),
    (134_011..=134_011, Block),
    // Refused for the rate or for maintenance, or down altogether: the same request succeeds later.
    (2..=2, Wait),
    (4..=4, Wait),
    (17..=17, Wait),
    (32..=32, Wait),
    (613..=613, Wait),
    (80_007..=80_008, Wait),
    (130_429..=130_429, Wait),
    (131_016..=131_016, Wait),
    (131_057..=131_057, Wait),
    (133_004..=133_004, Wait),
    (2_494_100..=2_494_100, Wait),
    // Something went wrong with this one.
    (1..=1, Retry),
    (131_000..=131_000, Retry),
    (131_056..=131_056, Retry),
    (132_069..=132_069, Retry),
    (134_101..=134_101, Retry),
    // The message or its recipient.
    (100..=100, Fail),
    (130_403..=130_403, Fail),
    (130_472..=130_472, Fail),
    (130_497..=130_497, Fail),
    (130_501..=130_501, Fail),
    (131_008..=131_009, Fail),
    (131_021..=131_021, Fail),
    (131_026..=131_026, Fail),
    (131_030..=131_030, Fail),
    (131_047..=131_047, Fail),
    (131_049..=131_053, Fail),
    (131_055..=131_055, Fail),
    (131_062..=131_063, Fail),
    (132_000..=132_068, Fail),
    (134_100..=134_100, Fail),
    (134_102..=134_102, Fail),
    (135_000..=135_000, Fail),
    (137_000..=137_000, Fail),
];

/// Of code 100: the object that the request names (here: the phone number) does not exist or may not be
/// used.
const NO_SUCH_OBJECT: i64 = 33;

/// What an error means. A code that is not in the table is retried when the provider says that it passes
/// or the HTTP status is 5xx, and fails the message otherwise.
pub(super) fn disposition(error: &ErrorFacts) -> Disposition {
    if error.code == 100 && error.subcode == Some(NO_SUCH_OBJECT) {
        return Disconnect;
    }
    match TABLE.iter().find(|(codes, _)| codes.contains(&error.code)) {
        Some((_, disposition)) => *disposition,
        None if error.is_transient || error.is_server_error => Retry,
        None => Fail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: i64) -> Disposition {
        disposition(&ErrorFacts { code, subcode: None, is_transient: false, is_server_error: false })
    }

    #[test]
    fn each_kind_of_code_has_its_meaning() {
        for (code, expected) in [
            (0, Disconnect),
            (3, Disconnect),
            (190, Disconnect),
            (230, Disconnect),
            (133_010, Disconnect),
            (368, Block),
            (131_042, Block),
            (130_429, Wait),
            (131_056, Retry),
            (131_000, Retry),
            (100, Fail),
            (131_026, Fail),
            (132_001, Fail),
            (132_015, Fail),
            (999_999, Fail),
        ] {
            assert_eq!(of(code), expected, "{code}");
        }
    }

    #[test]
    fn an_unknown_code_is_retried_only_when_it_may_pass() {
        let unknown = ErrorFacts { code: 999_999, subcode: None, is_transient: true, is_server_error: false };
        assert_eq!(disposition(&unknown), Retry);
        let unknown = ErrorFacts { is_transient: false, is_server_error: true, ..unknown };
        assert_eq!(disposition(&unknown), Retry);
    }

    #[test]
    fn a_phone_number_that_is_gone_disconnects() {
        let gone = ErrorFacts { code: 100, subcode: Some(33), is_transient: false, is_server_error: false };
        assert_eq!(disposition(&gone), Disconnect);
    }

    #[test]
    fn no_code_stands_twice() {
        for (index, (codes, _)) in TABLE.iter().enumerate() {
            for (others, _) in &TABLE[index + 1..] {
                assert!(codes.end() < others.start() || others.end() < codes.start(), "{codes:?} {others:?}");
            }
        }
    }
}
