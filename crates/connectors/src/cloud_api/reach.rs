//! Checks without a token whether the provider can be reached from this machine, for operators.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::DATE;

use super::Error;
use crate::http;
use clock::Timestamp;

/// The facts from any answer of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// How far our clock is ahead of the provider's, in milliseconds; negative when it is behind. Zero when
    /// the answer's date agrees with our clock; `None` when it has no date.
    pub clock_ahead: Option<i64>,
}

/// Requests the root path of the configured version.
///
/// # Errors
///
/// [`Error::NoAnswer`], without the address, which may contain a proxy's password.
pub async fn reach(
    options: &config::CloudApi,
    network: &config::Network,
    patience: Duration,
) -> Result<Reached, Error> {
    let no_answer = |words: &str| Error::NoAnswer(words.to_owned());
    let client = http::outward(network)?
        .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
        .timeout(patience)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|_| no_answer("cannot make a client"))?;
    let mut url = Url::parse(&options.base_url).map_err(|_| no_answer("cloud_api.base_url is not a URL"))?;
    url.path_segments_mut()
        .map_err(|()| no_answer("cloud_api.base_url cannot carry a path"))?
        .pop_if_empty()
        .push(&options.version);
    let asked_at = Timestamp::now();
    let answer = client.get(url).send().await.map_err(|error| no_answer(&words(error)))?;
    let answered_at = Timestamp::now();
    let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| Timestamp::parse_http(date).ok());
    Ok(Reached { clock_ahead: date.map(|date| ahead(asked_at, answered_at, date)) })
}

/// The difference of the clocks: the provider answered within the second of its date, and between these two
/// times of our clock.
fn ahead(asked_at: Timestamp, answered_at: Timestamp, date: Timestamp) -> i64 {
    let (earliest, latest) = (date.millis(), date.millis().saturating_add(999));
    if asked_at.millis() > latest {
        asked_at.millis() - latest
    } else if answered_at.millis() < earliest {
        answered_at.millis() - earliest
    } else {
        0
    }
}

/// The innermost reason, which is the most specific.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return "it took too long".to_owned();
    }
    let mut reason: &dyn std::error::Error = &error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_off_only_when_no_moment_of_the_answer_fits() {
        let at = Timestamp::from_millis;
        assert_eq!(ahead(at(10_200), at(10_900), at(10_000)), 0);
        assert_eq!(ahead(at(9_500), at(10_000), at(10_000)), 0, "the answer came in the last moment");
        assert_eq!(ahead(at(70_999), at(71_500), at(10_000)), 60_000);
        assert_eq!(ahead(at(3_000), at(4_000), at(10_000)), -6_000);
    }
}
