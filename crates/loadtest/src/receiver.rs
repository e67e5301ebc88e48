//! The receivers: the numbers of the simulated provider that the service sends to. Their counts are read over its own
//! HTTP surface.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use reqwest::Client;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The timeout of the simulator's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two looks at outstanding receipts.
const PAUSE: Duration = Duration::from_millis(10);

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
    /// The column of the timeline that the newest message before the test fell into.
    newest: u64,
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

    /// Sets the receiver of webhooks that this body describes.
    pub(super) async fn aim(&self, webhook: &Map<String, Value>) -> anyhow::Result<()> {
        let url = format!("{}/_sim/webhook", self.base_url);
        let answer = self.client.post(&url).json(webhook).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        answer.with_context(|| format!("{url} takes no receiver of webhooks"))?;
        Ok(())
    }

    /// Lets people write these messages. Returns their ids.
    pub(super) async fn write(&self, messages: &Value) -> anyhow::Result<Vec<String>> {
        let url = format!("{}/_sim/write", self.base_url);
        let answer = self.client.post(&url).json(messages).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        let written: Value =
            answer.with_context(|| format!("{url} takes no messages of people"))?.json().await?;
        let ids = written["data"].as_array().into_iter().flatten();
        Ok(ids.filter_map(|one| one["id"].as_str()).map(str::to_owned).collect())
    }

    /// A receiver that counts from now on.
    async fn receiver(self, number: String) -> anyhow::Result<Receiver> {
        let timeline: Timeline = self.ask(&format!("/_sim/numbers/{number}/timeline")).await?;
        let newest = timeline.columns().last().map_or(0, |(column, _)| column);
        let before = self.ask(&format!("/_sim/numbers/{number}")).await?;
        Ok(Receiver { simulator: self, number, before, newest, columns: BTreeMap::new() })
    }
}

impl Timeline {
    /// The columns, each with its number since the simulator's start.
    fn columns(&self) -> impl Iterator<Item = (u64, u32)> {
        (self.begins_ms / self.step_ms.max(1)..).zip(self.accepted.iter().copied())
    }
}

impl Figures {
    /// The sum of several numbers; the most in a second is not known then.
    pub(super) fn sum(all: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u64| all.iter().map(of).sum();
        Self {
            messages: sum(|figures| figures.messages),
            repeated: sum(|figures| figures.repeated),
            max_accepted_per_second: 0,
            refused: sum(|figures| figures.refused),
            throttled: sum(|figures| figures.throttled),
        }
    }
}

/// The receivers of all channels, in the order of these.
#[derive(Debug)]
pub(super) struct Receivers {
    all: Vec<Receiver>,
    /// A column of the timeline, and when it was the newest.
    origin: (u64, Instant),
}

impl Receivers {
    /// Receivers that count from now on; the newest message of the last number has just arrived.
    pub(super) async fn begin(simulator: Simulator, numbers: Vec<String>) -> anyhow::Result<Self> {
        let mut all = Vec::new();
        for number in numbers {
            all.push(simulator.clone().receiver(number).await?);
        }
        let newest = all.iter().map(|receiver| receiver.newest).max().unwrap_or_default();
        Ok(Self { all, origin: (newest, Instant::now()) })
    }

    /// The counts of each since the test began.
    pub(super) async fn each(&self) -> anyhow::Result<Vec<Figures>> {
        let mut all = Vec::new();
        for receiver in &self.all {
            all.push(receiver.figures().await?);
        }
        Ok(all)
    }

    /// The counts of all together.
    pub(super) async fn figures(&self) -> anyhow::Result<Figures> {
        Ok(Figures::sum(&self.each().await?))
    }

    /// Reads the arrivals since the last read. It must be called before the simulator removes them.
    pub(super) async fn look(&mut self) -> anyhow::Result<()> {
        for receiver in &mut self.all {
            receiver.look().await?;
        }
        Ok(())
    }

    /// Accepted messages of each channel by tenth of a second since `begin`, the first tenth first.
    pub(super) fn each_by_tenth(&self, begin: Instant) -> Vec<Vec<u32>> {
        let (column, at) = self.origin;
        let passed = begin.saturating_duration_since(at).as_millis() / 100;
        let first = column + u64::try_from(passed).unwrap_or_default();
        self.all.iter().map(|receiver| receiver.arrivals(first)).collect()
    }

