//! The provider's text for each code of the table, for people who look up a code.

use super::meaning;
use crate::Disposition;

/// A code of the provider, or a range of codes with the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderCode {
    /// The first code.
    pub first: i64,
    /// The last code; the same as the first for a single code.
    pub last: i64,
    /// The provider's text.
    pub says: &'static str,
    /// The meaning for the message and the channel.
    pub disposition: Disposition,
}

/// Every code of the table, in ascending order.
pub fn documented() -> impl Iterator<Item = ProviderCode> {
    CODES.iter().filter_map(|&(first, last, says)| {
        Some(ProviderCode { first, last, says, disposition: meaning(first)? })
    })
}

/// First code, last code, what the provider says.
pub(super) const CODES: &[(i64, i64, &str)] = &[
    (0, 0, "The token cannot be authenticated."),
    (1, 1, "Something went wrong, without a cause."),
    (2, 2, "The service is down or overloaded."),
    (3, 3, "The app lacks the capability."),
    (4, 4, "The app made too many requests."),
    (10, 10, "The permission was not granted, or was removed."),
    (17, 17, "The user of the token made too many requests."),
    (32, 32, "The page made too many requests."),
    (33, 33, "The phone number was deleted."),
    (100, 100, "A parameter is invalid."),
    (104, 104, "The request has no token."),
    (190, 190, "The token has expired or was invalidated."),
    (200, 299, "A permission is missing."),
    (368, 368, "The account was blocked for a violation of policy."),
    (613, 613, "A limit of the app's requests is used up."),
    (803, 803, "The number or account does not exist for this token."),
    (80_007, 80_007, "The business account's hourly budget of requests is used up."),
    (80_008, 80_008, "The business account's hourly budget of management requests is used up."),
    (130_403, 130_403, "The business itself blocked the recipient."),
    (130_429, 130_429, "The number sent more messages in a second than it may."),
    (130_472, 130_472, "The recipient takes part in an experiment of the provider."),
    (130_497, 130_497, "The business may not write to the recipient's country."),
    (130_501, 130_501, "This kind of message is not supported."),
    (131_000, 131_000, "Something went wrong, without a cause."),
    (131_005, 131_005, "The permission was not granted, or was removed."),
    (131_008, 131_008, "A required parameter is missing."),
    (131_009, 131_009, "The value of a parameter is invalid."),
    (131_016, 131_016, "The service is down or overloaded."),
    (131_021, 131_021, "The recipient is the sender."),
    (131_026, 131_026, "The recipient cannot be reached, for example because the number is not on WhatsApp."),
    (131_030, 131_030, "The recipient is not on the list of a test number."),
    (131_031, 131_031, "The account was locked."),
    (131_037, 131_037, "The number has no approved display name."),
    (131_042, 131_042, "The account's payment failed."),
    (131_045, 131_045, "The number's registration has a fault in its certificate."),
    (131_047, 131_047, "The recipient wrote last more than 24 hours ago: only templates may be sent."),
    (131_048, 131_048, "Too many recipients reported or blocked the number."),
    (131_049, 131_049, "The recipient got enough marketing messages from everybody."),
    (131_050, 131_050, "The recipient stopped marketing messages of this business."),
    (131_051, 131_051, "The type of the message is not supported."),
    (131_052, 131_052, "The file of the message cannot be downloaded."),
    (131_053, 131_053, "The file of the message cannot be uploaded."),
    (131_055, 131_055, "Only marketing templates may be sent in this way."),
    (131_056, 131_056, "Too many messages from this number to this recipient."),
    (131_057, 131_057, "The account is in maintenance, for example while its throughput is raised."),
    (131_062, 131_062, "The recipient cannot be addressed in this form."),
    (131_063, 131_063, "The template must be sent in another way."),
    (131_064, 131_064, "The account violated the rules for templates."),
    (132_000, 132_000, "The number of the template's values is wrong."),
    (132_001, 132_001, "The template does not exist in this language, or is not approved."),
    (132_005, 132_005, "The template's text with its values is too long."),
    (132_007, 132_007, "The template violates a policy."),
    (132_012, 132_012, "A value has the wrong format for the template."),
    (132_015, 132_015, "The template is paused for its quality."),
    (132_016, 132_016, "The template is disabled for its quality."),
    (132_018, 132_018, "The values do not fit the template."),
    (132_068, 132_068, "The template's flow is blocked."),
    (132_069, 132_069, "The template's flow is throttled."),
    (133_000, 133_000, "A deregistration of the number did not finish."),
    (133_004, 133_004, "The provider's server is not available."),
    (133_005, 133_005, "The PIN of the two-step verification is wrong."),
    (133_006, 133_006, "The number is not verified."),
    (133_008, 133_008, "The PIN was entered wrongly too often."),
    (133_009, 133_009, "The PIN was entered too fast."),
    (133_010, 133_010, "The number is not registered."),
    (133_015, 133_015, "The number was deleted a short time ago."),
    (133_016, 133_016, "The number was registered and deregistered too often."),
    (134_011, 134_011, "The terms of payments are not accepted."),
    (134_100, 134_100, "Only marketing messages may be sent in this way."),
    (134_101, 134_101, "The template is not synchronized yet."),
    (134_102, 134_102, "The template cannot be sent in this way."),
    (135_000, 135_000, "A parameter of the message is wrong, without a cause."),
    (137_000, 137_000, "The number belongs to another person by now."),
    (138_000, 138_999, "Calls."),
    (139_100, 139_103, "Blocking people."),
    (2_388_000, 2_388_999, "Writing templates."),
    (2_494_100, 2_494_100, "The number is in maintenance."),
];
