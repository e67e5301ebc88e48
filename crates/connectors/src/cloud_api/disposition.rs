//! The table of the provider's error codes.
//!
//! The provider's documents say to decide by the code, never by the HTTP status: 3 and 131045 come as 500,
//! 132001 as 404. Source: <https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes>, and
//! <https://developers.facebook.com/docs/graph-api/guides/error-handling> for codes below 1,000. The same codes
//! come in answers and, later, in webhooks.

mod documented;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

pub use self::documented::{ProviderCode, documented};
use crate::Disposition::{
    self, Block, Disconnect, Fail, HoldRecipient, HoldTemplate, Maintenance, Pair, Restrict, Retry,
    SlowAccount, SlowApp, SlowNumber, Suppress, Wait,
};
use domain::message::Failure;
use domain::suppression::Suppression::{Everything, Marketing};

/// The facts about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorFacts {
    pub(super) code: i64,
    pub(super) subcode: Option<i64>,
    pub(super) is_transient: bool,
    pub(super) is_server_error: bool,
    /// Whether the error names an object that is neither the number nor the business account.
    pub(super) is_about_another: bool,
}

/// Codes with the same meaning.
struct Group {
    means: Disposition,
    codes: &'static [i64],
    /// Ranges of codes. [`documented`] has the provider's text for each code.
    ranges: &'static [RangeInclusive<i64>],
}

impl Group {
    fn has(&self, code: i64) -> bool {
        self.codes.contains(&code) || self.ranges.iter().any(|range| range.contains(&code))
    }
}

/// Credentials: cannot authenticate (0), capability missing (3), permission not granted or removed (10, 200 to 299,
/// 131005), no token (104), token expired or invalidated (190).
const CREDENTIALS: Group =
    Group { means: Disconnect, codes: &[0, 3, 10, 104, 190, 131_005], ranges: &[200..=299] };

const TABLE: &[Group] = &[
    CREDENTIALS,
    // Registration: number deleted (33), no such object (803), certificate (131045), half deregistered
    // (133000), not verified (133006), not registered (133010). Also the errors of a registration (133005, 133008,
    // 133009: PIN; 133015, 133016: too soon, too often): until it succeeds, the number cannot send.
    Group {
        means: Disconnect,
        codes: &[33, 803, 131_045, 133_000, 133_005, 133_006, 133_008, 133_009, 133_010, 133_015, 133_016],
        ranges: &[],
    },
    // The account: policy (368), locked (131031), no approved display name (131037), does not pay (131042),
    // template violations (131064), terms of payments (134011).
    Group { means: Block, codes: &[368, 131_031, 131_037, 131_042, 131_064, 134_011], ranges: &[] },
    // The number was reported as spam: further attempts make it worse.
    Group { means: Restrict, codes: &[131_048], ranges: &[] },
    // Down or overloaded: the same request succeeds later.
    Group { means: Wait, codes: &[2, 131_016, 133_004], ranges: &[] },
    // The number sent more messages in a second than it may.
    Group { means: SlowNumber, codes: &[130_429], ranges: &[] },
    // The business account's hourly budget of requests is used up.
    Group { means: SlowAccount, codes: &[80_007, 80_008], ranges: &[] },
    // The budget of the app (4), its user (17), a page (32), or another of its limits (613) is used up.
    Group { means: SlowApp, codes: &[4, 17, 32, 613], ranges: &[] },
    // The provider works on the number or the account, such as when it raises the number's rate.
    Group { means: Maintenance, codes: &[131_057, 2_494_100], ranges: &[] },
    // Too many messages from this number to this recipient.
    Group { means: Pair, codes: &[131_056], ranges: &[] },
    // Something went wrong; the provider gives no cause.
    Group { means: Retry, codes: &[1, 131_000], ranges: &[] },
    // The template: does not exist in the language or is not approved (132001), breaks the policy (132007), is
    // paused (132015) or disabled (132016); its flow is blocked (132068) or throttled (132069); marketing must
    // be sent in another way (131063), for which the template is not synchronized yet (134101) or not suitable
    // (134102).
    Group {
        means: HoldTemplate,
        codes: &[131_063, 132_001, 132_007, 132_015, 132_016, 132_068, 132_069, 134_101, 134_102],
        ranges: &[],
    },
    // The recipient got enough marketing from all businesses; a retry within 24 hours prolongs the refusal.
    Group { means: HoldRecipient, codes: &[131_049], ranges: &[] },
    // The recipient stopped this business's marketing.
    Group { means: Suppress(Marketing), codes: &[131_050], ranges: &[] },
    // The business itself blocked the recipient.
    Group { means: Suppress(Everything), codes: &[130_403], ranges: &[] },
    // The recipient: takes part in an experiment (130472), lives where the business may not write (130497), is
    // the sender (131021), cannot be reached (131026), is not on a test number's list (131030), wrote last more
    // than a day ago (131047), cannot be addressed like this (131062), has a number that
    // belongs to another person now (137000).
    Group {
        means: Fail,
        codes: &[130_472, 130_497, 131_021, 131_026, 131_030, 131_047, 131_062, 137_000],
        ranges: &[],
    },
    // The message: a parameter (100, 131008, 131009, 135000), its kind (130501, 131051), its file (131052,
    // 131053), the template's values (132000, 132005, 132012, 132018), not marketing where only marketing
    // may be sent (131055, 134100).
    Group {
        means: Fail,
        codes: &[
            100, 130_501, 131_008, 131_009, 131_051, 131_052, 131_053, 131_055, 132_000, 132_005, 132_012,
            132_018, 134_100, 135_000,
        ],
        ranges: &[],
    },
    // Not about messages: calls (138…), blocking people (139…), writing templates (2388…).
    Group { means: Fail, codes: &[], ranges: &[138_000..=138_999, 139_100..=139_103, 2_388_000..=2_388_999] },
];

/// The subcode of code 100 when the object that the request names does not exist or may not be used.
const NO_SUCH_OBJECT: i64 = 33;

/// The meaning of a code in the table, without other facts of an answer; `None` for a code that is not in the
/// table.
pub fn meaning(code: i64) -> Option<Disposition> {
    TABLE.iter().find(|group| group.has(code)).map(|group| group.means)
}

/// All codes of the table, as ranges.
pub fn known_codes() -> impl Iterator<Item = RangeInclusive<i64>> {
    let single = |group: &'static Group| group.codes.iter().map(|code| *code..=*code);
    TABLE.iter().flat_map(move |group| single(group).chain(group.ranges.iter().cloned()))
}

/// Whether the provider refused the credentials, and not the request.
pub fn refuses_credentials(failure: &Failure) -> bool {
    failure.code.is_some_and(|code| CREDENTIALS.has(code))
}

/// The meaning of an error. A code that is not in the table is retried when the provider says that the error
/// is temporary or the HTTP status is 5xx, and fails the message otherwise.
pub(super) fn disposition(error: &ErrorFacts) -> Disposition {
    // A missing file that was given by its id is a fault of the message, not of the channel.
    if error.code == 100 && error.subcode == Some(NO_SUCH_OBJECT) && !error.is_about_another {
        return Disconnect;
    }
    match meaning(error.code) {
        Some(disposition) => disposition,
        None if error.is_transient || error.is_server_error => Retry,
        None => Fail,
    }
}
