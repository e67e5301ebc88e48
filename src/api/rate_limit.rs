//! The rate limit headers (draft-ietf-httpapi-ratelimit-headers): the requests of a company, and the limit of a
//! channel that refused a request.

use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::domain::limit::Spent;
use crate::engine::Allowance;

/// The header with the limit.
pub(super) const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
/// The header with the rest of the limit.
pub(super) const LEFT: HeaderName = HeaderName::from_static("ratelimit");

/// Rounded up, and at least one: a client that waits this long is not too early.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// The policy of a channel's limit.
pub(super) fn policy_of(Spent { name, allows, window }: &Spent) -> String {
    format!(r#""{name}";q={allows};w={}"#, whole_seconds(*window))
}

/// The header's value when nothing is left of a channel's limit until a time.
pub(super) fn nothing_left(Spent { name, .. }: &Spent, until: Duration) -> String {
    format!(r#""{name}";r=0;t={}"#, whole_seconds(until))
}

/// Adds the limit of a company's requests and the remaining requests, in front of the limit of a channel if the
/// answer has one.
pub(super) fn show(allowance: &Allowance, headers: &mut HeaderMap) {
    let Allowance { limit, window, remaining, reset } = allowance;
    let policy = format!(r#""api";q={limit};w={}"#, window.as_secs());
    let left = format!(r#""api";r={remaining};t={}"#, whole_seconds(*reset));
    for (name, mut value) in [(POLICY, policy), (LEFT, left)] {
        if let Some(channel) = headers.get(&name).and_then(|value| value.to_str().ok()) {
            value = format!("{value}, {channel}");
        }
        // The value is always valid: it contains only digits and the letters above.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limit::Name;

    #[test]
    fn a_wait_is_rounded_up_to_whole_seconds() {
        let told = |millis| whole_seconds(Duration::from_millis(millis));
        assert_eq!([told(0), told(1), told(1000), told(1001)], [1, 1, 1, 2]);
    }

    #[test]
    fn the_limit_of_the_company_comes_before_the_limit_of_the_channel() {
        let second = Duration::from_secs(1);
        let spent = Spent { name: Name::DailyCap, allows: 2, window: Duration::from_secs(86_400) };
        let mut headers = HeaderMap::new();
        headers.insert(POLICY, HeaderValue::try_from(policy_of(&spent)).unwrap());
        headers.insert(LEFT, HeaderValue::try_from(nothing_left(&spent, second)).unwrap());
        show(&Allowance { limit: 5, window: second, remaining: 3, reset: second }, &mut headers);
        let read = |name| headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(read(POLICY), r#""api";q=5;w=1, "daily_cap";q=2;w=86400"#);
        assert_eq!(read(LEFT), r#""api";r=3;t=1, "daily_cap";r=0;t=1"#);
    }
}
