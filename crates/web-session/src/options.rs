//! The options of the driver.

use std::time::Duration;

use url::Url;

/// The options of the driver. [`Options::default`] is for WhatsApp itself; tests change the first four to run
/// against a server of their own, as `tests/it/web_session/mod.rs` does.
///
/// That works only in builds for tests. The library pins WhatsApp's certificate, and no option changes that.
/// Only the library's Cargo feature `danger-skip-cert-chain-verify` does, which the program has in its
/// `dev-dependencies`; a released binary is built without it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address for sessions; `wss://` or, without TLS, `ws://`.
    pub address: String,
    /// The host for HTTP requests in place of the one that they name:
    /// `https://media.example/mms/image/…?auth=…` becomes `http://127.0.0.1:1234/mms/image/…?auth=…`. `None`
    /// keeps their hosts.
    pub http_base: Option<Url>,
    /// The version that sessions report. With `None`, each session asks WhatsApp for its newest version once
    /// a day.
    pub app_version: Option<[u32; 3]>,
    /// How many one-time keys a device offers, 1 to 812; WhatsApp Web has 812. Fewer make tests faster.
    pub prekeys: usize,
    /// Threads for all sessions together.
    pub threads: usize,
    /// Sessions that connect at the same time, so that not all do when the network comes back. The others
    /// wait in a queue.
    pub dials_at_once: usize,
    /// The timeout of one HTTP request, such as an upload.
    pub http_timeout: Duration,
    /// The longest HTTP answer, in bytes. Answers are short, except for data that a phone synchronises, and files, whose size
    /// the caller knows before.
    pub most_answer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            address: String::from("wss://web.whatsapp.com/ws/chat"),
            http_base: None,
            app_version: None,
            prekeys: 812,
            threads: 2,
            dials_at_once: 32,
            http_timeout: Duration::from_secs(120),
            most_answer_bytes: 128 * 1024 * 1024,
        }
    }
}
