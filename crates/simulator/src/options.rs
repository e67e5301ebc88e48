//! The options of a simulator.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

use super::fail::Fail;
use super::latency::Latency;
use super::level::{Level, Throttle};
use super::span::duration;
use super::web_session::WebSessionOptions;
use super::written::{WrittenContent, answers};

/// The most statuses in one webhook, as at the provider.
pub(super) const LARGEST_BATCH: usize = 1_000;

/// How the simulator listens and behaves. `Default` is for tests: a free port on the loopback,
/// no latency, seeded accounts only, no receipts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; port 0 takes a free port.
    pub bind: SocketAddr,
    /// Threads that answer requests. One is plenty for tens of thousands of sends per second.
    pub workers: usize,
    /// How long answers to sends take. Zero costs nothing: no timer is set.
    pub latency: Latency,
    /// The messages that fail, also after a reset. The first entry whose turn it is decides.
    pub failures: Vec<Fail>,
    /// The level of numbers that are created on first use, whose limit is then enforced; without it, they have no limit.
    pub level: Option<Level>,
    /// Accept every well-formed id and token instead of seeded ones only: any non-empty token that does not
    /// begin with `EXPIRED`, any id of digits. Numbers and business accounts are created on first use, and
    /// share one catalogue of templates ([`super::default_templates`]).
    pub accept_any: bool,
    /// The HTTP status of rate-limit answers. The provider's documentation has had both 400 and 429.
    pub throttle_status: u16,
    /// Whether the limit per (number, recipient) is enforced (code 131056).
    pub pair_throttle: bool,
    /// Whether messages that are no templates are refused (code 131047) for people who wrote more than 24 hours ago, or
    /// never.
    pub service_window: bool,
    /// The receiver of status webhooks; `None` sends none.
    pub receipts: Option<ReceiptOptions>,
    /// How many of the newest accepted messages the log can show, roughly 90 bytes each. Figures per number
    /// are exact over all messages, independent of this.
    pub log_limit: usize,
    /// How many of the newest request bodies the log keeps.
    pub body_limit: usize,
    /// The options of linked devices; no other option applies to them.
    pub web_sessions: WebSessionOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            workers: 1,
            latency: Latency::default(),
            failures: Vec::new(),
            level: None,
            accept_any: false,
            throttle_status: 400,
            pair_throttle: false,
            service_window: false,
            receipts: None,
            log_limit: 2_000_000,
            body_limit: 10_000,
            web_sessions: WebSessionOptions::default(),
        }
    }
}

/// Where webhooks go and what those with statuses look like. Also the body of `POST /_sim/webhook`, with
/// durations as text (`"2s"`); absent fields have the values of `Default`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceiptOptions {
    /// The receiver: an absolute http address.
    pub url: String,
    /// The key of `X-Hub-Signature-256`.
    pub app_secret: String,
    /// Only webhooks about this number; without it and `waba_id`, all webhooks that have no other receiver.
    pub phone_number_id: Option<String>,
    /// Only webhooks about this account. A number's own receiver has priority.
    pub waba_id: Option<String>,
    /// When given, the receiver must first answer the subscription handshake with this token.
    pub verify_token: Option<String>,
    /// From the acceptance of a message to its `sent`.
    #[serde(deserialize_with = "duration")]
    pub sent_after: Duration,
    /// From `sent` to `delivered`.
    #[serde(deserialize_with = "duration")]
    pub delivered_after: Duration,
    /// From `delivered` to `read`.
    #[serde(deserialize_with = "duration")]
    pub read_after: Duration,
    /// From the last status of a message to its answer.
    #[serde(deserialize_with = "duration")]
    pub answer_after: Duration,
    /// The share of messages that people answer, 0 to 1.
    pub answer_probability: f64,
    /// What they answer, each time one of these; in JSON, also the word `varied` for [`WrittenContent::varied`].
    #[serde(deserialize_with = "answers")]
    pub answers: Vec<WrittenContent>,
    /// The share of messages that are read, 0 to 1.
    pub read_probability: f64,
    /// The share of messages whose statuses come in the reverse order, and of answers that come late, 0 to 1.
    pub reorder_probability: f64,
    /// The share of messages whose every status comes twice, and of answers that come twice, 0 to 1.
    pub duplicate_probability: f64,
    /// Deliver the first status of a message before its send is answered.
    pub before_reply: bool,
    /// The most statuses in one webhook, 1 to 1,000.
    pub batch: usize,
    /// The maximum number of messages with outstanding statuses; further messages get none and are counted.
    pub queue_limit: usize,
    /// The wait before a refused webhook is repeated; it doubles up to 30 s.
    #[serde(deserialize_with = "duration")]
    pub retry_after: Duration,
    /// The maximum number of attempts for a webhook; after the last one it is dropped and counted.
    pub attempts: u32,
    /// The seed of the random shares above.
    pub seed: u64,
}

impl Default for ReceiptOptions {
    fn default() -> Self {
        Self {
            url: String::new(),
            app_secret: String::new(),
            phone_number_id: None,
            waba_id: None,
            verify_token: None,
            sent_after: Duration::ZERO,
            delivered_after: Duration::from_millis(200),
            read_after: Duration::from_secs(1),
            answer_after: Duration::from_secs(1),
            answer_probability: 0.0,
            answers: WrittenContent::usual(),
            read_probability: 0.5,
            reorder_probability: 0.0,
            duplicate_probability: 0.0,
            before_reply: false,
            batch: LARGEST_BATCH,
            queue_limit: 1_000_000,
            retry_after: Duration::from_millis(250),
            attempts: 12,
            seed: 1,
        }
    }
}

impl Options {
    /// When a number that is created on first use answers with 130429.
    pub(super) fn throttle_on_first_use(&self) -> Throttle {
        self.level.map_or(Throttle::Unlimited, |_| Throttle::ByLevel)
    }
}

impl ReceiptOptions {
    /// Receipts with the usual timing to this address, signed with this secret.
    pub fn to(url: impl Into<String>, app_secret: impl Into<String>) -> Self {
        Self { url: url.into(), app_secret: app_secret.into(), ..Self::default() }
    }

    /// A sentence about a fault of these options, if there is one.
    pub(super) fn fault(&self) -> Option<String> {
        let shares = [
            ("read_probability", self.read_probability),
            ("answer_probability", self.answer_probability),
            ("reorder_probability", self.reorder_probability),
            ("duplicate_probability", self.duplicate_probability),
        ];
        if let Some((name, _)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Some(format!("{name} must be between 0 and 1"));
        }
        let address = url::Url::parse(&self.url);
        if !address.is_ok_and(|address| matches!(address.scheme(), "http" | "https")) {
            return Some(format!("url must be an absolute http address, not `{}`", self.url));
        }
        if !(1..=LARGEST_BATCH).contains(&self.batch) {
            return Some(format!("batch must be between 1 and {LARGEST_BATCH}"));
        }
        if self.phone_number_id.is_some() && self.waba_id.is_some() {
            return Some("phone_number_id and waba_id exclude each other".to_owned());
        }
        if self.answers.is_empty() {
            return Some("answers must not be empty".to_owned());
        }
        if let Some(fault) = self.answers.iter().find_map(WrittenContent::fault_as_answer) {
            return Some(format!("answers: {fault}"));
        }
        if self.app_secret.is_empty() {
            return Some("app_secret must not be empty".to_owned());
        }
        None
    }
}
