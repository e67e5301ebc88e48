//! What can be told to the driver.

use std::time::Duration;

use url::Url;

/// What can be told to the driver. [`Options::default`] is for WhatsApp itself; tests change the first four to run
/// against a server of their own:
///
/// ```no_run
/// # use pombo::connector::web_session::whatsapp::{Options, WhatsApp};
/// # fn run(port: u16) -> Result<(), Box<dyn std::error::Error>> {
/// let driver = WhatsApp::start(Options {
///     address: format!("ws://127.0.0.1:{port}/ws/chat"),
///     http_base: Some(format!("http://127.0.0.1:{port}").parse()?),
///     app_version: Some([2, 3000, 1_029_000_000]),
///     prekeys: 32,
///     ..Options::default()
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// That works in builds for tests only: the library knows WhatsApp's certificate by heart and takes no other, and
/// no option changes that. Cargo's feature `danger-skip-cert-chain-verify` of the library does, which this package
/// has among its `dev-dependencies`; a released binary is built without it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where sessions connect; `wss://` or, without TLS, `ws://`.
    pub address: String,
    /// Where requests by HTTP go instead of the host that they name: `https://media.example/mms/image/…?auth=…`
    /// becomes `http://127.0.0.1:1234/mms/image/…?auth=…`. `None` leaves them alone.
    pub http_base: Option<Url>,
    /// The version that the sessions say they have. `None` asks WhatsApp for its newest, once a day and session.
    pub app_version: Option<[u32; 3]>,
    /// How many one-time keys a device offers, 1 to 812; WhatsApp Web has 812. Fewer make tests faster.
    pub prekeys: usize,
    /// Threads for all sessions together.
    pub threads: usize,
    /// Sessions that dial at once, so that a thousand do not when the network comes back. The others wait in a queue.
    pub dials_at_once: usize,
    /// How long one request by HTTP may take in all, an upload above all.
    pub http_timeout: Duration,
    /// The longest answer by HTTP that is taken, in bytes. Answers are short; only what a phone synchronises is not.
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
            most_answer_bytes: 64 * 1024 * 1024,
        }
    }
}
