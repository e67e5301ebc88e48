//! Following a pairing until the channel is connected.

use std::time::{Duration, Instant};

use anyhow::bail;
use reqwest::Method;
use serde_json::{Value, json};

use super::Service;
use super::passkey::{GateFollower, is_at_gate};
use super::screen::{Screen, drawn};
use crate::cli::output::Output;
use crate::domain::phone::PhoneNumber;

/// The time between two requests.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the connection may take once a phone is linked.
const CONNECTING: Duration = Duration::from_secs(60);

/// How a pairing is shown.
pub(in crate::cli) struct Showing<'a> {
    pub(in crate::cli) output: &'a Output,
    pub(in crate::cli) screen: Screen,
    /// The text above a QR code.
    pub(in crate::cli) scan: &'static str,
}

impl Showing<'_> {
    /// Writes this text, unless it is shown already. Returns whether it was written.
    pub(super) fn show(&mut self, record: &Value, text: String) -> anyhow::Result<bool> {
        match self.screen.next(text) {
            Some(written) => self.output.record(record, &written).map(|()| true),
            None => Ok(false),
        }
    }

    /// Writes the result, in place of the text that is shown.
    pub(in crate::cli) fn end(&self, record: &Value, said: &str) -> anyhow::Result<()> {
        self.output.record(record, &self.screen.instead(said))
    }
}

/// Begins the pairing, with a code to be typed if there is a `phone`, and follows it until the channel is
/// connected. Returns the pairing as it is then. Each QR code is handed to `see` when it is shown.
pub(in crate::cli) async fn follow(
    showing: &mut Showing<'_>,
    service: &Service,
    phone: Option<PhoneNumber>,
    mut see: impl AsyncFnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<Value> {
    let body = phone.map(|phone| json!({ "phone_number": phone.to_string() }));
    let mut pairing = service.ask(Method::POST, Some(body.unwrap_or_else(|| json!({})))).await?;
    let (mut linked_at, mut gate) = (None, GateFollower::default());
    loop {
        let is_linked = is_linked(&pairing);
        if is_linked && pairing["status"] == "connected" {
            return Ok(pairing);
        }
        if pairing["state"] == "unlinked" {
            bail!("no phone was linked: {}", reason(&pairing));
        }
        if let Some(failure) = pairing["pairing_code_failure"].as_str().filter(|_| phone.is_some()) {
            bail!("there is no code: {failure}; wait a while, or leave out --phone and scan a QR code");
        }
        if is_linked && linked_at.get_or_insert_with(Instant::now).elapsed() > CONNECTING {
            bail!(
                "the phone is linked, and there is no connection yet: {}; see `pombo channel show {}`",
                reason(&pairing),
                service.channel()
            );
        }
        if is_at_gate(&pairing) {
            gate.step(showing, service).await?;
        } else if let Some(text) = shown(&pairing, phone.is_some(), showing.scan)?
            && showing.show(&pairing, text)?
            && let Some(payload) = pairing["qr"]["payload"].as_str()
        {
            see(payload).await?;
        }
        tokio::time::sleep(PAUSE).await;
        pairing = service.ask(Method::GET, None).await?;
    }
}

/// Whether the phone has accepted the device.
pub(in crate::cli) fn is_linked(pairing: &Value) -> bool {
    matches!(pairing["state"].as_str(), Some("linking" | "linked"))
}

fn reason(pairing: &Value) -> &str {
    pairing["status_reason"]["sentence"].as_str().unwrap_or("no reason was given")
}

/// The text that the person has to see, if there is one.
fn shown(pairing: &Value, has_code: bool, scan: &str) -> anyhow::Result<Option<String>> {
    if has_code {
        let code = pairing["pairing_code"]["code"].as_str();
        return Ok(code.map(|code| {
            let (first, second) = code.split_at_checked(4).unwrap_or((code, ""));
            format!(
                "On the phone: Settings, Linked devices, Link a device, Link with phone number instead.\n\n    \
                 {first}-{second}\n"
            )
        }));
    }
    let payload = pairing["qr"]["payload"].as_str();
    payload.map(|payload| drawn(scan, payload)).transpose()
}
