//! The receiver: the simulated provider that the service sends to. Its counts are read over its own HTTP
//! surface.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The timeout of the simulator's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A simulator.
#[derive(Debug, Clone)]
pub(super) struct Simulator {
    client: Client,
    base_url: String,
}

/// One of its numbers, with its counts when the test began.
#[derive(Debug)]
pub(super) struct Receiver {
    simulator: Simulator,
    number: String,
    before: Figures,
    /// The column of the timeline that the first message fell into, and when that arrived.
    origin: (u64, Instant),
    /// Accepted messages by tenth of a second, of the whole test.
    columns: BTreeMap<u64, u32>,
}

/// The counts of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Figures {
    pub(super) messages: u64,
    pub(super) repeated: u64,
    pub(super) max_accepted_per_second: u32,
    pub(super) refused: u64,
    pub(super) throttled: u64,
}

#[derive(Deserialize)]
struct Timeline {
    step_ms: u64,
    begins_ms: u64,
    accepted: Vec<u32>,
}

impl Simulator {
    /// Checks that there is a simulator.
    pub(super) async fn find(base_url: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().timeout(PATIENCE).tcp_nodelay(true).build()?;
        let simulator = Self { client, base_url: base_url.trim_end_matches('/').to_owned() };
        let numbers: Value = simulator.ask("/_sim/numbers").await?;
        if numbers["data"].is_array() { Ok(simulator) } else { bail!("{base_url} is no simulator of Pombo") }
    }

    /// Lets messages that are no templates go to people who never wrote: those of a load test are such. It stays so.
    pub(super) async fn open_windows(&self) -> anyhow::Result<()> {
        let url = format!("{}/_sim/script", self.base_url);
        let answer = self.client.post(&url).json(&json!({ "service_window": false })).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        answer.with_context(|| format!("{url} takes no script"))?;
        Ok(())
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let url = format!("{}{path}", self.base_url);
        let no_simulator = || format!("no simulator answers at {url}");
        let answer = self.client.get(&url).send().await.and_then(reqwest::Response::error_for_status);
        answer.with_context(no_simulator)?.json().await.with_context(no_simulator)
    }

    /// The number that sent a message to this recipient; `None` while none has arrived.
    pub(super) async fn sender_of(&self, to: &str) -> anyhow::Result<Option<String>> {
        let path = format!("/_sim/messages?limit=1&to={}", to.trim_start_matches('+'));
        let found: Value = self.ask(&path).await?;
        Ok(found["data"][0]["phone_number_id"].as_str().map(str::to_owned))
    }

    /// A receiver that counts from now on; the number's newest message has just arrived.
    pub(super) async fn receiver(self, number: String) -> anyhow::Result<Receiver> {
        let timeline: Timeline = self.ask(&format!("/_sim/numbers/{number}/timeline")).await?;
        let newest = timeline.columns().last().map_or(0, |(column, _)| column);
        let before = self.ask(&format!("/_sim/numbers/{number}")).await?;
        let origin = (newest, Instant::now());
        Ok(Receiver { simulator: self, number, before, origin, columns: BTreeMap::new() })
    }
}

impl Timeline {
    /// The columns, each with its number since the simulator's start.
    fn columns(&self) -> impl Iterator<Item = (u64, u32)> {
        (self.begins_ms / self.step_ms.max(1)..).zip(self.accepted.iter().copied())
    }
}

impl Receiver {
    /// Its counts since the test began.
    pub(super) async fn figures(&self) -> anyhow::Result<Figures> {
        let now: Figures = self.simulator.ask(&format!("/_sim/numbers/{}", self.number)).await?;
        let before = &self.before;
        Ok(Figures {
            messages: now.messages.saturating_sub(before.messages),
            repeated: now.repeated.saturating_sub(before.repeated),
            refused: now.refused.saturating_sub(before.refused),
            throttled: now.throttled.saturating_sub(before.throttled),
            max_accepted_per_second: now.max_accepted_per_second,
        })
    }

    /// Reads the arrivals since the last read. It must be called before the simulator removes them.
    pub(super) async fn look(&mut self) -> anyhow::Result<()> {
        let timeline: Timeline =
            self.simulator.ask(&format!("/_sim/numbers/{}/timeline", self.number)).await?;
        let first = self.origin.0;
        self.columns.extend(timeline.columns().filter(|(column, _)| *column > first));
        Ok(())
    }

    /// Accepted messages by tenth of a second since `begin`, the first tenth first.
    pub(super) fn arrivals(&self, begin: Instant) -> Vec<u32> {
        let (column, at) = self.origin;
        let passed = begin.saturating_duration_since(at).as_millis() / 100;
        let first = column + u64::try_from(passed).unwrap_or_default();
        let Some((last, _)) = self.columns.last_key_value() else { return Vec::new() };
        (first..=*last).map(|column| self.columns.get(&column).copied().unwrap_or_default()).collect()
    }

    /// The most messages within any one second of this test, and whether to the millisecond: the simulator
    /// keeps only its highest figure, which may be older than the test.
    pub(super) fn most_in_a_second(&self, now: &Figures) -> (u64, bool) {
        let highest = now.max_accepted_per_second;
        if highest > self.before.max_accepted_per_second || self.before.messages <= 1 {
            return (highest.into(), true);
        }
        let columns = self.arrivals(self.origin.1);
        let sum = |second: &[u32]| second.iter().map(|count| u64::from(*count)).sum();
        let seconds = columns.windows(10.min(columns.len().max(1)));
        (seconds.map(sum).max().unwrap_or_default(), false)
    }
}
