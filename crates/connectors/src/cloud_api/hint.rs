//! Hints in the headers of an answer: when to retry, and the id of the request in the provider's log.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::lenient::fields;
use crate::Disposition;

/// The longest delay, longer than the window of any of the provider's limits.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

fields! {
    /// One kind of usage of one business account.
    Use {
        texts
            /// In minutes.
            estimated_time_to_regain_access;
    }
}

/// The provider's delay after an error with this meaning: at most a day; `None` when it gives none. The
/// provider documents no `Retry-After`, but the header is honoured if it is present (in seconds; a date is
/// not read).
pub(super) fn retry_after(headers: &HeaderMap, disposition: Disposition) -> Option<Duration> {
    let seconds = text(headers, RETRY_AFTER.as_str())
        .and_then(|seconds| seconds.trim().parse().ok())
        .map(Duration::from_secs);
    let account = match disposition {
        Disposition::SlowAccount => text(headers, "x-business-use-case-usage").and_then(regain),
        _ => None,
    };
    seconds.max(account).filter(|wait| !wait.is_zero()).map(|wait| wait.min(LONGEST))
}

/// The longest delay of any usage of any business account in the header.
fn regain(usage: &str) -> Option<Duration> {
    let accounts: BTreeMap<Cow<'_, str>, Vec<Use<'_>>> = serde_json::from_str(usage).ok()?;
    let minutes = accounts
        .values()
        .flatten()
        .filter_map(|usage| usage.estimated_time_to_regain_access.whole())
        .filter_map(|minutes| u64::try_from(minutes).ok())
        .max()?;
    Some(Duration::from_secs(minutes.saturating_mul(60)))
}

/// A header's text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    const USAGE: &str = "x-business-use-case-usage";

    fn after(pairs: &[(&'static str, &'static str)], disposition: Disposition) -> Option<u64> {
        let headers =
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        retry_after(&headers.collect(), disposition).map(|wait| wait.as_secs())
    }

    #[test]
    fn a_delay_in_seconds_is_honoured_up_to_a_day() {
        let wait = |value| after(&[("retry-after", value)], Disposition::Wait);
        assert_eq!(wait("7"), Some(7));
        assert_eq!(wait("86401"), Some(86_400));
        assert_eq!(wait("18446744073709551615"), Some(86_400));
        for nothing in ["0", "-1", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", ""] {
            assert_eq!(wait(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn an_account_s_throttle_says_when_it_ends() {
        let usage = r#"{"102":[{"type":"whatsapp","estimated_time_to_regain_access":3},
            {"type":"whatsapp_business_management","estimated_time_to_regain_access":"12"},{"type":"x"}]}"#;
        assert_eq!(after(&[(USAGE, "")], Disposition::SlowAccount), None);
        let headers = |usage: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(USAGE, HeaderValue::from_str(&usage.replace('\n', " ")).unwrap());
            headers
        };
        let minutes = |usage, meaning| retry_after(&headers(usage), meaning).map(|wait| wait.as_secs() / 60);
        assert_eq!(minutes(usage, Disposition::SlowAccount), Some(12));
        assert_eq!(minutes(usage, Disposition::SlowNumber), None, "the header is only about the account");
        assert_eq!(
            minutes(r#"{"102":[{"estimated_time_to_regain_access":0}]}"#, Disposition::SlowAccount),
            None
        );
    }
}
