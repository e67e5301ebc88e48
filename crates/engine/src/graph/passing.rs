//! Requests of programs that are not for us (`graph.pass_through`): they go on to the provider, few at once and few in a minute.

use crate::TemplateDesk;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::GraphDoor;
use crate::templates::Declined;
use crate::{Engine, Error, RETRY_AFTER, Who};
use connectors::cloud_api::{LIBRARY, PassedAnswer, PassedRequest};
use domain::channel::Channel;
use domain::limit::Spent;
use domain::secret::Secret;

/// The most requests that are passed on at once.
const AT_ONCE: usize = 16;
/// The most requests with one token in [`MINUTE`].
const IN_A_MINUTE: u32 = 240;
const MINUTE: Duration = Duration::from_secs(60);
/// The most tokens whose requests are counted; when there are more, those whose minute is over are dropped.
const CAPACITY: usize = 10_000;

/// What bounds the requests that are passed on.
pub(crate) struct PassBounds {
    permits: Semaphore,
    /// By the hash of the token: when its minute began, and the requests since then.
    counts: Mutex<HashMap<u64, (Instant, u32)>>,
    hasher: RandomState,
}

impl Default for PassBounds {
    fn default() -> Self {
        let hasher = RandomState::new();
        Self { permits: Semaphore::new(AT_ONCE), counts: Mutex::new(HashMap::new()), hasher }
    }
}

impl PassBounds {
    /// Counts a request with this token, or says when another one may go.
    fn admit(&self, token: &Secret, now: Instant) -> Result<(), Duration> {
        let token = self.hasher.hash_one(token.expose());
        let mut counts = self.counts.lock();
        if counts.len() >= CAPACITY && !counts.contains_key(&token) {
            counts.retain(|_, (begun, _)| now.saturating_duration_since(*begun) < MINUTE);
            if counts.len() >= CAPACITY {
                return Err(MINUTE);
            }
        }
        let (begun, count) = counts.entry(token).or_insert((now, 0));
        let passed = now.saturating_duration_since(*begun);
        if passed >= MINUTE {
            (*begun, *count) = (now, 0);
        } else if *count >= IN_A_MINUTE {
            return Err(MINUTE.saturating_sub(passed));
        }
        *count += 1;
        Ok(())
    }
}

/// Passes a request on to the provider with the token that its caller gave, which is the provider's own.
///
/// # Errors
///
/// [`Error::TooSoon`], [`Error::Unavailable`]; `provider_unavailable`.
pub async fn pass_on(
    engine: &Engine,
    token: &Secret,
    request: PassedRequest<'_>,
) -> Result<PassedAnswer, Error> {
    let passed = pass(engine, token, request).await;
    count("caller", passed.as_ref());
    passed
}

async fn pass(engine: &Engine, token: &Secret, request: PassedRequest<'_>) -> Result<PassedAnswer, Error> {
    let bounds = &engine.0.pass_bounds;
    bounds.admit(token, Instant::now()).map_err(|retry_after| Error::TooSoon {
        retry_after,
        sentence: format!("{IN_A_MINUTE} requests in a minute are passed on to Meta, and no more"),
        spent: Spent::pause(retry_after),
    })?;
    let Ok(_permit) = bounds.permits.try_acquire() else {
        return Err(Error::Unavailable { retry_after: RETRY_AFTER });
    };
    let options = &engine.0.shared.cloud_api;
    let connections = engine.0.connections.here(options).map_err(Declined::from)?;
    Ok(connections.pass_on(options, token, request).await.map_err(Declined::from)?)
}

impl GraphDoor<'_> {
    /// Passes a request about a business account, or its number, on to the provider with the channel's own token. What may
    /// change something there is recorded.
    ///
    /// # Errors
    ///
    /// As [`pass_on`]; `reconnect_waba` when the channel has no token.
    pub async fn pass_on(
        &self,
        who: &Who,
        channel: &Channel,
        request: PassedRequest<'_>,
    ) -> Result<PassedAnswer, Error> {
        let token = TemplateDesk::of(self.engine, channel).token().await?;
        let is_change = request.method != "GET";
        let told = format!("{} {}", request.method, request.path.join("/"));
        let passed = pass(self.engine, &token, request).await;
        count("channel", passed.as_ref());
        if is_change {
            let status = passed.as_ref().ok().map(|answer| answer.status);
            let ids = self.engine.store().of(self.company).graph_ids();
            ids.record_passed(who, channel, &told, status).await?;
        }
        passed
    }

    /// A part of the provider's library of templates with a business account's own token, as the provider gives it.
    ///
    /// # Errors
    ///
    /// As [`pass_on`]; `reconnect_waba` when the channel has no token.
    pub async fn library(&self, channel: &Channel, query: Vec<(&str, &str)>) -> Result<PassedAnswer, Error> {
        let token = TemplateDesk::of(self.engine, channel).token().await?;
        let asked =
            PassedRequest { method: "GET", path: vec![LIBRARY], query, body: None, file_offset: None };
        let passed = pass(self.engine, &token, asked).await;
        count("channel", passed.as_ref());
        passed
    }
}

/// Counts a request by whose token it had and how it ended.
fn count(token: &'static str, passed: Result<&PassedAnswer, &Error>) {
    let result = match passed {
        Ok(answer) if answer.status < 400 => "answered",
        Ok(_) => "refused",
        Err(Error::TooSoon { .. } | Error::Unavailable { .. }) => "busy",
        Err(Error::Refused(_) | Error::Nobody { .. } | Error::Internal) => "failed",
    };
    metrics::counter!("pombo_graph_passed_total", "token" => token, "result" => result).increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_passes_so_many_requests_in_a_minute_and_delays_no_other() {
        let (bounds, now) = (PassBounds::default(), Instant::now());
        let [one, other] = ["EAAone", "EAAother"].map(|token| Secret::new(token.to_owned()));
        for _ in 0..IN_A_MINUTE {
            assert_eq!(bounds.admit(&one, now), Ok(()));
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(bounds.admit(&one, later), Err(Duration::from_secs(40)));
        assert_eq!(bounds.admit(&other, later), Ok(()));
        assert_eq!(bounds.admit(&one, now + MINUTE), Ok(()));
    }
}
