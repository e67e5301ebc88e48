//! Why messages failed, in the person's language, with the code: the provider's, or a negative code of
//! Pombo's own.

use std::ops::RangeInclusive;

use maud::{Markup, html};

use super::explain::{self, Topic};
use crate::console::text::Text;

/// Codes of the provider that have the same meaning for a sender.
#[derive(Debug)]
pub(crate) struct Cause {
    /// The ranges of codes.
    pub(crate) codes: &'static [RangeInclusive<i64>],
    /// The key of the text that says what happened.
    pub(crate) words: &'static str,
    /// The key of the text that says what to do.
    pub(crate) remedy: &'static str,
}

/// A cause of these codes and texts.
macro_rules! causes {
    ($($words:literal, $remedy:literal: $($first:literal $(..= $last:literal)?),+;)*) => {
        /// The meanings of the provider's codes for a sender.
        pub(crate) const CAUSES: &[Cause] = &[$(
            Cause { codes: &[$(causes!(@span $first $($last)?)),+], words: $words, remedy: $remedy },
        )*];
    };
    (@span $only:literal) => { $only..=$only };
    (@span $first:literal $last:literal) => { $first..=$last };
}

causes! {
    "cause-contact-field", "help-cause-contact-field": -1;
    "cause-value", "help-cause-value": -2;
    "cause-unreachable", "help-cause-unreachable": 131_026;
    "cause-window", "help-cause-window": 131_047;
    "cause-frequency", "help-cause-frequency": 131_049;
    "cause-opted-out", "help-cause-opted-out": 131_050;
    "cause-experiment", "help-cause-experiment": 130_472;
    "cause-self", "help-cause-self": 131_021;
    "cause-not-allowed", "help-cause-not-allowed": 131_030;
    "cause-country", "help-cause-country": 130_497;
    "cause-blocked-recipient", "help-cause-blocked-recipient": 130_403;
    "cause-other-person", "help-cause-other-person": 131_062, 137_000;
    "cause-variables", "help-cause-variables": 132_000, 132_005, 132_012, 132_018;
    "cause-no-template", "help-cause-no-template": 132_001, 134_101;
    "cause-template-paused", "help-cause-template-paused": 132_007, 132_015, 132_016, 132_068, 132_069;
    "cause-marketing", "help-cause-marketing": 131_063, 134_102, 131_055, 134_100;
    "cause-media", "help-cause-media": 131_052, 131_053;
    "cause-parameter", "help-cause-parameter": 100, 130_501, 131_008, 131_009, 131_051, 135_000;
    "cause-too-fast", "help-cause-too-fast": 130_429, 131_056;
    "cause-throttled", "help-cause-throttled": 4, 17, 32, 613, 80_007, 80_008;
    "cause-reported", "help-cause-reported": 131_048;
    "cause-down", "help-cause-down": 1, 2, 131_000, 131_016, 133_004;
    "cause-maintenance", "help-cause-maintenance": 131_057, 2_494_100;
    "cause-credentials", "help-cause-credentials": 0, 3, 10, 104, 190, 131_005, 200..=299;
    "cause-registration", "help-cause-registration": 33, 803, 131_045, 133_000, 133_005, 133_006, 133_008, 133_009,
        133_010, 133_015, 133_016;
    "cause-account", "help-cause-account": 368, 131_031, 131_037, 131_042, 131_064, 134_011;
    "cause-no-message", "help-cause-no-message": 138_000..=138_999, 139_100..=139_103, 2_388_000..=2_388_999;
}

/// The cause that a code belongs to, with its range of codes.
fn find(code: i64) -> Option<(&'static Cause, &'static RangeInclusive<i64>)> {
    let span = |cause: &'static Cause| cause.codes.iter().find(|span| span.contains(&code));
    CAUSES.iter().find_map(|cause| Some((cause, span(cause)?)))
}

/// The codes that are explained together with this code; `None` for an unknown code.
pub(crate) fn span_of(code: i64) -> Option<&'static RangeInclusive<i64>> {
    find(code).map(|(_, span)| span)
}

/// The words for a code; a general sentence without a code or for an unknown one.
pub(crate) fn words(text: Text, code: Option<i64>) -> String {
    match (code.and_then(find), code) {
        (Some((cause, _)), _) => text.get(cause.words),
        (None, Some(_)) => text.get("cause-other"),
        (None, None) => text.get("cause-none"),
    }
}

/// What to do about a code; `None` without a code or for an unknown one.
pub(crate) fn remedy(text: Text, code: Option<i64>) -> Option<String> {
    code.and_then(find).map(|(cause, _)| text.get(cause.remedy))
}

/// The words and the code, which links to its explanation. A code of Pombo's own says nothing to people: the words link.
pub(crate) fn cause(text: Text, code: Option<i64>) -> Markup {
    let said = words(text, code);
    match code {
        Some(own) if own < 0 => explain::link(Topic::Code(own), &said),
        Some(code) => html! { (said) " " (explain::code(code)) },
        None => html! { (said) },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::connector::cloud_api;
    use crate::domain::message::own_code;

    #[test]
    fn every_code_that_the_connector_knows_has_its_words_once() {
        for span in cloud_api::known_codes() {
            for code in [*span.start(), *span.end()] {
                assert!(find(code).is_some(), "no text explains {code}");
            }
        }
        for own in own_code::ALL {
            assert!(find(own.code).is_some(), "no text explains {}", own.code);
        }
        let mut seen = HashSet::new();
        for span in CAUSES.iter().flat_map(|cause| cause.codes) {
            assert!(seen.insert(span.start()), "{span:?} is listed twice");
            let is_own = own_code::ALL.iter().any(|own| own.code == *span.start());
            let is_known = is_own || cloud_api::meaning(*span.start()).is_some();
            assert!(is_known, "the connector does not know {span:?}");
        }
        assert_eq!((span_of(205), span_of(999)), (Some(&(200..=299)), None));
    }
}