    /// Accepted messages of all channels by tenth of a second since `begin`.
    pub(super) fn by_tenth(&self, begin: Instant) -> Vec<u32> {
        total(&self.each_by_tenth(begin))
    }

    /// The most messages within any one second of this test at each channel, and whether to the millisecond.
    pub(super) fn each_most_in_a_second(&self, now: &[Figures]) -> Vec<(u64, bool)> {
        self.all.iter().zip(now).map(|(receiver, figures)| receiver.most_in_a_second(figures)).collect()
    }
}

/// The sum of several traces.
pub(super) fn total(traces: &[Vec<u32>]) -> Vec<u32> {
    let length = traces.iter().map(Vec::len).max().unwrap_or_default();
    let at = |place: usize| traces.iter().filter_map(|trace| trace.get(place)).sum();
    (0..length).map(at).collect()
}

/// The most in any ten neighbouring tenths.
pub(super) fn most_in_ten(by_tenth: &[u32]) -> u64 {
    let sum = |second: &[u32]| second.iter().map(|count| u64::from(*count)).sum();
    by_tenth.windows(10.min(by_tenth.len().max(1))).map(sum).max().unwrap_or_default()
}

/// The simulator's webhooks: receipts and answers.
#[derive(Debug)]
pub(super) struct Webhooks {
    simulator: Simulator,
    before: WebhookFigures,
}

/// The outcomes of webhooks since the test began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct WebhookFigures {
    pub(super) messages_waiting: u64,
    pub(super) statuses_delivered: u64,
    #[serde(default)]
    pub(super) failures_delivered: u64,
    pub(super) notices_delivered: u64,
    pub(super) webhooks_delivered: u64,
    pub(super) webhooks_refused: u64,
    pub(super) statuses_given_up: u64,
    pub(super) messages_without_receipts: u64,
}

impl Webhooks {
    /// Counts from now on; before, it waits for receipts that are outstanding, but no longer than `patience`.
    pub(super) async fn begin(simulator: Simulator, patience: Duration) -> anyhow::Result<Self> {
        let deadline = Instant::now() + patience;
        loop {
            let before: WebhookFigures = simulator.ask("/_sim/webhook").await?;
            if before.messages_waiting == 0 || Instant::now() >= deadline {
                return Ok(Self { simulator, before });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The outcomes since the test began.
    pub(super) async fn figures(&self) -> anyhow::Result<WebhookFigures> {
        let now: WebhookFigures = self.simulator.ask("/_sim/webhook").await?;
        let before = &self.before;
        Ok(WebhookFigures {
            messages_waiting: now.messages_waiting,
            statuses_delivered: now.statuses_delivered.saturating_sub(before.statuses_delivered),
            failures_delivered: now.failures_delivered.saturating_sub(before.failures_delivered),
            notices_delivered: now.notices_delivered.saturating_sub(before.notices_delivered),
            webhooks_delivered: now.webhooks_delivered.saturating_sub(before.webhooks_delivered),
            webhooks_refused: now.webhooks_refused.saturating_sub(before.webhooks_refused),
            statuses_given_up: now.statuses_given_up.saturating_sub(before.statuses_given_up),
            messages_without_receipts: now
                .messages_without_receipts
                .saturating_sub(before.messages_without_receipts),
        })
    }
}

impl Receiver {
    /// Its counts since the test began.
    async fn figures(&self) -> anyhow::Result<Figures> {
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

    async fn look(&mut self) -> anyhow::Result<()> {
        let timeline: Timeline =
            self.simulator.ask(&format!("/_sim/numbers/{}/timeline", self.number)).await?;
        let newest = self.newest;
        self.columns.extend(timeline.columns().filter(|(column, _)| *column > newest));
        Ok(())
    }

    /// Accepted messages by tenth of a second from this column on.
    fn arrivals(&self, first: u64) -> Vec<u32> {
        let Some((last, _)) = self.columns.last_key_value() else { return Vec::new() };
        (first..=*last).map(|column| self.columns.get(&column).copied().unwrap_or_default()).collect()
    }

    /// The most messages within any one second of this test, and whether to the millisecond: the simulator
    /// keeps only its highest figure, which may be older than the test.
    fn most_in_a_second(&self, now: &Figures) -> (u64, bool) {
        let highest = now.max_accepted_per_second;
        if highest > self.before.max_accepted_per_second || self.before.messages <= 1 {
            return (highest.into(), true);
        }
        (most_in_ten(&self.arrivals(self.newest + 1)), false)
    }
}
