//! `pombo demo phone`: links the phone that the simulator plays, in a demonstration that runs.

use std::path::Path;

use anyhow::{Context as _, bail};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use crate::app::demo::{Running, none_runs};
use crate::cli::Global;
use crate::cli::output::Output;
use crate::cli::pairing::{Screen, Service, Showing, follow, is_linked};
use crate::cli::remote::{Remote, Unanswered};
use crate::connector::http;

/// The text above a QR code.
const SCAN: &str =
    "The service shows this code, as `pombo channel pair` does. The simulator's phone scans it.";

pub(super) async fn run(global: &Global, data: &Path) -> anyhow::Result<()> {
    // The requests here are not encrypted, but the HTTP client needs a provider of cryptography.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let running = Running::find(data)?;
    let remote = Remote::new(&running.base_url, running.api_key.clone())?;
    let service = Service::new(remote, running.channel_id);
    let before = service.ask(Method::GET, None).await.map_err(|error| unanswered(error, data))?;
    let was_linked = is_linked(&before);

    let output = Output::new(global.json);
    let mut showing = Showing { output: &output, screen: Screen::keeping(), scan: SCAN };
    let phone = Phone::new(&running)?;
    let pairing = follow(&mut showing, &service, None, async |code| phone.scan(code).await).await?;
    let number = pairing["phone_number"].as_str().unwrap_or("a phone");
    let how = if was_linked { "is linked already, and connected as" } else { "is connected as" };
    let said = format!("The channel `demo phone` {how} {number}.\n\n{}", to_try(&running));
    showing.end(&record(&running, &pairing, was_linked), &said)
}

/// Explains an error when no service answers: a demonstration that was killed leaves its file behind.
fn unanswered(error: anyhow::Error, data: &Path) -> anyhow::Error {
    if error.is::<Unanswered>() { none_runs(data) } else { error }
}

fn to_try(running: &Running) -> String {
    format!(
        "To try:\n  # a text to one number\n  {}\n  # what arrived, and whether it was read\n  curl {}",
        running.send_command(),
        running.messages_url()
    )
}

fn record(running: &Running, pairing: &Value, was_linked: bool) -> Value {
    json!({
        "channel_id": running.channel_id,
        "state": pairing["state"],
        "status": pairing["status"],
        "phone_number": pairing["phone_number"],
        "was_linked": was_linked,
        "send_command": running.send_command(),
        "messages_url": running.messages_url(),
    })
}

/// The phone that the simulator plays.
struct Phone {
    client: Client,
    url: String,
}

impl Phone {
    fn new(running: &Running) -> anyhow::Result<Self> {
        let client = http::direct().build().context("cannot make an HTTP client")?;
        Ok(Self { client, url: format!("{}/phone/scan", running.simulator_url) })
    }

    /// Links the device that shows this code. A code that was replaced meanwhile is skipped, because the next one
    /// follows.
    async fn scan(&self, code: &str) -> anyhow::Result<()> {
        let scanned = self.client.post(&self.url).json(&json!({ "code": code })).send().await;
        let status = scanned.with_context(|| format!("no simulator answers at {}", self.url))?.status();
        if !status.is_success() && status != StatusCode::NOT_FOUND {
            bail!("the simulator's phone answered {status} at {}", self.url);
        }
        Ok(())
    }
}
